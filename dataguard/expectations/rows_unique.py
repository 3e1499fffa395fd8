"""The same row again and again: the model learns it by heart, and what is measured on it is worth nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

import polars as pl
from pydantic import Field, model_validator

from dataguard.expectations.base import Judgement, Outcome, RowExpectation, first_reason, words
from dataguard.expectations.content import content_of, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.digests import Digest
from dataguard.metrics.lengths import Lengths
from dataguard.result import Severity
from dataguard.shards.roles import INPUT_IDS, NEVER_IDS, PER_TOKEN, role_of

PART_ROWS = 1 << 21
"""Rows whose digests are compared at once: some 200 MB, whatever the number of rows."""
_ROW_BITS = 40
_FIRST = "first_copy"


class ExpectRowsToBeUnique(RowExpectation):
    """No row is a copy of an earlier one, in any shard: the same attended tokens, in all of `columns`."""

    default_severity: ClassVar[Severity] = "warning"
    reasons: ClassVar[tuple[str, ...]] = ("duplicate",)
    fix: ClassVar[str] = "keep one copy of each row: rejected.parquet lists the others"

    columns: Annotated[tuple[str, ...], Field(min_length=1)] = (INPUT_IDS,)

    @model_validator(mode="after")
    def _one_meaning(self) -> Self:
        if self.by_source:
            msg = "copies are looked for over all sources together, so that by_source has nothing to change"
            raise ValueError(msg)
        return self

    @property
    def _compared(self) -> tuple[str, ...]:
        """The columns that a suite names; where it names none, the one that it names as `column`."""
        return tuple(dict.fromkeys(self.columns)) if "columns" in self.model_fields_set else (self.column,)

    def columns_read(self, context: Context) -> Sequence[str]:
        return self._compared

    def metrics(self, context: Context) -> Sequence[Metric]:
        found: list[Metric] = []
        for column in self._compared:
            found += [Lengths(column), _digest(context, column)]
            if (tokens := _tokens_of(column)) is not None:
                found += [Lengths(tokens), content_of(context, tokens)]
        return list(dict.fromkeys(found))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        if table is None:
            return Judgement(missing=self._missing(context), reason=pl.lit(None, pl.String))
        first = pl.col(_FIRST)
        names = [shard.name for shard in context.shards]
        shard = (first // (1 << _ROW_BITS)).replace_strict(range(len(names)), names, return_dtype=pl.String)
        return Judgement(
            missing=self._missing(context),
            reason=first_reason((first.is_not_null(), "duplicate")),
            detail=words("the same as row {} of {}", first % (1 << _ROW_BITS), shard),
        )

    def _missing(self, context: Context) -> pl.Expr:
        """Rows that are not compared: others' faults, and rows without content, which are all alike."""
        missing = pl.lit(value=False)
        for column in self._compared:
            missing |= (Lengths(column)["nulls"] != 0) | ~_digest(context, column)["paired"]
            if (tokens := _tokens_of(column)) is not None:
                missing |= without_content(context, tokens)
        return missing.fill_null(value=True)

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        digests = [_digest(context, column)[half] for column in self._compared for half in ("low", "high")]
        rows = table.frame.filter(~self._missing(context))
        copies = copies_of_earlier_rows(rows, digests)
        frame = table.frame.join(copies.lazy(), on=("shard", "row"), how="left", maintain_order="left")
        return super().judge(MetricTable(frame), context)


def _tokens_of(column: str) -> str | None:
    """Return the token column whose attention holds for a column: its own, or the one that it goes with."""
    role = role_of(column)
    if role in PER_TOKEN:
        return column.removesuffix(role) + INPUT_IDS
    return column if role == INPUT_IDS and column not in NEVER_IDS else None


def _digest(context: Context, column: str) -> Digest:
    tokens = _tokens_of(column)
    return Digest(column, None if tokens is None else context.attention(tokens))


def copies_of_earlier_rows(rows: pl.LazyFrame, digests: Sequence[pl.Expr], part_rows: int = PART_ROWS) -> pl.DataFrame:
    """Return every row whose digests an earlier one has, and where the first of them stands.

    Equal digests fall into one part, so that parts are compared one after the other, in bounded memory; the copies
    themselves are kept, some 20 bytes each.

    Args:
        rows: `shard`, `row`, and what the digests read.
        digests: Unsigned 64-bit numbers.
        part_rows: Rows compared at once, about.

    Returns:
        shard, row, first_copy (shard << 40 | row of the first).
    """
    names = [f"digest_{number}" for number in range(len(digests))]
    place = (pl.col("shard").cast(pl.Int64) * (1 << _ROW_BITS) + pl.col("row")).alias("place")
    table = rows.select("shard", "row", place, *(each.alias(name) for each, name in zip(digests, names, strict=True)))
    count = int(table.select(pl.len()).collect(engine="streaming").item())
    parts = -(-count // part_rows)
    found = [
        pl.DataFrame(schema={"shard": pl.UInt32, "row": pl.Int64, _FIRST: pl.Int64}),
        *(_copies(table.filter(pl.col(names[0]) % parts == part), names) for part in range(parts)),
    ]
    return pl.concat(found)


def _copies(part: pl.LazyFrame, digests: Sequence[str]) -> pl.DataFrame:
    groups = part.group_by(digests).agg(pl.col("place").min().alias(_FIRST), pl.len().alias("copies"))
    several = groups.filter(pl.col("copies") > 1).drop("copies").collect(engine="streaming")
    copies = part.join(several.lazy(), on=list(digests)).filter(pl.col("place") > pl.col(_FIRST))
    return copies.select("shard", "row", _FIRST).collect(engine="streaming")
