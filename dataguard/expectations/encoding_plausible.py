"""Ids that were read at another width, byte order or sign than they were written with are noise, often in range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import polars as pl
import pyarrow as pa
from pydantic import Field

from dataguard.expectations.base import Expectation, Level, Outcome, first_reason, intact_shards
from dataguard.expectations.context import VOCABULARY_FIELDS, Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.encoding import EncodingSigns
from dataguard.result import MOST_ENTRIES, Finding, Unjudged
from dataguard.shards.roles import is_list

NEARLY_ALL, MOST, HALF, QUARTER, SOME = 0.95, 0.9, 0.5, 0.25, 0.1
"""Shares of a shard's ids; docs/decisions.md, "How ids were stored", says what was measured."""
FEW_VALUES, MANY_VALUES = 3, 16
"""Different ids, from which on a pattern is no single token that stands everywhere."""
DETAILS: Mapping[str, str] = {
    "interleaved_zeros": "every second id is 0: {odd_halves:,} of {odd:,}, and {even_halves:,} of the {even:,} between them",
    "byte_order": "with their bytes in the other order the ids fit: {outside:,} of {tokens:,} are outside the limit now, "
    "{low:,} have a low byte below 4",
    "wrapped_uint16": "{wrapped:,} of {negative:,} negative ids are in range when 65,536 is added",
    "packed_width": "{packed:,} of {tokens:,} numbers are several ids in one",
    "unsigned_ignore_index": "{ignored:,} of {outside:,} ids outside the limit are what -100 becomes in an unsigned type",
}
TOO_NARROW = "{kind} for a vocabulary of {size:,}: ids above {top:,} came out as others"


class ExpectTokenEncodingToBePlausible(Expectation):
    """Nothing in a shard's ids betrays that they were stored, or read, at another width, byte order or sign.

    Rows of fewer than min_tokens tokens show no pattern of zeros or of low bytes.
    """

    level: ClassVar[Level] = "shard"
    reasons: ClassVar[tuple[str, ...]] = (
        "interleaved_zeros",
        "byte_order",
        "wrapped_uint16",
        "packed_width",
        "unsigned_ignore_index",
    )
    fix: ClassVar[str] = (
        "read the tokens with the type and byte order they were written with, and write the shard again"
    )

    min_tokens: Annotated[int, Field(ge=2, lt=1 << 63)] = 6

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column,)

    def _signs(self, context: Context) -> EncodingSigns:
        return EncodingSigns(self.column, context.vocabulary.limit, self.min_tokens)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (self._signs(context),)

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        judged = [shard for shard in intact_shards(context) if shard.type_of(self.column) is not None]
        narrow = self._too_narrow(context)
        shards = _by_shard(self._signs(context), table.frame)
        reason = self._reason(pl.col("shard").is_in(list(narrow)))
        found = shards.with_columns(reason=reason).filter(pl.col("reason").is_not_null()).sort("shard")
        findings = [
            Finding(
                reason=each["reason"],
                shard=context.shards[each["shard"]].name,
                column=self.column,
                detail=_detail(each, narrow.get(each["shard"])),
            )
            for each in found.collect(engine="streaming").iter_rows(named=True)
        ]
        reasons = dict(sorted(Counter(each.reason for each in findings).items()))
        return Outcome(
            success=not findings,
            element_count=len(judged),
            unexpected_count=len(findings),
            missing_count=sum(shard.tokens == 0 for shard in judged),
            findings=tuple(findings[:MOST_ENTRIES]),
            details={"reasons": reasons} if reasons else {},
            unjudged=Unjudged(*VOCABULARY_FIELDS["limit"]) if context.vocabulary.limit is None else None,
        )

    def _reason(self, is_narrow: pl.Expr) -> pl.Expr:
        """Return why a shard is unexpected, over the sums of `_by_shard`."""
        tokens, outside, low = pl.col("tokens"), pl.col("outside"), pl.col("low")
        outsiders, enough = _different("outside_values"), tokens >= self.min_tokens
        all_outside = (outside >= MOST * tokens) & (outsiders >= FEW_VALUES)
        some_outside = (outside >= SOME * tokens) & (outsiders >= MANY_VALUES)
        in_other_order = (pl.col("swapped") >= MOST * outside) & (all_outside | some_outside)
        low_bytes = (
            (low >= QUARTER * tokens) & (pl.col("high") <= QUARTER * low) & (_different("low_values") >= MANY_VALUES)
        )
        return first_reason(
            (
                (pl.col("span") >= HALF * tokens)
                & (pl.col("odd") > 1)
                & (pl.col("odd_halves") >= NEARLY_ALL * pl.col("odd"))
                & (pl.col("even_halves") <= (1 - QUARTER) * pl.col("even")),
                "interleaved_zeros",
            ),
            (enough & (in_other_order | low_bytes), "byte_order"),
            ((pl.col("wrapped") > 0) & (pl.col("wrapped") >= HALF * pl.col("negative")), "wrapped_uint16"),
            (is_narrow & (tokens > 0), "wrapped_uint16"),
            ((2 * tokens >= self.min_tokens) & (pl.col("packed") >= HALF * tokens), "packed_width"),
            ((pl.col("ignored") > 0) & (pl.col("ignored") >= HALF * outside), "unsigned_ignore_index"),
        )

    def _too_narrow(self, context: Context) -> dict[int, str]:
        """Return the shards whose 16-bit column cannot hold the vocabulary, and that in words."""
        size = context.vocabulary.limit if context.vocabulary.size is None else context.vocabulary.size
        found = {}
        for place, shard in enumerate(context.shards):
            kind = shard.type_of(self.column)
            if size is None or kind is None or not is_list(kind) or kind.value_type not in (pa.int16(), pa.uint16()):
                continue
            top = (1 << 15) - 1 if kind.value_type == pa.int16() else (1 << 16) - 1
            if size - 1 > top:
                found[place] = TOO_NARROW.format(kind=kind, size=size, top=top)
        return found


def _by_shard(signs: EncodingSigns, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Return the signs of each shard: the sums of its rows' counts, and the bits that any row has."""
    span = signs["span"].cast(pl.Int64)
    counted = [name for name in signs.gives if not name.endswith("_values")]
    return frame.group_by("shard").agg(
        *(signs[name].cast(pl.Int64).sum().alias(name) for name in counted),
        (span // 2).sum().alias("odd"),
        ((span + 1) // 2).sum().alias("even"),
        *(signs[name].bitwise_or().alias(name) for name in ("low_values", "outside_values")),
    )


def _different(bits: str) -> pl.Expr:
    """Return how many different ids there are at least."""
    return pl.col(bits).bitwise_count_ones()


def _detail(shard: Mapping[str, Any], narrow: str | None) -> str:
    if shard["reason"] == "wrapped_uint16" and not shard["wrapped"] and narrow is not None:
        return narrow
    return DETAILS[shard["reason"]].format(**shard)
