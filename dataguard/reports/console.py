"""The report on a terminal, for somebody who was woken by it: the verdict first, then what, where, why, and how to mend it.

Everything is laid out here, in lines without padding or frames, so that a pipe, a log and 80 columns show the same. Text
from data goes through `printable`; nothing is ever read as markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from dataguard.reports.blocks import block, groups, status_of
from dataguard.reports.histogram import length_table
from dataguard.reports.page import Page
from dataguard.reports.text import counted, number, printable, several, shorten, size
from dataguard.result import SEVERITIES, ExpectationResult, Result

ORDER = ("fail", "unjudged", "warn", "pass")
MOST_NAMED = 5
MOST_BLOCKS = 5
EXPECTED = ": a sidecar"
"""Files that are left out for this reason are no news."""


def print_report(
    result: Result, console: Console, out: Path | None, *, verbose: bool = False, also: Sequence[str] = ()
) -> None:
    """Print the report.

    Args:
        result: The verdict; of its `meta`, whatever is known is told.
        console: Where to; its width and colours decide the form.
        out: The output folder, None where nothing was written.
        verbose: Tell all that is known of every expectation, instead of what somebody must read who mends the data.
        also: Names of further files that were written to `out`.
    """
    page = Page(console, verbose=verbose)
    headline(result, page)
    partial(result.meta, page)
    took(result.meta, page)
    table(result, page)
    blocks(result, page)
    skipped(result.meta, page)
    lengths(result.meta, page)
    notes(result, page)
    accounts(result.meta, page)
    places(result.meta, page, out, also)


def headline(result: Result, page: Page) -> None:
    """Tell the verdict, and on how much data."""
    word, style = ("PASS", "bold green") if result.success else ("FAIL", "bold red")
    verdict = f"suite {printable(result.suite_name)}: {result.verdict()}"
    page.labelled(word, "; ".join(filter(None, [verdict, ", ".join(amounts_of(result.meta))])), style, 6)


def amounts_of(meta: Mapping[str, Any]) -> list[str]:
    """Return how much data was judged, in words, as far as that is known."""
    amounts = [f"{number(meta[key])} {key}" for key in ("rows", "tokens") if meta.get(key) is not None]
    told = ("rank",) if amounts else ("sample", "rank")
    amounts += [counted(meta[f"{key}s"], key) for key in told if meta.get(f"{key}s") is not None]
    shards = meta.get("shards") or {}
    if (count := shards.get("count")) is not None:
        intact = shards.get("intact", count)
        amounts.append(
            counted(count, "shard") if intact == count else f"{number(intact)} of {counted(count, 'shard')} intact"
        )
    return amounts


def partial(meta: Mapping[str, Any], page: Page) -> None:
    """Tell that not all rows were judged, before anybody believes the verdict to be about all of them."""
    if meta.get("partial"):
        judged = f"only the first {counted(meta['head'], 'row')} of each shard (--head)"
        page.labelled("part", f"{judged}; {number(meta['rows_not_read'])} behind them not judged", "bold yellow", 6)


def took(meta: Mapping[str, Any], page: Page) -> None:
    """Tell what was taken without being told, so that a wrong guess is seen before the verdicts are believed."""
    taken = [printable(each) for each in meta.get("taken") or ()]
    suite = meta.get("suite") or {}
    if (chosen := suite.get("chosen")) and not any(each.startswith("suite ") for each in taken):
        why = f": {chosen}" if isinstance(chosen, str) else ", by the columns"
        taken.insert(0, printable(f"suite {suite.get('name')}{why}"))
    if taken:
        page.labelled("took", "; ".join(taken), "cyan", 6)
    vocabulary = meta.get("vocabulary") or {}
    if vocabulary.get("limit") is not None:
        page.labelled("ids", f"allowed in [0, {number(vocabulary['limit'])})", "cyan", 6)


def ranked(result: Result) -> list[ExpectationResult]:
    """Return the verdicts, the most urgent first: by what they are, by severity, then in the order of the suite."""

    def urgency(each: ExpectationResult) -> tuple[int, int]:
        status = status_of(each, result)
        return ORDER.index(status), 0 if status == "pass" else SEVERITIES.index(each.severity)

    return sorted(result.results, key=urgency)


def blocks(result: Result, page: Page) -> None:
    """Tell of each verdict that has something to say; in brief, of the most urgent ones."""
    told = groups(ranked(result), tolerated=page.verbose)
    shown = told if page.verbose else told[:MOST_BLOCKS]
    for each in shown:
        page.gap()
        block(each, result, page)
    if left := sum(map(len, told[len(shown) :])):
        page.gap()
        page.labelled("more", f"{counted(left, 'expectation')} that the table names: --verbose tells of all", "dim", 6)


class Row(NamedTuple):
    """A line of the table of verdicts."""

    status: str
    severity: str
    unexpected: str
    type: str
    first: str


def table(result: Result, page: Page) -> None:
    """Tell every verdict in a line; where the first fault stands too, on a wide terminal.

    Where something is wrong, those that hold without a fault are counted alone, unless all is to be told.
    """
    header = Row("", "severity", "unexpected", "expectation", "first at")
    told = ranked(result)
    loud = [each for each in told if not each.success or each.unexpected_count]
    if page.verbose or all(each.success for each in told):
        loud = told
    rows = [header, *(_row(each, result) for each in loud)]
    fixed = [max(cell_len(row[place]) for row in rows) for place in range(3)]
    room = page.width - sum(fixed) - 6
    longest = max(cell_len(row.type) for row in rows)
    with_place = room >= longest + 2 + 24 and any(row.first for row in rows[1:])
    page.gap()
    for row in rows:
        line = Text(f"{row.status:<{fixed[0]}}  ", style=page.style_of(row.status))
        line.append(f"{row.severity:<{fixed[1]}}  {row.unexpected:>{fixed[2]}}  ", style="dim" if row is header else "")
        name = shorten(row.type, longest if with_place else room)
        line.append(name, style="dim" if row is header else "")
        if with_place and row.first:
            gap = " " * (longest + 2 - cell_len(name))
            line.append(gap + shorten(row.first, room - longest - 2), style="dim")
        page.line(line)
    if quiet := len(told) - len(loud):
        page.labelled("pass", f"{counted(quiet, 'expectation')} (--verbose names them)", page.style_of("pass"), 6)


def _row(each: ExpectationResult, result: Result) -> Row:
    column = "" if each.column == "input_ids" else f" ({printable(each.column)})"
    return Row(
        status_of(each, result), each.severity, unexpected(each), printable(each.type) + column, first_place(each)
    )


def unexpected(each: ExpectationResult) -> str:
    """Return how many of the judged rows (shards, sources) are unexpected; a dash where nothing is counted."""
    if each.unjudged is not None or each.unexpected_count is None or each.element_count is None:
        return "-"
    return f"{number(each.unexpected_count)} of {number(each.element_count - (each.missing_count or 0))}"


def first_place(each: ExpectationResult) -> str:
    """Return where the first unexpected row, shard or source stands."""
    if not each.findings:
        return ""
    found = each.findings[0]
    parts = [printable(found.shard) if found.shard is not None else "", "" if found.row is None else f"row {found.row}"]
    parts += [f"{name} {place}" for name in ("epoch", "rank") if (place := getattr(found, name)) is not None]
    return " ".join(filter(None, parts)) or ("" if found.source is None else f"source {printable(found.source)}")


def skipped(meta: Mapping[str, Any], page: Page) -> None:
    """Tell which expectations were skipped, by what would enable them."""
    entries = meta.get("skipped") or ()
    if not entries:
        return
    page.gap()
    brief = "" if page.verbose else " (--verbose names them)"
    page.labelled("skip", f"{counted(len(entries), 'expectation')}{brief}, for want of:", "dim", 6)
    wants: dict[str, list[str]] = {}
    for entry in entries:
        column = entry.get("column") or "input_ids"
        name = str(entry.get("type")) + ("" if column == "input_ids" else f" ({column})")
        want = "; ".join(str(entry[key]) for key in ("missing", "fix") if entry.get(key))
        wants.setdefault(want, []).append(printable(name))
    for want, names in wants.items():
        page.text(printable(want), indent=6)
        if page.verbose:
            page.text(", ".join(names), indent=10, style="dim")


def lengths(meta: Mapping[str, Any], page: Page) -> None:
    """Tell how long the rows of each source are."""
    sources = meta.get("sources") or ()
    if not sources:
        return
    page.gap()
    for place, line in enumerate(length_table(sources, page.width, blocks=page.blocks)):
        page.line(Text(line, style="dim" if place == 0 else ""))


def notes(result: Result, page: Page) -> None:
    """Tell what was noticed, and is no verdict."""
    found = [*_notes(result)]
    if found:
        page.gap()
    for note in found:
        page.labelled("note", printable(note), "yellow", 6)


def _notes(result: Result) -> Iterator[str]:
    """Yield the run's notes, and which files were left out; what an expectation notes stands in its block."""
    yield from map(str, result.meta.get("notes") or ())
    for each in result.results:
        for key, what in (("misnamed", "misleading names"), ("ignored", "left out, as no shards")):
            names = [str(name) for name in each.details.get(key) or ()]
            if names := [name for name in names if not name.endswith(EXPECTED)]:
                yield f"{what}: {several(names, MOST_NAMED)}"


