"""Lengths by source: one line of bars each, under one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from dataguard.reports.text import compact, number, printable, shorten

BLOCKS = " ▁▂▃▄▅▆▇█"
PLAIN_BLOCKS = " .:-=+*%#"
MOST_SOURCES = 20
HEADERS = ("source", "rows", "tokens", "median", "p95", "max")


def length_table(sources: Sequence[Mapping[str, Any]], width: int, *, blocks: bool = True) -> list[str]:
    """Return the lines of the table: a header, a line for each source, the axis.

    Args:
        sources: Entries of `meta["sources"]`.
        width: Cells of a line.
        blocks: Whether the terminal can show block characters.
    """
    told = sources[:MOST_SOURCES]
    rows = [[_name(each, alone=len(sources) == 1), *_cells(each)] for each in told]
    room = max(8, width // 4)
    rows = [[shorten(row[0], room), *row[1:]] for row in rows]
    widths = [max(cell_len(row[place]) for row in [HEADERS, *rows]) for place in range(len(HEADERS))]
    left = sum(widths) + 2 * len(widths)
    space = max(4, width - left)
    edges = [tuple(_histogram(each, "edges")) for each in told]
    lines = [f"{_line(HEADERS, widths)}  lengths"]
    for place, (row, each) in enumerate(zip(rows, told, strict=True)):
        counts = _rebinned([int(count) for count in _histogram(each, "counts")], space)
        lines.append(f"{_line(row, widths)}  {bars(counts, BLOCKS if blocks else PLAIN_BLOCKS)}".rstrip())
        last = place + 1 == len(told)
        if counts and (last or edges[place + 1] != edges[place]):
            lines.append(" " * left + axis(_step_edges(edges[place], len(counts), space)))
    if len(sources) > MOST_SOURCES:
        lines.append(f"and {number(len(sources) - MOST_SOURCES)} more sources (in report.json)")
    return lines


def bars(counts: Sequence[int], blocks: str = BLOCKS) -> str:
    """Return one character for each count; the highest is full, and none but 0 is blank."""
    most = max(counts, default=0)
    steps = len(blocks) - 1
    return "".join(blocks[max(1, round(steps * count / most))] if count else blocks[0] for count in counts)


def axis(edges: Sequence[int]) -> str:
    """Return a line for below the bars: the first edge at the left, the last at the right, the middle one where it fits."""
    width = len(edges) - 1
    first, last = number(edges[0]), number(edges[-1])
    gap = width - len(first) - len(last)
    if gap < 1:
        return f"{first} to {last}"
    line = first + " " * gap + last
    middle = number(edges[width // 2])
    start = width // 2 - len(middle) // 2
    if start > len(first) and start + len(middle) < width - len(last):
        line = line[:start] + middle + line[start + len(middle) :]
    return line


def _cells(source: Mapping[str, Any]) -> list[str]:
    lengths = source.get("lengths") or {}
    numbers = (source.get("rows"), source.get("tokens"), *(lengths.get(key) for key in ("p50", "p95", "max")))
    return ["-" if value is None else compact(value) for value in numbers]


def _name(source: Mapping[str, Any], *, alone: bool) -> str:
    if source.get("others"):
        return f"{number(source['others'])} others"
    if source.get("source") is None:
        return "all rows" if alone else "(no source)"
    return printable(source["source"])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *numbers = cells
    padded = name + " " * (widths[0] - cell_len(name))
    return "  ".join([padded, *(cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))])


def _histogram(source: Mapping[str, Any], key: str) -> Sequence[int]:
    return (source.get("histogram") or {}).get(key) or ()


def _step(bins: int, space: int) -> int:
    return max(1, -(-bins // space))


def _rebinned(counts: Sequence[int], space: int) -> list[int]:
    """Add up neighbouring bins until all fit."""
    step = _step(len(counts), space)
    return [sum(counts[start : start + step]) for start in range(0, len(counts), step)]


def _step_edges(edges: Sequence[int], bins: int, space: int) -> list[int]:
    """Return the edges of the rebinned counts: one more than there are bins."""
    step = _step(len(edges) - 1, space)
    return [edges[min(place * step, len(edges) - 1)] for place in range(bins + 1)]
