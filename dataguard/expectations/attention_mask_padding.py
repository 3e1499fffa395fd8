"""A mask that disagrees with the padding trains on pads, or hides real tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import polars as pl

from dataguard.expectations.base import CannotJudge, Judgement, RowExpectation, first_reason
from dataguard.expectations.content import content_metrics, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths
from dataguard.metrics.padding import Padding, PadIds

SHARED_FROM, FEW, MOSTLY = 0.01, 5, 0.9
"""With `pad_shared: auto` pads are real tokens too where they stand attended in the middle of this share of the rows (document
separators), or where so many rows, and most of those that end with attended pads, end with just one (an eos of the same id)."""


class ExpectAttentionMaskToMatchPadding(RowExpectation):
    """Pads at the padded end are masked, and nothing but pads is; without a mask the padding can be told from the ids.

    `pad_shared` says that the pad id is a real token too, of which one may stand attended at a row's end. With auto it is
    where pad is bos or eos, stands attended inside one row in a hundred, or just once at the end of many rows. Where no pad is
    named eos is taken for it, and only attended pads are told.
    """

    reasons: ClassVar[tuple[str, ...]] = ("attended_padding", "masked_token", "mask_not_inferable")
    fix: ClassVar[str] = "build the mask from the lengths of the rows before padding"

    pad_shared: bool | Literal["auto"] = "auto"

    def _pad_ids(self, context: Context) -> PadIds:
        pad = context.vocabulary.pad_or_eos
        if pad is None:
            raise CannotJudge(*context.unknown("pad_or_eos"))
        return PadIds(context.attention(self.column), pad)

    def metrics(self, context: Context) -> Sequence[Metric]:
        padding = Padding(context.attention(self.column))
        return (*content_metrics(context, self.column), padding, self._pad_ids(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        pads, padding = self._pad_ids(context), Padding(context.attention(self.column))
        vocabulary, pad = context.vocabulary, context.vocabulary.pad_or_eos
        shared = self._shared(context, table)
        left_end = (padding["left"] > 0) | (padding["right"] == 0)
        right_end = (padding["right"] > 0) | (padding["left"] == 0)
        real_right, real_left = int(shared or pad == vocabulary.eos), int(shared or pad == vocabulary.bos)
        too_many_right = right_end & (pads["attended_right"] > real_right)
        too_many_left = left_end & (pads["attended_left"] > real_left)
        unclear = pads["trailing"] >= 2 if pad == vocabulary.eos else pl.lit(value=False)
        named = pl.lit(
            vocabulary.pad is not None
        )  # otherwise what is masked may be another id that the recipe pads with
        length = Lengths(self.column)["length"]
        first_right = length - padding["right"] - pads["attended_right"] + real_right
        return Judgement(
            missing=without_content(context, self.column),
            reason=first_reason(
                (pads["masked"] & (too_many_right | too_many_left), "attended_padding"),
                (named & pads["masked"] & (pads["masked_token"] >= 0), "masked_token"),
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
        seen = self._seen(context, table)
        some = SHARED_FROM * seen["rows"]
        ends = seen["one_at_end"] >= max(some, FEW) and seen["one_at_end"] >= MOSTLY * seen["at_end"]
        return seen["rows"] > 0 and (seen["inner"] >= some or ends)

    def _seen(self, context: Context, table: MetricTable | None) -> Mapping[str, int]:
        """Count the judged rows, and those with attended pads: in their middle, at their end, and just one there."""
        if table is None:
            return dict.fromkeys(("rows", "inner", "at_end", "one_at_end"), 0)
        judged, pads = ~without_content(context, self.column), self._pad_ids(context)
        masked = judged & pads["masked"]
        counts = table.collect(
            judged.sum().alias("rows"),
            (masked & (pads["attended_inner"] > 0)).sum().alias("inner"),
            (masked & (pads["attended_right"] > 0)).sum().alias("at_end"),
            (masked & (pads["attended_right"] == 1)).sum().alias("one_at_end"),
        )
        return {name: int(count or 0) for name, count in counts.items()}

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        pad = context.vocabulary.pad
        if pad is None:
            return {"notes": [f"no pad is named: eos, {context.vocabulary.pad_or_eos}, is taken for it"]}
        if self.pad_shared is True:
            return {}
        inner = self._seen(context, MetricTable(judged))["inner"]
        where = f"{inner:,} rows attend the pad id {pad} in their middle"
        return {"notes": [f"{where}: a real token, or a joined pad"]} if inner else {}
