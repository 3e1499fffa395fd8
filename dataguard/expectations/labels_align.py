"""Labels shifted twice, or drawn from another row, train the model on the wrong next token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from dataguard.expectations.base import Judgement, RowExpectation, TokenNumber, first_reason
from dataguard.expectations.content import null_or_empty
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.labels import Labels
from dataguard.metrics.lengths import Lengths
from dataguard.shards.roles import LABELS, companion


class ExpectLabelsToAlignWithInputIds(RowExpectation):
    """Every supervised label is the input's id: labels[i] is input_ids[i], or input_ids[i + 1] with shift 1."""

    reasons: ClassVar[tuple[str, ...]] = ("mismatch", "shifted", "unshifted")
    fix: ClassVar[str] = "shift labels once only: in preprocessing or in the loss, as `shift` says"
    value_name: ClassVar[str] = "label"

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
        # A doubled token fits both conventions, and tells nothing.
        telling = labels[f"equal_{own}"] - labels["equal_both"]
        fits_other = (labels[f"equal_{other}"] > 0) & (labels[f"differ_{other}"] == 0) & (telling == 0)
        return Judgement(
            missing=null_or_empty(self.column) | ~labels["paired"],
            reason=first_reason((wrong & fits_other, "unshifted" if self.shift else "shifted"), (wrong, "mismatch")),
            position=labels[f"position_{own}"],
            value=labels[f"value_{own}"],
        )
