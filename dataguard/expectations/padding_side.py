"""Pads on the wrong side shift positions, and put the last token where generation or loss does not look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import polars as pl

from dataguard.expectations.base import Judgement, Outcome, RowExpectation, first_reason
from dataguard.expectations.content import content_metrics, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths
from dataguard.metrics.padding import Padding


class ExpectPaddingSideToBe(RowExpectation):
    """Rows are padded on this side; with auto on the side where most are. A row without padding fits every side."""

    reasons: ClassVar[tuple[str, ...]] = ("left_padded", "right_padded", "both_sides", "mixed_sides")
    fix: ClassVar[str] = "pad all rows on one side (tokenizer.padding_side) and build the mask with them"
    value_name: ClassVar[str] = "pads"

    side: Literal["auto", "right", "left", "none"] = "auto"

    def _padding(self, context: Context) -> Padding:
        return Padding(context.attention(self.column))

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (*content_metrics(context, self.column), self._padding(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        padding = self._padding(context)
        left, right = padding["left"] > 0, padding["right"] > 0
        only = {"left": left & ~right, "right": right & ~left}
        cases = [(left & right, "both_sides")]
        if self.side == "auto":
            minority = self._minority(context, table) if table is not None else None
            cases += [(only[minority], "mixed_sides")] if minority else []
        else:
            cases += [(only[side], f"{side}_padded") for side in ("left", "right") if side != self.side]
        return Judgement(
            missing=without_content(context, self.column),
            reason=first_reason(*cases),
            position=pl.when(left).then(0).otherwise(Lengths(self.column)["length"] - padding["right"]),
            value=pl.max_horizontal(padding["left"], padding["right"]),
        )

    def _sides(self, context: Context, table: MetricTable) -> Mapping[str, int]:
        """Count the rows padded on one side only, over the whole data set but for the sources with a side of their own."""
        padding, judged = self._padding(context), ~without_content(context, self.column)
        for here, variant in self.variants_here(context):
            if variant.side != "auto":
                judged &= ~here.fill_null(value=False)
        left, right = padding["left"] > 0, padding["right"] > 0
        counts = table.collect(
            (judged & left & ~right).sum().alias("left"), (judged & right & ~left).sum().alias("right")
        )
        return {side: int(count or 0) for side, count in counts.items()}

    def _minority(self, context: Context, table: MetricTable) -> str | None:
        sides = self._sides(context, table)
        if sides["left"] == sides["right"]:
            return None
        return min(sides, key=lambda side: sides[side])

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        outcome = super().judge(table, context)
        sides = self._sides(context, table)
        details: dict[str, Any] = dict(outcome.details)
        success = outcome.success
        if self.side == "auto" and sides["left"] == sides["right"] > 0:
            details["reasons"] = {**details.get("reasons", {}), "mixed_sides": sides["left"] + sides["right"]}
            note = "as many rows are padded left as right: no side is the wrong one, so no row is named"
            details["notes"] = [*details.get("notes", []), note]
            success = False
        return replace(outcome, success=success, observed_value=sides, details=details)
