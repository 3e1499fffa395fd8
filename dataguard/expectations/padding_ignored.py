"""Labels on padding teach the model to write padding, and drown the loss of short rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from dataguard.expectations.base import Judgement, RowExpectation, TokenNumber, first_reason
from dataguard.expectations.content import null_or_empty
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Attention, Metric
from dataguard.metrics.lengths import Lengths
from dataguard.metrics.targets import SupervisedPadding
from dataguard.shards.roles import LABELS, companion

SHARED_FROM = 0.01
"""Single pads supervised in the middle of this share of the rows are real tokens (document separators)."""


class ExpectPaddingToBeIgnoredInLabels(RowExpectation):
    """No supervised label stands on a position that is not attended, and none is the pad id.

    An eos or bos that is attended is no pad where it has the pad's id; and where single pads are supervised in the middle of
    one row in a hundred, the pad id is a real token too: then two in a row are padding still.
    """

    reasons: ClassVar[tuple[str, ...]] = ("supervised_padding",)
    fix: ClassVar[str] = "set labels to ignore_index where attention_mask is 0, by the mask and not by the pad id"
    value_name: ClassVar[str] = "supervised"

    ignore_index: TokenNumber = -100

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column, companion(self.column, LABELS))

    def _padding(self, context: Context) -> SupervisedPadding:
        """Return the metric. A pad of its own is looked for by its id, which says the same and shows what is real."""
        vocabulary = context.vocabulary
        real = vocabulary.pad in (vocabulary.bos, vocabulary.eos)
        return SupervisedPadding(Attention(self.column), None if real else vocabulary.pad, self.ignore_index)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (Lengths(self.column), self._padding(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        padding = self._padding(context)
        parts = ["masked", "runs"] if self._shared(context, table) else ["masked", "runs", "single"]
        places = [pl.when(padding[part] > 0).then(padding[f"{part}_position"]) for part in parts]
        supervised = pl.sum_horizontal(*(padding[part] for part in parts))
        return Judgement(
            missing=self._missing(context),
            reason=first_reason((supervised > 0, "supervised_padding")),
            position=pl.min_horizontal(*places),
            value=supervised,
        )

    def _missing(self, context: Context) -> pl.Expr:
        return null_or_empty(self.column) | ~self._padding(context)["paired"]

    def _shared(self, context: Context, table: MetricTable | None) -> bool:
        """Whether the pad id is a real token as well."""
        if table is None or context.vocabulary.pad is None:
            return False
        judged = ~self._missing(context)
        inner = (judged & (self._padding(context)["inner"] > 0)).sum()
        counts = table.collect(inner.alias("inner"), judged.sum().alias("rows"))
        return int(counts["inner"] or 0) > 0 and counts["inner"] >= SHARED_FROM * counts["rows"]
