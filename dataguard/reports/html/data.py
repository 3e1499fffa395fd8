"""The data as a whole: lengths, padding, ids, shares and repeats, drawn, and in numbers by source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dataguard.reports.html.beside import Beside, SourceNumbers, Spread
from dataguard.reports.html.cards import percent
from dataguard.reports.html.charts import COLOURS, lengths_chart, padding_chart, shares_chart, steps_chart
from dataguard.reports.html.elements import Child, Markup, named, tag
from dataguard.reports.html.tables import table
from dataguard.reports.text import counted, number
from dataguard.result import ExpectationResult, Result

MOST_DRAWN = 12
"""Sources that are drawn; the table has them all."""
TRUNCATION = "expect_truncation_to_be_consistent_across_sources"
PERIODIC = "expect_rows_not_to_be_periodic"
SHARES = {
    "supervised_fraction": ("Supervised share", "labels that the loss counts, of a row's attended tokens", None),
    "symbol_fraction": ("Symbols", "share of a row's visible characters", "expect_symbol_fraction_to_be_below"),
    "digit_fraction": ("Digits", "share of a row's visible characters", "expect_digit_runs_to_be_below"),
}
"""By the number's name: its title, what it is a share of, and the expectation whose max_fraction is its limit."""


def data_section(result: Result, beside: Beside) -> list[Child]:
    """Return what is known of the data, as charts and as a table by source."""
    drawn = [_padding(beside), _ids(result, beside), *_shares(result, beside), _repeats(result, beside)]
    charts = [each for each in drawn if each is not None]
    return [
        _lengths(result),
        tag("div", charts, class_="charts wide") if charts else None,
        _sources(result, beside) if result.meta.get("sources") else None,
    ]


def name_of(source: str | None, others: int = 0, *, alone: bool = False) -> Markup:
    """Return what a source is called; a source may be none, or several together."""
    if others:
        return tag("span", f"{number(others)} others")
    if source is None:
        return tag("span", "all rows" if alone else "(no source)")
    return named(source, 80)


def _asked(result: Result, kind: str, argument: str) -> float | None:
    """Return an argument of an expectation, where the suite gives one number for the usual column."""
    for each in result.results:
        value = each.kwargs.get(argument)
        if each.type == kind and each.column == "input_ids" and isinstance(value, int | float):
            return value
    return None


def _found(result: Result, kind: str) -> ExpectationResult | None:
    return next((each for each in result.results if each.type == kind), None)


def _caps(result: Result) -> Mapping[str | None, int]:
    """Return at which length each source was cut, as far as that shows."""
    found = _found(result, TRUNCATION)
    records = found.observed_value if found is not None and isinstance(found.observed_value, list | tuple) else ()
    return {
        each["source"]: each["cap"] for each in records if isinstance(each, Mapping) and each.get("cap") is not None
    }


def _lengths(result: Result) -> Markup | None:
    sources = [each for each in result.meta.get("sources") or () if (each.get("histogram") or {}).get("counts")]
    if not sources:
        return None
    caps, asked = _caps(result), result.suite_parameters.get("max_length")
    highest = max(each["histogram"]["edges"][-1] for each in sources)
    alone = len(sources) == 1
    return tag(
        "div",
        [_length(each, caps, asked, highest, alone=alone) for each in sources[:MOST_DRAWN]],
        class_="charts",
    )


def _length(
    each: Mapping[str, Any], caps: Mapping[str | None, int], asked: Any, highest: float, *, alone: bool
) -> Markup:
    lines = {"max_length": asked} if isinstance(asked, int) else {}
    said = []
    if (cap := caps.get(each.get("source"))) is not None and not each.get("others"):
        lines["cut"] = cap
        said.append(f"cut at {number(cap)}")
    if isinstance(asked, int):
        said.append(f"max_length {number(asked)}")
    spread = Spread(each["histogram"]["edges"], each["histogram"]["counts"])
    lengths = each.get("lengths") or {}
    told = f"{counted(each['rows'], 'row')}, median {number(lengths.get('p50'))}, longest {number(lengths.get('max'))}"
    label = f"Histogram of row lengths: {', '.join([told, *said])}"
    dashes = [tag("i", class_="k-cap"), ", ".join(said)] if said else None
    return tag(
        "figure",
        tag(
            "figcaption",
            name_of(each.get("source"), each.get("others") or 0, alone=alone),
            tag("small", told),
            tag("small", dashes) if dashes else None,
        ),
        lengths_chart(spread, lines, highest, label),
    )


def _figure(title: str, said: Child, chart: Markup, *more: Child) -> Markup:
    return tag("figure", tag("figcaption", title, tag("small", said)), *more, chart)