def accounts(meta: Mapping[str, Any], page: Page) -> None:
    """Tell where every row went."""
    told = meta.get("accounting") or {}
    if not told:
        return
    shards = told.get("not_intact_shards") or 0
    lost = _known(told.get("not_intact_rows"))
    parts = [f"{_known(told.get('clean'))} clean", f"{_known(told.get('rejected'))} rejected"]
    if shards:
        parts.append(f"{lost} in {counted(shards, 'shard')} not intact")
    page.gap()
    page.labelled("rows", f"{_known(told.get('rows_in'))} in = {' + '.join(parts)}", "bold", 6)


def _known(count: int | None) -> str:
    return "unknown" if count is None else number(count)


def places(meta: Mapping[str, Any], page: Page, out: Path | None, also: Sequence[str] = ()) -> None:
    """Tell what was written, and where. These lines are never wrapped: a path must stay whole to be copied."""
    if out is None:
        return
    rejected = (meta.get("accounting") or {}).get("rejected")
    entries = [("report.json", ""), *((name, "") for name in also)]
    if rejected is not None:
        entries.append(("rejected.parquet", "all rejected rows: shard, row, types, reasons" if rejected else "no rows"))
    if rejected and (copied := _copied(meta.get("quarantine", {}), rejected)):
        entries.append(("quarantine", copied))
    if (clean := meta.get("clean") or {}).get("written"):
        entries.append(("clean", f"the {counted(clean['rows'], 'row')} that remain, laid out as they were"))
    for place, (name, what) in enumerate(entries):
        label = Text("out   " if place == 0 else "      ", style="bold")
        page.line(label + Text(printable(out / name)) + Text(f"  {what}" if what else "", style="dim"))


def _copied(summary: Mapping[str, Any] | None, rejected: int) -> str:
    """Return what the quarantine holds; nothing where there is none."""
    opens = "opens with datasets.load_from_disk"
    if summary is None or not summary.get("written", True):
        return ""
    if summary.get("complete", True):
        return f"the rejected rows; {opens}"
    limit = "" if summary.get("limit") is None else f" ({size(summary['limit'])})"
    return f"the first {number(summary['rows'])} of {number(rejected)} rows, up to --quarantine-limit{limit}; {opens}"
