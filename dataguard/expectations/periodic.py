"""A short pattern repeated dozens of times makes loss spikes: OLMo-core masks such rows, most loaders do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import polars as pl
from pydantic import Field

from dataguard.expectations.base import Judgement, RowExpectation, first_reason, words
from dataguard.expectations.content import (
    content_metrics,
    ignored_white,
    notes_on_white,
    without_content,
)
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.periods import LEAST, Periods


class ExpectRowsNotToBePeriodic(RowExpectation):
    """No pattern of 1 to max_period tokens stands more than max_repeats times in a row; white space alone does not count."""

    reasons: ClassVar[tuple[str, ...]] = ("periodic",)
    fix: ClassVar[str] = "leave these rows out; see what wrote them (a crawl's filler, a broken decoder)"
    value_name: ClassVar[str] = "repeats"

    max_period: Annotated[int, Field(ge=1, le=1024)] = 13
    max_repeats: Annotated[int, Field(ge=1)] = 31
    ignore_white_space: bool = True

    def _periods(self, context: Context) -> Periods:
        ignored = ignored_white(context, ignore=self.ignore_white_space)
        at_least = min(LEAST, self.max_repeats + 1)
        return Periods(
            context.attention(self.column),
            context.vocabulary.special_ids,
            ignored,
            self.max_period,
            at_least,
            self._knows_no_padding(context),
        )

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (*content_metrics(context, self.column), self._periods(context))

    def _knows_no_padding(self, context: Context) -> bool:
        """Whether nobody has said what padding is. Where white space counts, so does padding: then every pattern does."""
        vocabulary = context.vocabulary
        return self.ignore_white_space and vocabulary.pad is None and vocabulary.characters is None

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        periods = self._periods(context)
        return Judgement(
            missing=without_content(context, self.column),
            reason=first_reason((periods["repeats"] > self.max_repeats, "periodic")),
            position=periods["position"],
            value=periods["repeats"],
            detail=words("period {}", periods["period"]),
        )

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        notes = notes_on_white(context, ignore=self.ignore_white_space)
        if self._knows_no_padding(context):
            padded = ~pl.col("missing") & (self._periods(context)["padding"] > self.max_repeats)
            rows = judged.select(padded.sum()).collect(engine="streaming").item()
            missing, fix = context.unknown("pad")
            note = f"{missing}: {rows:,} rows end, or begin, with a run of one id that may be padding: {fix}"
            notes += [note] if rows else []
        return {"notes": notes}