def _padding(beside: Beside) -> Markup | None:
    known = [each for each in beside.sources if each.padding is not None][:MOST_DRAWN]
    sides = [each.padding for each in known if each.padding is not None]
    if not any(counts.get(side) for counts in sides for side in ("left", "right", "both")):
        return None
    legend = [tag("li", tag("i", class_=f"k-{side}"), side) for side in COLOURS]
    names = [tag("li", name_of(each.source, each.others, alone=len(known) == 1)) for each in known]
    told = "; ".join(
        f"source {place + 1}: " + ", ".join(f"{number(counts.get(side, 0))} {side}" for side in COLOURS)
        for place, counts in enumerate(sides)
    )
    chart = padding_chart(sides, f"Rows by padding side. {told}")
    drawn = tag("div", chart, tag("ol", names, class_="names"))
    return _figure(
        "Padding side", "share of each source's rows that have content", drawn, tag("ul", legend, class_="legend")
    )


def _ids(result: Result, beside: Beside) -> Markup | None:
    if beside.ids is None:
        return None
    limit = (result.meta.get("vocabulary") or {}).get("limit")
    seen = _found(result, "expect_token_ids_to_be_in_vocabulary")
    extremes = seen.observed_value if seen is not None and isinstance(seen.observed_value, Mapping) else {}
    said = [
        None if limit is None else f"allowed are 0 to {number(limit - 1)}",
        *(f"{name} {number(extremes[name])}" for name in ("lowest", "highest") if extremes.get(name) is not None),
    ]
    told = "; ".join(each for each in said if each)
    label = f"Share of the attended tokens by ranges of ids. {told}"
    return _figure("Use of the vocabulary", told, steps_chart(beside.ids, limit, "tokens", "ids", label))


def _shares(result: Result, beside: Beside) -> Iterable[Markup]:
    for name, (title, what, kind) in SHARES.items():
        spread = beside.shares.get(name)
        if spread is None:
            continue
        limit = None if kind is None else _asked(result, kind, "max_fraction")
        said = f"{what}; limit {limit:g}" if limit is not None else what
        yield _figure(title, said, shares_chart(spread, limit, f"Histogram of rows. {title}: {said}"))


def _repeats(result: Result, beside: Beside) -> Markup | None:
    if beside.repeats is None:
        return None
    found, limit = _found(result, PERIODIC), _asked(result, PERIODIC, "max_repeats")
    rows = 0 if found is None else found.unexpected_count or 0
    beyond = "beyond the limit" if limit is None else f"beyond {number(limit)}"
    said = f"how often a row's most repeated pattern stands in a row; {counted(rows, 'row')} {beyond}"
    label = f"Share of the rows by repeats: {said}"
    return _figure("Periodic rows", said, steps_chart(beside.repeats, limit, "rows", "repeats", label))


def _sources(result: Result, beside: Beside) -> Markup:
    """Return a line for each source: sizes, lengths, and what else is known of it."""
    told = result.meta["sources"]
    own = {(each.source, bool(each.others)): each for each in beside.sources}
    caps, whole = _caps(result), sum(each["tokens"] for each in told) or 1
    columns = {"cut at": bool(caps)}
    columns |= {side: any(each.padding for each in beside.sources) for side in ("left-padded", "right-padded")}
    columns |= {"periodic": any(each.periodic is not None for each in beside.sources)}
    columns |= {_short(name): any(name in each.shares for each in beside.sources) for name in SHARES}
    more = [name for name, known in columns.items() if known]
    heads = ["source", "rows", "tokens", "of all tokens", "min", "mean", "median", "p95", "p99", "max", *more]
    lines = []
    for each in told:
        source, others = each.get("source"), each.get("others") or 0
        extra = _extra(own.get((source, bool(others))), None if others else caps.get(source))
        lengths = [each["lengths"].get(name) for name in ("min", "mean", "p50", "p95", "p99", "max")]
        name = name_of(source, others, alone=len(told) == 1)
        counts = [number(each["rows"]), number(each["tokens"]), percent(each["tokens"] / whole)]
        lines.append([name, *counts, *map(number, lengths), *(extra.get(head) for head in more)])
    return tag("div", table("Sources, by tokens", heads, lines, numbers=heads[1:]), class_="panel")


def _short(name: str) -> str:
    return name.removesuffix("_fraction")


def _extra(own: SourceNumbers | None, cap: int | None) -> dict[str, str]:
    found = {} if cap is None else {"cut at": number(cap)}
    if own is None:
        return found
    if own.padding is not None:
        found |= {f"{side}-padded": number(own.padding.get(side, 0)) for side in ("left", "right")}
    if own.periodic is not None:
        found["periodic"] = number(own.periodic)
    return found | {_short(name): percent(share) for name, share in own.shares.items()}
