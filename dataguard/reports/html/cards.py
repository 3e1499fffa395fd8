"""What did not hold, an expectation each: what it asks for, how much fails, why, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dataguard.reports.blocks import groups, status_of
from dataguard.reports.console import ranked, unexpected
from dataguard.reports.html.beside import Beside
from dataguard.reports.html.elements import Child, Markup, clipped, named, prose, tag
from dataguard.reports.html.rows import row_links, value_text
from dataguard.reports.html.tables import table
from dataguard.reports.reasons import in_words
from dataguard.reports.text import counted, number
from dataguard.result import ExpectationResult, Finding, Result

MOST_FINDINGS, MOST_RECORDS, MOST_SOURCES, MOST_NOTES, MOST_REASONS = 50, 30, 12, 20, 30
PLACES = ("shard", "row", "source", "epoch", "rank", "column", "position", "value", "reason", "detail")
NUMBERS = ("row", "epoch", "rank", "position", "value")
STATUSES = ("fail", "unjudged", "warn", "pass")


def cards(result: Result, beside: Beside) -> list[Markup]:
    """Return a card for each verdict that has something to say; those that say the same share one."""
    return [_card(told, result, beside) for told in groups(ranked(result))]


def badge(status: str) -> Markup:
    """Return the word for a verdict."""
    return tag("span", status, class_=f"badge {status}")


def title(each: ExpectationResult) -> Markup:
    """Return the type, and the column where it is not the usual one."""
    on = None if each.column == "input_ids" else tag("span", " on ", named(each.column, 80), class_="soft")
    return tag("span", tag("span", clipped(each.type, 120), class_="type"), on)


def anchor(each: ExpectationResult, result: Result) -> str:
    """Return the name of an expectation's place on the page."""
    return f"e{next(place for place, other in enumerate(result.results) if other is each)}"


def amount(each: ExpectationResult) -> str:
    """Return how many of those judged are unexpected, and their share."""
    told, judged = unexpected(each), each.judged_count
    if told == "-" or not each.unexpected_count or not judged:
        return told
    found = each.findings[0] if each.findings else Finding("")
    unit = "row" if found.row is not None else "shard" if found.shard is not None else "source" if found.source else ""
    noun = f" {unit}{'' if judged == 1 else 's'}" if unit and found.epoch is None and found.rank is None else ""
    return f"{told}{noun} ({percent(each.unexpected_count / judged)})"


def percent(share: float) -> str:
    """Return a share in few characters; what is there is never 0 %."""
    return "0 %" if not share else "<0.01 %" if share < 0.0001 else f"{100 * share:.3g} %"


def reasons(each: ExpectationResult) -> list[tuple[str, int]]:
    """Return each reason with its count, the most frequent first."""
    found = each.details.get("reasons") or {}
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:MOST_REASONS]


def _card(told: Sequence[ExpectationResult], result: Result, beside: Beside) -> Markup:
    first = told[0]
    status = status_of(first, result)
    heads = [
        tag("h3", badge(status), title(each), tag("span", each.severity, class_="badge plain"), id=anchor(each, result))
        for each in told
    ]
    meaning = beside.meanings.get(first.type) if len(told) == 1 else None
    return tag(
        "article",
        heads,
        tag("p", prose(meaning), class_="soft") if meaning else None,
        *([_unjudged(first)] if first.unjudged is not None else []),
        *(_found(first, beside) if len(told) == 1 or first.unjudged is None else ()),
        class_=f"card {status}",
    )


def _unjudged(each: ExpectationResult) -> Markup:
    assert each.unjudged is not None
    return tag(
        "div",
        tag("p", tag("strong", "Could not be judged: "), clipped(each.unjudged.missing)),
        tag("p", tag("b", "What to do"), prose(clipped(each.unjudged.fix)), class_="fix"),
    )


def _found(each: ExpectationResult, beside: Beside) -> Iterable[Markup | None]:
    """Yield what was found, the most important first; details are folded."""
    if each.unexpected_count:
        tolerated = ", tolerated" if each.success else ""
        yield tag("p", tag("strong", amount(each)), f" unexpected{tolerated}", class_="amount")
    if codes := reasons(each):
        yield tag("ul", [_reason(*code) for code in codes], class_="reasons")
    for what in ("hints", "notes"):
        for said in list(each.details.get(what) or ())[:MOST_NOTES]:
            yield tag("p", clipped(said, 600), class_="note")
    if each.success or each.unjudged is not None:
        return
    if each.fix:
        yield tag("p", tag("b", "What to do"), prose(clipped(each.fix)), class_="fix")
    if links := row_links(each, beside.rows):
        yield tag("p", "Rows below: ", [(", " if place else None, link) for place, link in enumerate(links)])
    if asked := {name: value for name, value in each.kwargs.items() if name != "column" and value is not None}:
        yield tag("p", tag("span", tag("b", "asked"), class_="soft"), _pairs(asked), class_="pairs")
    yield _observed(each)
    yield _by_source(each)
    yield _findings(each)


