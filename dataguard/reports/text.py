"""Text for people: nothing that comes from data may move their cursor, and numbers stay readable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size


def printable(text: object) -> str:
    r"""Return text with everything that is not plainly visible spelled out: `\x1b`, `\n`, `\u202e`, `\udcff`.

    That holds for control characters (an escape sequence is shown, not sent), for characters that change the direction
    of writing or that nobody sees, for white space other than the space, and for bytes of a file name that are no text.
    """
    shown = str(text)
    return shown if shown.isprintable() else "".join(each if each.isprintable() else _spelled(each) for each in shown)


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def clipped(text: str, most: int) -> str:
    """Return text of at most so many characters, whatever their width: the middle of a longer one gives way."""
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return text[: most - 1 - tail] + "…" + text[len(text) - tail :]


def shorten(text: str, width: int) -> str:
    """Return text of at most `width` terminal cells: its middle gives way, because both ends of a path tell it apart."""
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    tail = ""
    for character in reversed(text):
        if cell_len(character + tail) > (width - 1) // 2:
            break
        tail = character + tail
    return set_cell_size(text, width - 1 - cell_len(tail)).rstrip() + "…" + tail


def number(value: Any) -> str:
    """Return a number with separators, a fraction with four digits, anything else as printable text."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    return printable(value)


def compact(value: float) -> str:
    """Return a count in at most six characters: 99,999 whole, beyond that 123 K, 12.3 M, 4.56 B."""
    if abs(value) < 100_000:
        return number(value)
    return _scaled(float(value), 1000, "KMBT", limit=999.5)


def size(count: float) -> str:
    """Return a number of bytes as people say it: 512 B, 1.5 KiB, 10 GiB."""
    return f"{count:.0f} B" if abs(count) < 1024 else _scaled(count, 1024, ("KiB", "MiB", "GiB", "TiB"), limit=1023.5)


def _scaled(value: float, base: int, units: Sequence[str], limit: float) -> str:
    power = 1
    while power < len(units) and abs(value) / base**power >= limit:
        power += 1
    return f"{value / base**power:.3g} {units[power - 1]}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: 1 row, 2 rows."""
    return f"{number(count)} {noun}" if count == 1 else f"{number(count)} {noun}s"


def several(parts: list[str], most: int) -> str:
    """Return parts as a list for people, with the number of those left out."""
    left = len(parts) - most
    return ", ".join(parts[:most]) + (f", and {number(left)} more" if left > 0 else "")
