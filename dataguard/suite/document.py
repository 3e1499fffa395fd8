"""Plain values that remember which lines of which file they stand on."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dataguard.errors import SuiteError

DEEPEST = 40
"""Lists and mappings within each other."""

Place = tuple[str | int, ...]
"""Where a value stands: ("expectations", 2, "kwargs", "max_length")."""


@dataclass(frozen=True)
class Spot:
    """A place in a suite, for errors that name file and line.

    Args:
        file: What errors call the file, or whatever else the suite came from.
        lines: Line of each place of the file, from 1; empty where they are not known.
        place: The place meant.
    """

    file: str
    lines: Mapping[Place, int] = field(default_factory=dict, repr=False)
    place: Place = ()

    def __truediv__(self, key: str | int) -> Spot:
        """Return the place of a key or item inside this one."""
        return replace(self, place=(*self.place, key))

    @property
    def line(self) -> int | None:
        """The line of this place, or of the nearest known place around it."""
        for length in range(len(self.place), -1, -1):
            if self.place[:length] in self.lines:
                return self.lines[self.place[:length]]
        return None

    def __str__(self) -> str:
        """Return the place as people write it: expectations[2].kwargs.max_length."""
        steps = (f"[{each}]" if isinstance(each, int) else f".{each}" for each in self.place)
        return "".join(steps).removeprefix(".")

    def error(self, what: str, *, why: str | None = None, fix: str | None = None) -> SuiteError:
        """Return the error that something is wrong here."""
        file = f"{self.file}, at {self}" if self.line is None and self.place else self.file
        return SuiteError(what, file=file, line=self.line, why=why, fix=fix)


@dataclass(frozen=True)
class Document:
    """What was read, made of dicts with text keys, lists, str, int, finite float, bool and None; and its outermost place."""

    value: Any
    top: Spot


def shown(value: Any) -> str:
    """Return a value for a message, as JSON and not longer than a line."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 80 else text[:77] + "..."


def plain(value: Any, spot: Spot) -> Any:
    """Return a copy of a value that was passed or parsed, made of plain types only.

    Raises:
        SuiteError: It holds anything else, or is nested too deeply.
    """
    if len(spot.place) > DEEPEST:
        raise replace(spot, place=spot.place[:4]).error("the suite is nested too deeply")
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise spot.error(f"a key must be text, not {shown(key)}")
        return {text_of(key, spot): plain(each, spot / key) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each, spot / number) for number, each in enumerate(value)]
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return text_of(value, spot)
    if isinstance(value, float):
        return finite(value, spot)
    raise spot.error(f"a suite cannot hold a {type(value).__name__}", fix="give numbers, text, lists and dicts")


def text_of(value: str, spot: Spot) -> str:
    """Return the text, unless no file could hold it."""
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise spot.error("a text holds half a character (a lone surrogate)")
    return value


def finite(value: float, spot: Spot) -> float:
    """Return the number, unless JSON could not hold it."""
    if not math.isfinite(value):
        raise spot.error(f"a number must be finite, not {value}", fix="leave the argument out")
    return value
