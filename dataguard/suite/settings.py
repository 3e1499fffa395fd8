"""Our own settings in a suite, which stand under `meta.dataguard` so that Great Expectations reads the same file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from dataguard.errors import VocabularyError, nearest
from dataguard.expectations.base import Expectation
from dataguard.expectations.context import known_for_when, names_for_when
from dataguard.result import Severity
from dataguard.shards.roles import ROLES, is_role
from dataguard.suite.arguments import check
from dataguard.suite.document import Spot, shown
from dataguard.vocabulary.told import FIX_PAST, IDS, SIZES, Told, check_told, past_all_tokens


class SuiteSettings(BaseModel):
    """`meta.dataguard` of a suite."""

    model_config = ConfigDict(extra="forbid")

    columns: dict[str, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)
    vocabulary: dict[str, Any] = Field(default_factory=dict)
    quarantine: list[Severity] = ["critical", "warning"]


class ExpectationSettings(BaseModel):
    """`meta.dataguard` of an expectation."""

    model_config = ConfigDict(extra="forbid")

    when: list[str] = Field(default_factory=list)


def suite_settings(meta: Mapping[str, Any], spot: Spot) -> SuiteSettings:
    """Return what a suite's `meta` says to us.

    Raises:
        SuiteError: A key or a role is unknown, or a value cannot be.
    """
    spot /= "dataguard"
    own = mapping(meta.get("dataguard"), "meta.dataguard", spot)
    check(SuiteSettings, "meta.dataguard of a suite", own, spot)
    settings = SuiteSettings.model_validate(own)
    check_vocabulary(settings.vocabulary, spot / "vocabulary")
    check_columns(settings.columns, spot / "columns")
    return settings


def check_vocabulary(told: Mapping[str, Any], spot: Spot) -> None:
    """Check what is said of the vocabulary.

    Raises:
        SuiteError: A key is unknown, or has a value that it cannot have.
    """
    for key, value in told.items():
        try:
            check_told({key: value}, given_from=spot.file)
        except VocabularyError as fault:
            raise (spot / key).error(f"vocabulary.{key}: {fault.what}", why=fault.why, fix=fault.fix) from None
    numbers = {key: told[key] for key in (*SIZES, *IDS) if told.get(key) is not None}
    for place, number, why in past_all_tokens(Told(numbers, told.get("special") or {})):
        for step in place:
            spot /= step
        raise spot.error(f"vocabulary.{'.'.join(place)}: {number} cannot be used", why=why, fix=FIX_PAST)


def check_columns(columns: Collection[str], spot: Spot) -> None:
    """Check that columns are given for roles.

    Raises:
        SuiteError: One is given for something else.
    """
    for role in columns:
        if not is_role(role):
            raise (spot / role).error(f"there is no role {role}", fix=nearest(role, ROLES))


def when_of(
    meta: Mapping[str, Any], kind: type[Expectation], parameters: Mapping[str, Any], spot: Spot
) -> tuple[str, ...]:
    """Return the names that an expectation's `meta` lists under `when`.

    Raises:
        SuiteError: A key or a name is unknown.
    """
    spot /= "dataguard"
    own = mapping(meta.get("dataguard"), "meta.dataguard", spot)
    check(ExpectationSettings, "meta.dataguard of an expectation", own, spot)
    names = ExpectationSettings.model_validate(own).when
    for number, name in enumerate(names):
        if not known_for_when(name, kind.arguments(), parameters):
            known = names_for_when(kind.arguments(), parameters)
            raise (spot / "when" / number).error(f"when cannot name {shown(name)}", fix=nearest(name, known))
    return tuple(dict.fromkeys(names))


def mapping(value: Any, what: str, spot: Spot, known: Collection[str] | None = None) -> dict[str, Any]:
    """Return a mapping, empty for null.

    Raises:
        SuiteError: It is none, or has a key that is not `known`.
    """
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise spot.error(f"{what} must be a mapping, not {shown(value)}")
    for key in value:
        if known is not None and key not in known:
            raise (spot / key).error(f"{what} has no key {key}", fix=nearest(key, known))
    return value
