"""Padding between attended tokens: two padded pieces were joined, or a mask was made by value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from dataguard.expectations.base import Judgement, RowExpectation, first_reason
from dataguard.expectations.content import content_metrics, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.padding import Padding


class ExpectPaddingToBeContiguous(RowExpectation):
    """No position between attended ones is masked."""

    reasons: ClassVar[tuple[str, ...]] = ("inner_padding",)
    fix: ClassVar[str] = "join the pieces first and pad once; build the mask from lengths, not from the pad id"
    value_name: ClassVar[str] = "masked"

    def _padding(self, context: Context) -> Padding:
        return Padding(context.attention(self.column))

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (*content_metrics(context, self.column), self._padding(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        padding = self._padding(context)
        return Judgement(
            missing=without_content(context, self.column),
            reason=first_reason((padding["inner"] > 0, "inner_padding")),
            position=padding["inner_position"],
            value=padding["inner"],
        )
