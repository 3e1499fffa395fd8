"""The arguments of one expectation: checked strictly, told in sentences.

Types are checked as JSON has them: "5" and `true` are no numbers, 5.5 is no whole number, a list may stand for a tuple.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dataguard.errors import SuiteError, nearest
from dataguard.expectations.base import Expectation
from dataguard.suite.document import Spot, shown
from dataguard.suite.words import allowed, nearest_allowed

ROWS_ALONE = ("mostly", "by_source")
"""Arguments of row-level expectations, which alone are judged row by row."""
WHOLE_ALONE = ("column", "mostly", "by_source")
"""Arguments that hold for all sources together."""
BESIDE_KWARGS = ("severity", "meta", "notes", "description", "id", "type")


def build(
    kind: type[Expectation],
    kwargs: Mapping[str, Any],
    spot: Spot,
    *,
    skipped: Collection[str] = (),
    parameters: Mapping[str, str] | None = None,
) -> Expectation:
    """Return an expectation with its arguments.

    Args:
        kind: Its class.
        kwargs: Plain values, parameters resolved.
        spot: Where they stand, for errors.
        skipped: Arguments that are null and named by `when`: the expectation will be skipped, so that null is allowed
            even where the argument must be a number.
        parameters: {argument: parameter} for the arguments that are parameters, for errors.

    Raises:
        SuiteError: An argument is unknown, or has a value that it cannot have.
    """
    refuse_unknown(kind, kwargs, spot)
    _refuse_booleans(kind, kwargs, spot)
    try:
        expectation = kind.model_validate_json(json.dumps(kwargs), strict=True)
    except ValidationError as fault:
        errors = [each for each in fault.errors() if not (each["loc"] and each["loc"][0] in skipped)]
        if not errors:
            return kind.model_construct(None, **kwargs)
        raise objection(kind.type(), errors, kwargs, spot, parameters=parameters) from None
    own = {name: value for name, value in kwargs.items() if name != "by_source"}
    for source, arguments in (kwargs.get("by_source") or {}).items():
        inside = spot / "by_source" / source
        for name in WHOLE_ALONE:
            if name in arguments:
                what = f"{name} of {kind.type()} cannot differ by source"
                raise (inside / name).error(what, why=f"{name} holds for the rows of all sources")
        build(kind, {**own, **arguments}, inside, skipped=skipped)
    return expectation


def refuse_unknown(kind: type[Expectation], kwargs: Mapping[str, Any], spot: Spot) -> None:
    """Refuse arguments that an expectation does not have.

    Raises:
        SuiteError: There is one; it names the nearest known ones.
    """
    for name in kwargs:
        if name in kind.arguments():
            continue
        why, fix = None, nearest(name, kind.arguments())
        if name in ROWS_ALONE:
            why = f"{name} is for row-level expectations; this one judges whole {kind.level}s"
            fix = f"leave {name} out"
        elif name in BESIDE_KWARGS:
            fix = f"write {name} beside kwargs, not inside"
        raise (spot / name).error(f"{kind.type()} has no argument {name}", why=why, fix=fix)


def _refuse_booleans(kind: type[Expectation], kwargs: Mapping[str, Any], spot: Spot) -> None:
    """Refuse true and false where one of a few numbers must stand, which pydantic takes for 1 and 0.

    Raises:
        SuiteError: There is one.
    """
    for name, value in kwargs.items():
        choices = get_args(kind.arguments()[name].annotation)
        if isinstance(value, bool) and value in choices and not any(each is value for each in choices):
            why = f"it must be {' or '.join(map(repr, choices))}"
            raise (spot / name).error(f"{name} of {kind.type()} cannot be {shown(value)}", why=why)


def check(model: type[BaseModel], what: str, values: Mapping[str, Any], spot: Spot) -> None:
    """Check settings against a model.

    Raises:
        SuiteError: A key is unknown, or has a value that it cannot have.
    """
    for name in values:
        if name not in model.model_fields:
            raise (spot / name).error(f"{what} has no key {name}", fix=nearest(name, model.model_fields))
    try:
        model.model_validate_json(json.dumps(values), strict=True)
    except ValidationError as fault:
        told = {name: field.description for name, field in model.model_fields.items() if field.description}
        raise objection(what, fault.errors(), values, spot, descriptions=told) from None


def objection(
    owner: str,
    errors: list[ErrorDetails],
    values: Mapping[str, Any],
    spot: Spot,
    *,
    parameters: Mapping[str, str] | None = None,
    descriptions: Mapping[str, str] | None = None,
) -> SuiteError:
    """Return pydantic's first objection as one readable sentence: the argument, what it got, and what is allowed.

    Args:
        parameters: {argument: parameter} for the arguments that are parameters.
        descriptions: What the arguments are for, told where nothing better is known to mend it.
    """
    first, parameters = errors[0], parameters or {}
    if not first["loc"]:
        return spot.error(f"the arguments of {owner} do not fit together", why=allowed([first]))
    name = str(first["loc"][0])
    if first["type"] == "missing" and len(first["loc"]) == 1:
        return spot.error(f"{owner} needs the argument {name}", fix=f"give {name} under kwargs")
    # A union objects once for each of its types; a list with a wrong item is also too short without it.
    same = [each for each in errors if each["loc"][:1] == first["loc"][:1]]
    if first["type"] != "too_short":
        same = [each for each in same if each["type"] != "too_short"]
    where, got = _value_at(values, first["loc"], spot)
    origin = f" (parameter {parameters[name]})" if name in parameters else ""
    fix = nearest_allowed(same, got) or (descriptions or {}).get(name)
    if name in parameters and got is None:
        fix = f"give --set {parameters[name]}=VALUE, or name it in meta.dataguard.when, to skip the expectation without it"
    return where.error(f"{name} of {owner} cannot be {shown(got)}{origin}", why=allowed(same), fix=fix)


def _value_at(values: Any, place: tuple[str | int, ...], spot: Spot) -> tuple[Spot, Any]:
    """Return as much of a place as the values have, and what stands there; pydantic adds names of its own to places."""
    for each in place:
        try:
            values = values[each]
        except (KeyError, IndexError, TypeError):
            break
        spot /= each
    return spot, values
