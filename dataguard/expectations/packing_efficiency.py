"""Blocks that stay half empty cost as much as full ones."""

from __future__ import annotations

import fractions
from collections.abc import Sequence
from typing import Annotated, ClassVar

import polars as pl
from pydantic import Field

from dataguard.expectations.base import CannotJudge, Expectation, Fraction, Level, Outcome
from dataguard.expectations.content import content_metrics, content_of, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.result import Severity


class ExpectPackingEfficiencyToBeAbove(Expectation):
    """Over all rows that have content, at least min_fraction of max_length is attended.

    The limit itself holds. Where no row has content there is nothing to judge, and that is noted.
    """

    level: ClassVar[Level] = "dataset"
    default_severity: ClassVar[Severity] = "info"
    reasons: ClassVar[tuple[str, ...]] = ("low_fill",)
    fix: ClassVar[str] = "pack several documents into a row, or train with a smaller max_length"

    min_fraction: Fraction = 0.8
    max_length: Annotated[int, Field(ge=1)] | None = None

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column,)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return content_metrics(context, self.column)

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        if self.max_length is None:
            raise CannotJudge("max_length is not given", f"give {context.way_to_give('max_length')}")
        judged = ~without_content(context, self.column).fill_null(value=True)
        attended = content_of(context, self.column)["attended"].filter(judged).cast(pl.Int64)
        counts = table.collect(pl.len().alias("all"), judged.sum().alias("rows"), attended.sum().alias("tokens"))
        every, rows, tokens = (int(counts[name] or 0) for name in ("all", "rows", "tokens"))
        room = rows * self.max_length
        observed = {"rows": rows, "tokens": tokens, "fraction": tokens / room if room else None}
        if not rows:
            return Outcome(True, every, 0, every, observed, details={"notes": ["no row has content"]})
        low = tokens < fractions.Fraction(str(self.min_fraction)) * room
        return Outcome(
            success=not low,
            element_count=every,
            missing_count=every - rows,
            observed_value=observed,
            details={"reasons": {"low_fill": 1}} if low else {},
        )
