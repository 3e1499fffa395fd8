"""A mask of other numbers than 0 and 1 is summed, added or multiplied to something that nobody meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from dataguard.expectations.base import Judgement, RowExpectation, first_reason
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.masks import MaskValues
from dataguard.shards.batch import NOT_WHOLE
from dataguard.shards.roles import ATTENTION_MASK, INPUT_IDS, companion, role_of


class ExpectAttentionMaskToBeBinary(RowExpectation):
    """Every value of the mask is 0 or 1 (or a boolean); with segments a segment number: 0, 1, 2, ….

    Numbers that are added to the scores (0, and large negative ones) are told as such, and so is a mask that attends to the
    pad id and hides everything else. Floats are read too.
    """

    reasons: ClassVar[tuple[str, ...]] = ("not_binary", "additive", "inverted")
    fix: ClassVar[str] = (
        "write 1 where a token is attended and 0 where it is padding; build additive masks in the model"
    )
    value_name: ClassVar[str] = "mask"

    segments: bool = False

    @property
    def _mask(self) -> str:
        """The mask that goes with the column; the column itself where it is one."""
        if role_of(self.column) == ATTENTION_MASK:
            return self.column
        return companion(self.column, ATTENTION_MASK)

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self._mask,)

    def _values(self, context: Context) -> MaskValues:
        ids = self.column if self.column != self._mask else self._mask.removesuffix(ATTENTION_MASK) + INPUT_IDS
        return MaskValues(self._mask, ids, context.vocabulary.pad)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (self._values(context),)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        values = self._values(context)
        name = "no_segment" if self.segments else "position"
        place, value = values[name], values["no_segment_value" if self.segments else "value"]
        wrong = place >= 0
        return Judgement(
            missing=(values["nulls"] != 0) | (values["length"] == 0),
            reason=first_reason(
                (wrong & values["additive"], "additive"), (wrong, "not_binary"), (values["inverted"], "inverted")
            ),
            position=pl.when(wrong).then(place),
            value=pl.when(wrong & (value != NOT_WHOLE)).then(value),
        )
