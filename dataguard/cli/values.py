"""What stands behind an option, as a value."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import typer

from dataguard.errors import UsageError
from dataguard.suite.sizes import bytes_of


class SourceFrom(StrEnum):
    """What says a row's source."""

    COLUMN = "column"
    PATH = "path"
    NONE = "none"


class FailOn(StrEnum):
    """The least severity whose failures fail the run."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


class DropLast(StrEnum):
    """What a sampler and a loader leave out."""

    NONE = "none"
    BOTH = "both"
    SAMPLER = "sampler"
    LOADER = "loader"


class Deal(StrEnum):
    """What is dealt to the ranks."""

    ROWS = "rows"
    SHARDS = "shards"


class Backend(StrEnum):
    """How the order of a sampler is collected."""

    AUTO = "auto"
    NCCL = "nccl"
    GLOO = "gloo"
    SIMULATE = "simulate"


FORMS = {"--set": ("NAME=VALUE", "max_length=2048"), "--column": ("ROLE=NAME", "input_ids=tokens")}
"""How the options that are mappings are given, and an example of each."""


def size_of(option: str, text: str) -> int:
    """Return the number of bytes that an option is given: 10GiB, 1.5 GiB, 500MB, 4096.

    Raises:
        UsageError: The text is no size.
    """
    size = bytes_of(text)
    if size is None:
        raise UsageError(f"{text!r} is no size", where=option, fix="give a size such as 10GiB, 500MB or 0")
    return size


def mapping_of(option: str, given: Sequence[str]) -> dict[str, str]:
    """Return the values of an option that is given as NAME=VALUE (`FORMS`), several times.

    Raises:
        UsageError: One is not of that form, or names what another has named.
    """
    values: dict[str, str] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.strip() or not value.strip():
            form, example = FORMS[option]
            fix = f"give {option} {form}, such as {option} {example}"
            raise UsageError(f"{each!r} is no {form}", where=option, fix=fix)
        if name.strip() in values:
            raise UsageError(f"{name.strip()} is given twice", where=option, fix="give it once")
        values[name.strip()] = value.strip()
    return values


def parameter(text: str) -> Any:
    """Return the value of a suite parameter: JSON where it is JSON (2048, 0.5, true, null, [1, 2]), else the text."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def names_of(text: str) -> list[str]:
    """Return names that are separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def is_told(context: typer.Context, name: str) -> bool:
    """Whether the command line gives a parameter of the command, rather than its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