def _reason(code: str, count: int) -> Markup:
    words = in_words(code)
    return tag(
        "li", number(count), " ", tag("code", clipped(code, 80), class_="reason"), f" – {words}" if words else None
    )


def _pairs(values: Mapping[str, Any]) -> list[Markup]:
    return [
        tag("span", tag("b", clipped(name, 80)), " ", _said(value))
        for name, value in list(values.items())[:MOST_RECORDS]
    ]


def _said(value: Any) -> str:
    if isinstance(value, list | tuple):
        shown = ", ".join(value_text(each) for each in value[:6])
        return f"[{shown}{f', and {number(len(value) - 6)} more' if len(value) > 6 else ''}]"
    if isinstance(value, Mapping):
        return clipped(", ".join(f"{clipped(key, 60)}: {_said(each)}" for key, each in list(value.items())[:6]), 200)
    return value_text(value)


def _observed(each: ExpectationResult) -> Markup | None:
    """Return what was observed: names with numbers, or a record for each source."""
    seen = each.observed_value
    if isinstance(seen, Mapping) and seen:
        return tag("p", tag("span", tag("b", "found"), class_="soft"), _pairs(seen), class_="pairs")
    records = [record for record in seen if isinstance(record, Mapping)] if isinstance(seen, list | tuple) else []
    if not records:
        return None
    names = list(dict.fromkeys(name for record in records[:MOST_RECORDS] for name in record))
    names = [name for name in names if not any(isinstance(record.get(name), Mapping | list) for record in records)]
    lines = [[_cell(record.get(name)) for name in names] for record in records[:MOST_RECORDS]]
    numeric = [name for name in names if any(isinstance(record.get(name), int | float) for record in records)]
    return _folded(f"What was found ({number(len(records))})", table("as observed", names, lines, numbers=numeric))


def _cell(value: Any) -> Child:
    return named(value, 80) if isinstance(value, str) else "" if value is None else number(value)


def _by_source(each: ExpectationResult) -> Markup | None:
    found = each.details.get("by_source") or {}
    if not found:
        return None
    counts = sorted(found.items(), key=lambda item: (-item[1], str(item[0])))
    told = [tag("span", named(name, 80), " ", tag("strong", number(count))) for name, count in counts[:MOST_SOURCES]]
    more = f"and {number(len(counts) - MOST_SOURCES)} more sources" if len(counts) > MOST_SOURCES else None
    return tag("p", tag("span", tag("b", "by source"), class_="soft"), told, more, class_="pairs")


def _findings(each: ExpectationResult) -> Markup | None:
    shown = each.findings[:MOST_FINDINGS]
    if not shown:
        return None
    names = [name for name in PLACES if any(getattr(found, name) is not None for found in shown)]
    values = {each.name_of_value(found.reason) for found in shown if found.value is not None}
    heads = [(next(iter(values)) or name) if name == "value" and len(values) == 1 else name for name in names]
    numeric = {head for head, name in zip(heads, names, strict=True) if name in NUMBERS}
    lines = [[_place(found, name) for name in names] for found in shown]
    of_all = f"first {number(len(shown))}" if (each.unexpected_count or 0) > len(shown) else "all"
    caption = (
        f"{of_all} of {number(each.unexpected_count)}" if each.unexpected_count else counted(len(shown), "finding")
    )
    return _folded(f"Where ({caption})", table("in the order of the data", heads, lines, numbers=numeric))


def _place(found: Finding, name: str) -> Child:
    value = getattr(found, name)
    if value is None:
        return None
    if name == "value":
        return value_text(value)
    return number(value) if name in NUMBERS else named(value, 200)


def _folded(summary: str, inside: Markup) -> Markup:
    return tag("details", tag("summary", summary), inside)


def all_expectations(result: Result, beside: Beside) -> Markup:
    """Return every verdict in a table: what it means, how many rows, why, and what to do."""
    heads = ("status", "severity", "expectation", "unexpected", "judged", "share", "reasons", "what to do")
    lines = [_line(each, result, beside) for each in ranked(result)]
    found = [status for status in STATUSES if any(status_of(each, result) == status for each in result.results)]
    return table(
        "Every expectation that was judged", heads, lines, numbers=("unexpected", "judged", "share"), choices=found
    )


def _line(each: ExpectationResult, result: Result, beside: Beside) -> list[Child]:
    status, judged = status_of(each, result), each.judged_count
    counted_here = each.unjudged is None and each.unexpected_count is not None
    name = tag("a", title(each), href=f"#{anchor(each, result)}") if groups([each]) else title(each)
    meaning = beside.meanings.get(each.type)
    fix = "" if each.success else each.unjudged.fix if each.unjudged is not None else each.fix
    return [
        badge(status),
        each.severity,
        (name, tag("p", prose(meaning)) if meaning else None),
        number(each.unexpected_count) if counted_here else None,
        number(judged) if counted_here and judged is not None else None,
        percent((each.unexpected_count or 0) / judged) if counted_here and judged else None,
        [tag("div", f"{number(count)} {clipped(code, 80)}", class_="code") for code, count in reasons(each)],
        prose(clipped(fix)),
    ]
