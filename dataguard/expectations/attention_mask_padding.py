"""A mask that disagrees with the padding trains on pads, or hides real tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import polars as pl

from dataguard.expectations.base import CannotJudge, Judgement, RowExpectation, first_reason
from dataguard.expectations.content import content_of, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths
from dataguard.metrics.padding import Padding, PadIds

SHARED_FROM = 0.01
"""With `pad_shared: auto`, pads attended in the middle of this share of the rows are real tokens (document separators)."""


class ExpectAttentionMaskToMatchPadding(RowExpectation):
    """Pads at the padded end are masked, and nothing but pads is; without a mask the padding can be told from the ids.

    `pad_shared` says that the pad id is a real token too, of which one may stand attended at a row's end. With auto it is
    where pad is bos or eos, or stands attended inside one row in a hundred.
    """

    reasons: ClassVar[tuple[str, ...]] = ("attended_padding", "masked_token", "mask_not_inferable")
    fix: ClassVar[str] = "build the mask from the lengths of the rows before padding"

    pad_shared: bool | Literal["auto"] = "auto"

    def _pad_ids(self, context: Context) -> PadIds:
        pad = context.vocabulary.pad
        if pad is None:
            raise CannotJudge(*context.unknown("pad"))
        return PadIds(context.attention(self.column), pad)

    def metrics(self, context: Context) -> Sequence[Metric]:
        padding = Padding(context.attention(self.column))
        return (Lengths(self.column), content_of(context, self.column), padding, self._pad_ids(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        pads, padding = self._pad_ids(context), Padding(context.attention(self.column))
        vocabulary = context.vocabulary
        shared = self._shared(context, table)
        left_end = (padding["left"] > 0) | (padding["right"] == 0)
        right_end = (padding["right"] > 0) | (padding["left"] == 0)
        real_right = int(shared or vocabulary.pad == vocabulary.eos)
        real_left = int(shared or vocabulary.pad == vocabulary.bos)
        too_many_right = right_end & (pads["attended_right"] > real_right)
        too_many_left = left_end & (pads["attended_left"] > real_left)
        unclear = pads["trailing"] >= 2 if vocabulary.pad == vocabulary.eos else pl.lit(value=False)
        length = Lengths(self.column)["length"]
        first_right = length - padding["right"] - pads["attended_right"] + real_right
        return Judgement(
            missing=without_content(context, self.column),
            reason=first_reason(
                (pads["masked"] & (too_many_right | too_many_left), "attended_padding"),
                (pads["masked"] & (pads["masked_token"] >= 0), "masked_token"),
                (~pads["masked"] & unclear, "mask_not_inferable"),
            ),
            position=pl.when(~pads["masked"])
            .then(length - pads["trailing"])
            .when(too_many_right)
            .then(first_right)
            .when(too_many_left)
            .then(padding["left"])
            .otherwise(pads["masked_token"]),
        )

    def _shared(self, context: Context, table: MetricTable | None) -> bool:
        """Whether the pad id is a real token as well."""
        if self.pad_shared != "auto":
            return self.pad_shared
        inner, rows = self._inner(context, table)
        return rows > 0 and inner >= SHARED_FROM * rows

    def _inner(self, context: Context, table: MetricTable | None) -> tuple[int, int]:
        """Count the rows with an attended pad in their middle, and all judged rows."""
        if table is None:
            return 0, 0
        judged = ~without_content(context, self.column)
        inner = (judged & self._pad_ids(context)["masked"] & (self._pad_ids(context)["attended_inner"] > 0)).sum()
        counts = table.collect(inner.alias("inner"), judged.sum().alias("rows"))
        return int(counts["inner"] or 0), int(counts["rows"] or 0)

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        if self.pad_shared is True:
            return {}
        inner, _ = self._inner(context, MetricTable(judged))
        if not inner:
            return {}
        where = f"{inner:,} rows attend the pad id {context.vocabulary.pad} in their middle"
        return {"notes": [f"{where}: a real token, or a joined pad"]}
