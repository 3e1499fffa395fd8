"""What report.html draws: how numbers are spread over the rows, and over the sources.

They are measured in the run's own scan, as far as the suite does not ask for them anyway; report.json is the same with the page
as without it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from dataguard.expectations.baseline import TOKEN_USE
from dataguard.expectations.content import content_of, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.distributions import counted, measured, metrics_of, wanting
from dataguard.expectations.periodic import ExpectRowsNotToBePeriodic
from dataguard.metrics.padding import Padding
from dataguard.metrics.periods import LEAST
from dataguard.reports.html.beside import SourceNumbers, Spread
from dataguard.result import Result
from dataguard.run.describe import MOST_SOURCES_TOLD
from dataguard.run.plan import Plan
from dataguard.suite.model import Suite

SHARES = ("supervised_fraction", "symbol_fraction", "digit_fraction")
BINS = 20
SIDES = ("none", "left", "right", "both")


def with_pictures(plan: Plan, context: Context) -> Plan:
    """Return a suite's plan with what is to be measured for the page beside it."""
    names = [name for name in (*SHARES, TOKEN_USE) if wanting(name, context, plan.tokens) is None]
    asked = [metric for name in names for metric in metrics_of(name, context, plan.tokens)]
    if context.has(plan.tokens):
        asked.append(Padding(context.attention(plan.tokens)))
    return replace(plan, metrics=tuple(dict.fromkeys((*plan.metrics, *asked))))


class Drawing:
    """Sums up the metric table for the page's pictures.

    Args:
        table: Holds the numbers of the plan.
        plan: The suite's own, or that with what the page asks for beside it (`with_pictures`).
        suite: Says what is too periodic.
    """

    def __init__(self, table: MetricTable, context: Context, plan: Plan, suite: Suite) -> None:
        self._table, self._context, self._column = table, context, plan.tokens
        self._known = frozenset(plan.metrics)
        self._shares = {name: counted(name, table, context, plan.tokens) for name in SHARES if self._has(name)}
        asked = (each.expectation for each in suite.expectations if each.expectation.column == plan.tokens)
        periodic = next((each for each in asked if isinstance(each, ExpectRowsNotToBePeriodic)), None)
        measured_here = periodic is not None and self._known.issuperset(periodic.metrics(context))
        self._periodic = periodic if measured_here else None

    def _has(self, name: str) -> bool:
        """Whether all is there that a number is made of."""
        if wanting(name, self._context, self._column) is not None:
            return False
        return self._known.issuperset(metrics_of(name, self._context, self._column))

    def shares(self) -> dict[str, Spread]:
        """Return how the rows are spread over each share, in BINS ranges; a share past 1 stands in the last."""
        edges = [place / BINS for place in range(BINS + 1)]
        found = {}
        for name, (counts, grid) in self._shares.items():
            if counts.height:
                places = np.clip(counts["step"].to_numpy() * BINS // grid, 0, BINS - 1)
                rows = np.bincount(places, counts["rows"].to_numpy(), BINS)
                found[name] = Spread(edges, [int(each) for each in rows])
        return found

    def ids(self) -> Spread | None:
        """Return how the attended tokens are spread over ranges of ids that double."""
        if not self._has(TOKEN_USE):
            return None
        found = measured(TOKEN_USE, self._table, self._context, self._column)
        return None if found is None else Spread((0, *found.edges, math.inf), found.counts)

    def repeats(self) -> Spread | None:
        """Return how the rows are spread over the repeats of their most repeated pattern, in ranges that double."""
        if self._periodic is None:
            return None
        rows = self._table.frame.select(value=self._judgement("value"), missing=self._judgement("missing"))
        rows = rows.filter(~pl.col("missing").fill_null(value=True)).group_by(pl.col("value").cast(pl.Int64)).len()
        counts = rows.collect(engine="streaming").drop_nulls()
        if counts.is_empty():
            return None
        edges = [0, *(LEAST << power for power in range(40))]
        places = np.searchsorted(edges, counts["value"].to_numpy(), side="right") - 1
        rows_in = np.bincount(places, counts["len"].to_numpy(), len(edges))
        last = int(places.max()) + 1
        return Spread(edges[: last + 1], [int(each) for each in rows_in[:last]])

    def _judgement(self, part: str) -> pl.Expr:
        assert self._periodic is not None  # its callers have looked
        found: pl.Expr = getattr(self._periodic.judgement(self._context, self._table), part)
        return found

    def sources(self, result: Result) -> list[SourceNumbers]:
        """Return each source that the result tells of, in its order; what lies past those stands together."""
        told = [each.get("source") for each in result.meta.get("sources") or () if not each.get("others")]
        places: dict[str | None, int] = {None: -1, **{name: place for place, name in enumerate(self._context.sources)}}
        ranks = {places[name]: rank for rank, name in enumerate(told) if name in places}
        sums = self._sums(ranks)
        means = {name: self._means(counts, grid, ranks) for name, (counts, grid) in self._shares.items()}
        found = []
        for rank, line in sorted(sums.items()):
            others = 0 if rank < len(told) else len(places) - 1 - sum(name is not None for name in told)
            found.append(
                SourceNumbers(
                    source=told[rank] if rank < len(told) else None,
                    others=others,
                    rows=line["rows"],
                    padding={side: line[side] for side in SIDES} if "none" in line else None,
                    periodic=line.get("periodic"),
                    shares={name: mean[rank] for name, mean in means.items() if rank in mean},
                )
            )
        return found

    def _rank(self, ranks: Mapping[int, int]) -> pl.Expr:
        """Return the place of a row's source among those told, past them all for every other."""
        return pl.col("source").fill_null(-1).replace_strict(ranks, default=MOST_SOURCES_TOLD, return_dtype=pl.Int64)

    def _sums(self, ranks: Mapping[int, int]) -> dict[int, dict[str, int]]:
        sums = {"rows": pl.len()}
        padding = Padding(self._context.attention(self._column))
        if padding in self._known and content_of(self._context, self._column) in self._known:
            own = ~without_content(self._context, self._column).fill_null(value=True)
            left, right = padding["left"] > 0, padding["right"] > 0
            sides = (~left & ~right, left & ~right, right & ~left, left & right)
            sums |= {side: (own & each).sum() for side, each in zip(SIDES, sides, strict=True)}
        if self._periodic is not None:
            over = self._judgement("reason").is_not_null() & ~self._judgement("missing").fill_null(value=True)
            sums["periodic"] = over.sum()
        grouped = self._table.frame.group_by(rank=self._rank(ranks)).agg(**sums)
        lines = grouped.collect(engine="streaming").rows(named=True)
        return {line["rank"]: {name: int(count or 0) for name, count in line.items()} for line in lines}

    def _means(self, counts: pl.DataFrame, grid: int, ranks: Mapping[int, int]) -> dict[int, float]:
        mean = (pl.col("step") * pl.col("rows")).sum() / pl.col("rows").sum() / grid
        return dict(counts.group_by(rank=self._rank(ranks)).agg(mean=mean).iter_rows())
