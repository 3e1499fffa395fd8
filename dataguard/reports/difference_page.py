"""Two reports side by side on a terminal: the verdict, what broke and what was mended, and then the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from dataguard.reports.difference import Change, Difference, Kind, Told
from dataguard.reports.page import Page
from dataguard.reports.text import clipped, counted, number, printable

SHOWN: Mapping[Kind, tuple[str, str]] = {
    "broken": ("broken", "bold red"),
    "worse": ("worse", "red"),
    "mended": ("mended", "bold green"),
    "changed": ("changed", "yellow"),
    "added": ("new", "cyan"),
    "removed": ("gone", "cyan"),
}
INDENT = 9
MOST_NAMED, MOST_SAID, MOST_TOLD, MOST_REASONS = 200, 600, 20, 6


def print_difference(difference: Difference, console: Console) -> None:
    """Print it; text from data is shown, never obeyed."""
    page = Page(console)
    word, style = ("OK", "bold green") if difference.success else ("WORSE", "bold red")
    page.labelled(word, verdict(difference), style, INDENT)
    page.labelled("old", clipped(printable(difference.old), MOST_SAID), "bold", INDENT)
    page.labelled("new", clipped(printable(difference.new), MOST_SAID), "bold", INDENT)
    for note in difference.notes:
        page.labelled("note", clipped(printable(note), MOST_SAID), "yellow", INDENT)
    for kind in SHOWN:
        _changes(difference, kind, page)
    _amounts(difference, page)
    _drifts(difference, page)


def verdict(difference: Difference) -> str:
    """Return in a line whether anything got worse, and how many expectations changed how."""
    told = [f"{len(found)} {SHOWN[kind][0]}" for kind in SHOWN if (found := difference.of(kind))]
    worst = "something that held is broken" if not difference.success else "nothing got worse"
    if difference.success and (mild := [each for each in difference.changes if each.kind in {"broken", "worse"}]):
        worst = f"nothing got worse at or above --fail-on {difference.fail_on}, {len(mild)} below"
    told.append(f"{counted(difference.alike, 'expectation')} as before")
    return f"{worst}: {', '.join(told)}"


def _changes(difference: Difference, kind: Kind, page: Page) -> None:
    found = difference.of(kind)
    if not found:
        return
    page.gap()
    label, style = SHOWN[kind]
    for change in found[:MOST_TOLD]:
        severity = next((told.severity for told in (change.new, change.old) if told and told.severity), None)
        page.labelled(label, f"{printable(change.name)}{f'  {severity}' if severity else ''}", style, INDENT)
        for line in _lines(change):
            page.text(line, indent=INDENT)
    if len(found) > MOST_TOLD:
        page.text(f"and {number(len(found) - MOST_TOLD)} more (--json names all)", indent=INDENT)


def _lines(change: Change) -> Iterator[str]:
    """Yield what was and what is: the verdict, the numbers by reason, the arguments."""
    old, new = change.old, change.new
    if old is None or new is None:
        told = new or old
        assert told is not None  # one report has it
        yield _state(told)
        return
    yield f"{_state(old)} -> {_state(new)}"
    if old.reasons != new.reasons:
        codes = sorted({*old.reasons, *new.reasons}, key=lambda code: (-new.reasons.get(code, 0), code))
        told_of = [
            f"{clipped(printable(code), MOST_NAMED)} {number(old.reasons.get(code, 0))} -> {number(new.reasons.get(code, 0))}"
            for code in codes
            if old.reasons.get(code, 0) != new.reasons.get(code, 0)
        ]
        left = len(told_of) - MOST_REASONS
        yield ", ".join([*told_of[:MOST_REASONS], *([f"and {left} more"] if left > 0 else [])])
    if new.place is not None and change.kind in {"broken", "worse"}:
        yield f"first at {_place(new.place)}"
    asked = [key for key in {**old.kwargs, **new.kwargs} if old.kwargs.get(key) != new.kwargs.get(key)]
    if asked and "skipped" not in {old.status, new.status}:
        told_of = [f"{printable(key)} {_value(old.kwargs.get(key))} -> {_value(new.kwargs.get(key))}" for key in asked]
        yield f"asked: {', '.join(told_of)}"
    if old.severity != new.severity and None not in {old.severity, new.severity}:
        yield f"severity: {old.severity} -> {new.severity}"


def _state(told: Told) -> str:
    if told.why:
        return f"{told.status} ({clipped(printable(told.why), MOST_SAID)})"
    if told.unexpected is None or told.judged is None:
        return told.status
    share = "" if told.share is None else f" ({100 * told.share:.3g} %)"
    return f"{told.status}, {number(told.unexpected)} of {number(told.judged)}{share}"


def _place(found: Mapping[str, Any]) -> str:
    parts = [
        f"{'' if name == 'shard' else f'{name} '}{clipped(printable(found[name]), MOST_NAMED)}"
        for name in ("shard", "row", "source", "epoch", "rank", "position")
        if found.get(name) is not None
    ]
    return " ".join(parts) or "the data set"


def _value(value: Any) -> str:
    return clipped(printable("null" if value is None else value), MOST_NAMED)


def _amounts(difference: Difference, page: Page) -> None:
    """Print the numbers that are not the same, in columns."""
    found = [each for each in difference.amounts if each.old != each.new]
    if not found:
        return
    rows: list[tuple[str, str, str, str]] = [("", "old", "new", "change")]
    for each in found[:MOST_TOLD]:
        change = "" if each.old is None or each.new is None else f"{each.new - each.old:+,}"
        if each.old and each.new is not None:
            change += f" ({100 * (each.new - each.old) / each.old:+.3g} %)"
        name = clipped(printable(each.name), 40)
        old, new = ("unknown" if value is None else number(value) for value in (each.old, each.new))
        rows.append((name, old, new, change))
    widths = [max(cell_len(row[place]) for row in rows) for place in range(4)]
    page.gap()
    for row in rows:
        cells = [" " * (width - cell_len(cell)) + cell for cell, width in zip(row, widths, strict=True)]
        cells[0] = row[0] + " " * (widths[0] - cell_len(row[0]))
        page.line(Text("  ".join(cells), style="dim" if row is rows[0] else ""))
    if len(found) > MOST_TOLD:
        page.text(f"and {number(len(found) - MOST_TOLD)} more (--json names all)")


def _drifts(difference: Difference, page: Page) -> None:
    moved = [each for each in difference.drifts if each.moved]
    if moved:
        page.gap()
    for each in moved:
        least = "at least " if each.at_least else ""
        name = printable(each.name if each.column == "input_ids" else f"{each.name} of {each.column}")
        text = f"{clipped(name, MOST_NAMED)}: index {least}{each.index:.3g} (chance {each.chance:.3g}); {printable(each.most)}"
        page.labelled("drift", clipped(text, MOST_SAID), "yellow", INDENT)
    if still := len(difference.drifts) - len(moved):
        page.gap()
        page.labelled(
            "drift", f"none in {counted(still, 'other distribution' if moved else 'distribution')}", "dim", INDENT
        )
