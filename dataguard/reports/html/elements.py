"""HTML that is put together from elements: whatever is no `Markup` is text, and is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, TypeAlias

from dataguard.reports.text import printable

MOST_TEXT = 400
"""Characters of a text from data; of a longer one the middle gives way."""


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"


def text(value: object) -> Markup:
    r"""Return text escaped, with everything that is not plainly visible spelled out (`\x1b`, `\u202e`)."""
    shown = str(value)
    return Markup(escape(shown if shown.isprintable() else printable(shown)))


def clipped(value: object, most: int = MOST_TEXT) -> str:
    """Return text of at most so many characters."""
    shown = str(value)
    if len(shown) <= most:
        return shown
    return f"{shown[: most * 2 // 3]}…{shown[-(most // 3) :]}"


def named(value: object, most: int = MOST_TEXT) -> Markup:
    """Return a text from data, which keeps its direction of writing to itself."""
    return tag("bdi", clipped(value, most))


def prose(value: str) -> list[Markup]:
    """Return a sentence of our own in which names stand between backquotes."""
    return [tag("code", part) if place % 2 else text(part) for place, part in enumerate(value.split("`"))]


def tag(element: str, /, *children: Child, **attributes: Any) -> Markup:
    """Return an element.

    Args:
        element: Its name.
        children: Markup stands as it is; any other text is escaped; None is nothing.
        attributes: A trailing or inner `_` is a dash or nothing (`class_`, `aria_label`); None and False leave one out.
    """
    told = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    inside = "".join(_flat(children))
    return Markup(f"<{element}{told}>{inside}" + ("" if element in VOID else f"</{element}>"))


VOID = frozenset({"br", "input", "meta", "wbr"})


def _attribute(key: str, value: Any) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(value)}"'


def _flat(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, Markup):
            yield child
        elif isinstance(child, (str, int)):
            yield text(child)
        else:
            yield from _flat(child)
