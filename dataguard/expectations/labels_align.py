"""Labels shifted twice, or drawn from another row, train the model on the wrong next token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import polars as pl

from dataguard.expectations.base import Judgement, RowExpectation, TokenNumber, first_reason
from dataguard.expectations.content import null_or_empty
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.labels import Labels
from dataguard.metrics.lengths import Lengths
from dataguard.shards.roles import LABELS, companion

SHIFT_SHARE = 0.9


class ExpectLabelsToAlignWithInputIds(RowExpectation):
    """Every supervised label is the input's id: labels[i] is input_ids[i], or input_ids[i + 1] with shift 1."""

    reasons: ClassVar[tuple[str, ...]] = ("mismatch", "shifted", "unshifted")
    fix: ClassVar[str] = "shift labels once only: in preprocessing or in the loss, as `shift` says"

    shift: Literal[0, 1] = 0
    ignore_index: TokenNumber = -100

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column, companion(self.column, LABELS))

    def _labels(self) -> Labels:
        return Labels(self.column, self.ignore_index)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (Lengths(self.column), self._labels())

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        labels, own, other = self._labels(), self.shift, 1 - self.shift
        wrong = labels[f"differ_{own}"] > 0
        fits_other = (labels[f"equal_{other}"] > 0) & (labels[f"differ_{other}"] == 0) & (labels[f"equal_{own}"] == 0)
        return Judgement(
            missing=null_or_empty(self.column) | ~labels["paired"],
            reason=first_reason((wrong & fits_other, "unshifted" if self.shift else "shifted"), (wrong, "mismatch")),
            position=labels[f"position_{own}"],
            value=labels[f"value_{own}"],
        )

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        """Hint at the other convention where most mismatching rows fit it everywhere (a doubled token fits both)."""
        labels, other = self._labels(), 1 - self.shift
        mismatch = pl.col("reason") == "mismatch"
        fits = mismatch & (labels[f"differ_{other}"] == 0) & (labels[f"equal_{other}"] > 0)
        counts = judged.select(fits.sum().alias("fits"), mismatch.sum().alias("all")).collect(engine="streaming")
        fitting, rows = (int(counts[name][0] or 0) for name in ("fits", "all"))
        if not fitting or fitting < SHIFT_SHARE * rows:
            return {}
        hint = (
            f"{fitting:,} of {rows:,} mismatching rows fit shift {other} everywhere, and shift {self.shift} in places"
        )
        return {"hints": [hint]}
