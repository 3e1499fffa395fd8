"""A target whose context is another document teaches that documents follow from each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import polars as pl

from dataguard.expectations.base import Judgement, RowExpectation, TokenNumber, first_reason
from dataguard.expectations.content import null_or_empty
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.documents import documents_of, told_by_eos
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths
from dataguard.metrics.targets import Crossing
from dataguard.shards.roles import LABELS, companion


class ExpectLabelsNotToCrossDocuments(RowExpectation):
    """No target has another document for its context; with `allow` all rows hold.

    With shift 1 that is a label at a document's last token, with shift 0 one at the first token of a row's later document.
    """

    reasons: ClassVar[tuple[str, ...]] = ("boundary_target",)
    fix: ClassVar[str] = "set the label to ignore_index at the border of two documents, or keep them apart by the mask"
    value_name: ClassVar[str] = "label"

    allow: bool = False
    shift: Literal[0, 1] = 1
    ignore_index: TokenNumber = -100

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column, companion(self.column, LABELS))

    def _crossing(self, context: Context) -> Crossing:
        return Crossing(documents_of(context, self.column), self.shift, self.ignore_index)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (Lengths(self.column), self._crossing(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        found = self._crossing(context)
        crosses = first_reason((found["crossing"] > 0, "boundary_target"))
        return Judgement(
            missing=null_or_empty(self.column) | ~found["known"],
            reason=pl.lit(None, pl.String) if self.allow else crosses,
            position=found["position"],
            value=found["value"],
        )

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        return {} if self.allow else told_by_eos(judged, self._crossing(context)["by"])
