"""One expectation that did not hold, or holds with something to say: what, where, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size

from dataguard.reports.page import Page
from dataguard.reports.reasons import in_words
from dataguard.reports.text import clipped, counted, number, printable, several, shorten
from dataguard.result import SEVERITIES, ExpectationResult, Finding, Result

INDENT = 6
LABEL = 8
MOST_PLACES, MOST_ROWS, MOST_SHARDS, MOST_RECORDS, MOST_CELLS, MOST_REASONS = 3, 6, 3, 6, 60, 3
MOST_NAMED, MOST_SAID = 300, 600
"""Characters of a name, and of a sentence about one finding."""
MANY = 100
"""Judged rows from which on a share says more than the counts."""
EXACT = 2**53
TOLD_ELSEWHERE = ("rows", "tokens")


def status_of(each: ExpectationResult, result: Result) -> str:
    """Return the word for a verdict: pass, fail, warn (too mild to fail the run), or unjudged."""
    if each.success:
        return "pass"
    if each.unjudged is not None:
        return "unjudged"
    return "fail" if SEVERITIES.index(each.severity) <= SEVERITIES.index(result.fail_on) else "warn"


def groups(results: Sequence[ExpectationResult], *, tolerated: bool = True) -> list[list[ExpectationResult]]:
    """Return the verdicts that have something to say, those that say the same together.

    A fault of the data as a whole, such as a column of a type that nobody can read, would else be told once for each
    expectation on it. What is together stands where its first one stood.

    Args:
        tolerated: Whether rows that `mostly` tolerates are something to say.
    """
    found: dict[object, list[ExpectationResult]] = {}
    for each in results:
        notes = tuple(map(str, each.details.get("notes") or ()))
        key: object = id(each)
        if each.unjudged is not None:
            key = each.unjudged
        elif each.success and not (tolerated and each.unexpected_count):
            if not notes:
                continue
            key = notes
        found.setdefault(key, []).append(each)
    return list(found.values())


def block(told: Sequence[ExpectationResult], result: Result, page: Page) -> None:
    """Print what one expectation has to say, or several that say the same."""
    first = told[0]
    if len(told) == 1:
        _print(f"{titled(first)}  {first.severity}", [*_cause(first), *_parts(first, page)], first, result, page)
        return
    _print(", ".join(map(titled, told)), [*_cause(first)] or [*_parts(first, page)], first, result, page)
    for each in told:
        if each.unjudged is not None and (parts := [*_parts(each, page)]):
            page.gap()
            _print(f"{titled(each)}  {each.severity}", parts, each, result, page)


def _print(head: str, parts: Iterable[tuple[str, str]], each: ExpectationResult, result: Result, page: Page) -> None:
    status = status_of(each, result)
    indent = max(INDENT, len(status) + 1)
    page.labelled(status if len(status) < INDENT else f"{status} ", head, page.style_of(status), indent)
    for label, text in parts:
        page.labelled(f"{'':<{INDENT}}{label}", text, "bold", INDENT + LABEL)


def titled(each: ExpectationResult) -> str:
    """Return the type, and the column where it is not the usual one."""
    column = "" if each.column == "input_ids" else f" on {_name(each.column)}"
    return _name(each.type) + column


def _cause(each: ExpectationResult) -> Iterator[tuple[str, str]]:
    """Yield why an expectation could not be judged."""
    if each.unjudged is not None:
        yield "why", f"not judged: {_said(each.unjudged.missing)}"
        yield "fix", _said(each.unjudged.fix)


def _parts(each: ExpectationResult, page: Page) -> Iterator[tuple[str, str]]:
    """Yield what was found, in labelled parts: of what holds, in brief, only what it notes."""
    if page.verbose or not each.success:
        yield from _found(each, page)
    yield from _listed("hint", [_said(hint) for hint in each.details.get("hints") or ()])
    yield from _listed("note", [_said(note) for note in each.details.get("notes") or ()])
    if each.fix and not each.success and each.unjudged is None:
        yield "fix", _said(each.fix)


def _found(each: ExpectationResult, page: Page) -> Iterator[tuple[str, str]]:
    """Yield how many of what are unexpected, where, why, and beside what was asked; in brief, one place, and few reasons."""
    if what := _what(each):
        yield "what", what
    if not each.success:
        shown = each.findings[: MOST_PLACES if page.verbose else 1]
        yield from _listed("where", [where(found, each.name_of_value(found.reason)) for found in shown])
    reasons = [*_reasons(each.details.get("reasons") or {})]
    most = len(reasons) if page.verbose else MOST_REASONS
    if left := reasons[most:]:
        reasons[most:] = [f"and {counted(len(left), 'more reason')}"]
    yield from _listed("why", reasons)
    if not each.success and each.unjudged is None:
        yield from _failure(each, page)


def _failure(each: ExpectationResult, page: Page) -> Iterator[tuple[str, str]]:
    """Yield what was asked of the data, and what was found."""
    if asked := _pairs(each.kwargs, leave=("column", "by_source")):
        yield "asked", asked
    of_rows = any(found.row is not None for found in each.findings)
    told = isinstance(each.observed_value, Mapping | list | tuple) or not each.findings
    if told and (page.verbose or not of_rows):
        yield from _listed("found", [*_observed(each.observed_value, page.width - INDENT - LABEL)])
    if page.verbose and (by_source := each.details.get("by_source")):
        counts = sorted(by_source.items(), key=lambda item: (-item[1], str(item[0])))
        yield "source", several([f"{_name(name)} {number(count)}" for name, count in counts], MOST_ROWS)


def _listed(label: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for place, text in enumerate(texts):
        yield label if place == 0 else "", text


def _what(each: ExpectationResult) -> str:
    """Return how many are unexpected, and which rows of which shards."""
    rows: dict[str, list[int]] = {}
    for found in each.findings:
        if found.shard is not None and found.row is not None:
            rows.setdefault(found.shard, []).append(found.row)
    parts = [total(each)]
    if rows and (len(each.findings) > 1 or each.success):  # the place of a single fault follows
        whole = len(each.findings) == each.unexpected_count
        named = [f"{_name(shard)} {_numbers(numbers, whole)}" for shard, numbers in list(rows.items())[:MOST_SHARDS]]
        if len(rows) > MOST_SHARDS:
            named.append(f"{number(len(rows) - MOST_SHARDS)} more shards" if whole else "more shards")
        parts.append("; ".join(named))
    return ": ".join(filter(None, parts))


def total(each: ExpectationResult) -> str:
    """Return how many of what are unexpected; nothing where none is."""
    noun = _unit(each.findings)
    judged = each.judged_count or 0
    if not each.unexpected_count:
        return ""
    share = f" ({100 * each.unexpected_count / judged:.3g} %)" if judged >= MANY else ""
    tolerated = ""
    if each.success:
        tolerated = ", tolerated" + (f" by mostly {_value(each.kwargs['mostly'])}" if "mostly" in each.kwargs else "")
    of_all = counted(judged, noun) if noun else number(judged)
    return f"{number(each.unexpected_count)} of {of_all}{share}{tolerated}"


def _unit(findings: Sequence[Finding]) -> str:
    """Return what the findings are counted in; nothing where they are on the data set."""
    if findings and (findings[0].epoch is not None or findings[0].rank is not None):
        return ""
    if any(found.shard is not None and found.row is not None for found in findings):
        return "row"
    if findings and findings[0].shard is not None:
        return "shard"
    return "source" if findings and findings[0].source is not None else ""


def _numbers(rows: Sequence[int], whole: bool) -> str:  # noqa: FBT001  # private, and said by its only caller
    """Return row numbers; where the findings are only the first of many, nobody knows how many more there are."""
    word = "row" if len(rows) == 1 and whole else "rows"
    texts = [str(row) for row in rows]
    return f"{word} " + (several(texts, MOST_ROWS) if whole else ", ".join([*texts[:MOST_ROWS], "…"]))


def _name(text: object) -> str:
    return clipped(printable(text), MOST_NAMED)


def _said(text: object) -> str:
    return clipped(printable(text), MOST_SAID)


def where(found: Finding, value_name: str = "") -> str:
    """Return one place: shard, row, position, what stands there, the reason, and what is said of it.

    Args:
        value_name: What the value is; without it the value stands alone.
    """
    parts = []
    if found.shard is not None:
        parts.append(_name(found.shard))
    if found.row is not None:
        parts.append(f"row {found.row}")
    if found.source is not None:
        parts.append(f"source {_name(found.source)}")
    if found.epoch is not None:
        parts.append(f"epoch {found.epoch}")
    if found.rank is not None:
        parts.append(f"rank {found.rank}")
    place = " ".join(parts) or "the data set"
    if found.position is not None:
        place += f", position {found.position}"
    if found.value is not None:
        place += ": " + " ".join(filter(None, [_name(value_name), _value(found.value)]))
    return f"{place} ({_name(found.reason)})" + (f": {_said(found.detail)}" if found.detail else "")


def _reasons(reasons: Mapping[str, Any]) -> Iterator[str]:
    """Yield each reason with its count, the most frequent first, and what it means."""
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        words = in_words(reason)
        yield f"{number(count)} {_name(reason)}" + (f": {words}" if words else "")


def _pairs(values: Mapping[str, Any], leave: Sequence[str] = ()) -> str:
    """Return names with their values, as far as those are numbers, words or short lists."""
    told = []
    for name, value in values.items():
        if name in leave or value is None or isinstance(value, Mapping):
            continue
        text = _value(value)
        if isinstance(value, list | tuple):
            text = "[" + several([_value(each) for each in value], MOST_ROWS) + "]"
        told.append(f"{printable(name)} {text}")
    return ", ".join(told)


def _value(value: Any) -> str:
    """Return a value in few characters; whole numbers as they stand in the data, so that they can be searched for."""
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        value = int(value)
    plain = isinstance(value, int) and not isinstance(value, bool)
    return shorten(clipped(str(value) if plain else number(value), MOST_NAMED), MOST_CELLS)


def _observed(value: Any, width: int) -> Iterator[str]:
    """Yield lines for what was observed: a number, names with numbers, or a record for each source."""
    if isinstance(value, Mapping):
        if pairs := _pairs(value):
            yield pairs
    elif isinstance(value, list | tuple):
        records = [each for each in value if isinstance(each, Mapping)]
        yield from _records(records[:MOST_RECORDS], width)
        if len(records) > MOST_RECORDS:
            yield f"and {number(len(records) - MOST_RECORDS)} more (in report.json)"
    elif value is not None:
        yield _value(value)


def _records(records: Sequence[Mapping[str, Any]], width: int) -> Iterator[str]:
    """Yield records as a table where it fits, else each in words; their rows and tokens stand among the lengths."""
    names = [name for name in dict.fromkeys(name for each in records for name in each) if name not in TOLD_ELSEWHERE]
    names = [name for name in names if not any(isinstance(each.get(name), Mapping | list) for each in records)]
    cells = [[printable(name) for name in names]]
    cells += [["-" if each.get(name) is None else _value(each[name]) for name in names] for each in records]
    widths = [max(cell_len(row[place]) for row in cells) for place in range(len(names))]
    if not records or sum(widths) + 2 * len(widths) - 2 > width:
        yield from map(_pairs, records)
        return
    for row in cells:
        padded = [set_cell_size(cell, size) for cell, size in zip(row, widths, strict=True)]
        yield "  ".join(padded).rstrip()
