"""Labels beside the answer train on the wrong text, or on none: the answer was searched for, and found in the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import polars as pl

from dataguard.expectations.base import Judgement, Outcome, RowExpectation, TokenNumber, first_reason
from dataguard.expectations.content import null_or_empty, told_of_lacking
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths
from dataguard.metrics.prompts import SpanLabels
from dataguard.shards.roles import LABELS, companion


class ExpectLabelsToCoverSpans(RowExpectation):
    """Every position inside one of the row's target_spans is supervised, and none outside all of them is.

    Spans are half-open positions of the unshifted row, padding included, and may overlap. One that reaches beyond the row is
    cut at its end; one that is negative, ends before it starts or is no pair of numbers is unsupervised. A row that is both is
    named for what is outside, and counted for either reason.
    """

    reasons: ClassVar[tuple[str, ...]] = ("outside_span", "unsupervised_span")
    fix: ClassVar[str] = "find the answers by their offsets in the rendered text, not by searching for them"
    value_name: ClassVar[Mapping[str, str]] = {"outside_span": "label", "unsupervised_span": "ignored"}

    shift: Literal[0, 1] = 0
    ignore_index: TokenNumber = -100

    def _labels(self) -> SpanLabels:
        return SpanLabels(self.column, self.shift, self.ignore_index)

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column, companion(self.column, LABELS), self._labels().spans)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (Lengths(self.column), self._labels())

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        found, outside, unsupervised = self._labels(), *self.faults()
        inside = pl.when(found["ignored"] > 0).then(found["ignored_position"])
        broken = pl.when(found["broken"] > 0).then(pl.lit("a span is no range of positions"))
        return Judgement(
            missing=null_or_empty(self.column) | ~found["paired"] | ~found["told"],
            reason=first_reason((outside, "outside_span"), (unsupervised, "unsupervised_span")),
            position=pl.when(outside).then(found["position"]).otherwise(inside),
            value=pl.when(outside).then(found["value"]).otherwise(found["ignored"]),
            detail=broken,
        )

    def faults(self) -> Sequence[pl.Expr]:
        """Return whether a label is supervised outside all spans, and whether a span is unsupervised."""
        found = self._labels()
        return found["outside"] > 0, (found["ignored"] > 0) | (found["broken"] > 0)

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        found = self._labels()
        lacking = ~null_or_empty(self.column) & found["paired"] & ~found["told"]
        return told_of_lacking(super().judge(table, context), table, lacking, found.spans, "have no spans (null)")

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        """Count a row for each of its reasons."""
        both = self.faults()
        for here, variant in self.variants_here(context):
            pairs = zip(variant.faults(), both, strict=True)
            both = [pl.when(here).then(own).otherwise(others) for own, others in pairs]
        held = (~pl.col("missing") & fault for fault in both)
        counted = [fault.sum().alias(reason) for fault, reason in zip(held, self.reasons, strict=True)]
        counts = judged.select(counted).collect(engine="streaming").row(0, named=True)
        return {"reasons": {reason: int(rows) for reason, rows in counts.items() if rows}}
