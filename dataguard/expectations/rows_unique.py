"""The same row again and again: the model learns it by heart, and what is measured on it is worth nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import Field, model_validator

from dataguard.expectations.base import Judgement, Outcome, RowExpectation, Tally, words
from dataguard.expectations.content import content_of, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.divided import BATCH_ROWS, MOST_PARTS, Divided, Numbers, Scratch, each_batch, kept
from dataguard.metrics.base import Metric
from dataguard.metrics.digests import Digest
from dataguard.metrics.lengths import Lengths
from dataguard.result import Severity
from dataguard.shards.roles import INPUT_IDS, NEVER_IDS, PER_TOKEN, role_of

PART_ROWS = 1 << 19
"""Rows whose digests are compared at once, and copies that are sorted at once: some 50 MB, however many there are."""
NO_SOURCE = -1
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
        return Judgement(missing=self._missing(context), reason=pl.lit(None, pl.String))

    def _missing(self, context: Context) -> pl.Expr:
        """Rows that are not compared: others' faults, and rows without content, which are all alike."""
        missing = pl.lit(value=False)
        for column in self._compared:
            missing |= (Lengths(column)["nulls"] != 0) | ~_digest(context, column)["paired"]
            if (tokens := _tokens_of(column)) is not None:
                missing |= without_content(context, tokens)
        return missing.fill_null(value=True)

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        missing = self._missing(context)
        counts = table.frame.group_by("source", missing=missing).len().collect(engine="streaming")
        rows, judged = int(counts["len"].sum()), int(counts.filter(~pl.col("missing"))["len"].sum())
        digests = [_digest(context, column)[half] for column in self._compared for half in ("low", "high")]
        copies = copies_of_earlier_rows(table.frame.filter(~missing), digests, judged, table.scratch, PART_ROWS)
        found = copies.group_by("source").len().collect(engine="streaming")
        bad = found.select("source", "len", missing=False, reason=pl.lit("duplicate"))
        tally = Tally.of(bad, context)
        tally = replace(tally, rows=rows, missing=rows - judged)
        return self.outcome(tally, _unexpected(copies, context), context)


def _unexpected(copies: pl.LazyFrame, context: Context) -> pl.LazyFrame:
    """Return copies as `Outcome.unexpected` has them."""
    first, nothing = pl.col(_FIRST), pl.lit(None)
    names = pl.Series([shard.name for shard in context.shards], dtype=pl.String)
    shard = pl.lit(names).gather(first // (1 << _ROW_BITS))  # replace_strict would hold all rows (Polars 2.1)
    return copies.select(
        "shard",
        "row",
        "source",
        reason=pl.lit("duplicate"),
        position=nothing.cast(pl.Int64),
        value=nothing,
        detail=words("the same as row {} of {}", first % (1 << _ROW_BITS), shard),
    )


def _tokens_of(column: str) -> str | None:
    """Return the token column whose attention holds for a column: its own, or the one that it goes with."""
    role = role_of(column)
    if role in PER_TOKEN:
        return column.removesuffix(role) + INPUT_IDS
    return column if role == INPUT_IDS and column not in NEVER_IDS else None


def _digest(context: Context, column: str) -> Digest:
    tokens = _tokens_of(column)
    return Digest(column, None if tokens is None else context.attention(tokens))


def copies_of_earlier_rows(
    rows: pl.LazyFrame, digests: Sequence[pl.Expr], count: int, scratch: Scratch | None, part_rows: int
) -> pl.LazyFrame:
    """Return every row whose digests an earlier one has, and where the first of them stands, in the order of DATA.

    Past `part_rows` rows they are divided by their digests in one pass, so that equal ones fall into one part, and parts are
    searched one after the other; the copies are divided again by where they stand, and sorted range by range. Neither rows
    nor copies are ever in memory as a whole.

    Args:
        rows: `shard`, `row`, `source`, and what the digests read.
        digests: Unsigned 64-bit numbers.
        count: Of the rows.
        scratch: None for all in memory.
        part_rows: Rows compared at once, about.

    Returns:
        shard, row, source, first_copy (shard << 40 | row of the first).
    """
    place = pl.col("shard").cast(pl.Int64) * (1 << _ROW_BITS) + pl.col("row")
    named = {f"digest_{number}": digest for number, digest in enumerate(digests)}
    table = rows.select(place=place, source=pl.col("source").fill_null(NO_SOURCE), **named)
    if scratch is None or count <= part_rows:
        together = table.collect(engine="streaming")
        return _in_order(_copies({column.name: column.to_numpy() for column in together})).lazy()
    parts = min(-(-count // part_rows), MOST_PARTS)
    firsts: list[tuple[int, int]] = []
    with Divided(scratch, parts) as divided:

        def divide(batch: Numbers) -> None:
            firsts.append((int(batch["place"].min()), len(batch["place"])))
            divided.add(batch, (batch["digest_0"] % np.uint64(parts)).astype(np.uint16))

        each_batch(table, divide, min(part_rows, BATCH_ROWS))
        starts = _ranges(firsts, part_rows)
        with Divided(scratch, len(starts)) as found:
            for part in range(parts):
                for copies in _copies_in_part(divided, part, part_rows):
                    ranges = np.searchsorted(starts, copies["place"], side="right") - 1
                    found.add(copies, ranges.astype(np.uint16))
            ordered = (_in_order(copies) for number in range(len(starts)) for copies in found.read(number))
            return kept(
                ordered, scratch, part_rows, {"shard": pl.UInt32, "row": pl.Int64, "source": pl.Int32, _FIRST: pl.Int64}
            )


def _ranges(firsts: Sequence[tuple[int, int]], most_rows: int) -> npt.NDArray[np.int64]:
    """Return where ranges of places begin that hold about so many rows each, one batch at least.

    Args:
        firsts: The least place of each batch, and its number of rows.
    """
    starts, rows = [0], 0
    for first, size in sorted(firsts):
        if rows and rows + size > most_rows and len(starts) < MOST_PARTS:
            starts.append(first)
            rows = 0
        rows += size
    return np.array(starts, np.int64)


def _copies_in_part(divided: Divided, part: int, part_rows: int) -> Iterator[Numbers]:
    """Yield the copies of a part. One that many copies of a few rows have made large is read piece by piece, twice."""
    if divided.rows(part) <= 2 * part_rows:
        for rows in divided.read(part):
            yield _copies(rows)
        return
    firsts: Numbers | None = None
    for rows in divided.read(part, part_rows):
        firsts = _firsts(rows if firsts is None else _joined(firsts, rows))
    for rows in divided.read(part, part_rows):
        yield _copies(rows if firsts is None else _joined(firsts, rows))


def _joined(one: Numbers, other: Numbers) -> Numbers:
    return {name: np.concatenate([column, other[name]]) for name, column in one.items()}


def _grouped(rows: Numbers) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return an order in which rows of equal digests stand together, and whether each row in it is like the one before."""
    digests = [column for name, column in rows.items() if name.startswith("digest_")]
    order = np.argsort(digests[0])
    alike = _alike([digests[0][order]])
    if not all((digest[order][1:] == digest[order][:-1])[alike[1:]].all() for digest in digests[1:]):
        order = np.lexsort(digests[::-1])  # rows that differ share the first digest
        alike = _alike([digest[order] for digest in digests])
    return order, alike


def _alike(digests: Sequence[npt.NDArray[np.uint64]]) -> npt.NDArray[np.bool_]:
    alike = np.zeros(len(digests[0]), np.bool_)
    if alike.size:
        alike[1:] = np.logical_and.reduce([digest[1:] == digest[:-1] for digest in digests])
    return alike


def _copies(rows: Numbers) -> Numbers:
    """Return the rows whose digests one with a lower place has: place, source, and the lowest such place."""
    order, alike = _grouped(rows)
    several = alike.copy()
    several[:-1] |= alike[1:]
    order, starts = order[several], np.flatnonzero(~alike[several])
    place = rows["place"][order]
    sizes = np.diff(starts, append=place.size)
    first = np.repeat(np.minimum.reduceat(place, starts) if starts.size else place, sizes)
    later = place > first
    return {"place": place[later], "source": rows["source"][order][later], _FIRST: first[later]}


def _firsts(rows: Numbers) -> Numbers:
    """Return the row with the lowest place of all that have its digests."""
    order, alike = _grouped(rows)
    starts = np.flatnonzero(~alike)
    one = {name: column[order[starts]] for name, column in rows.items()}
    return {**one, "place": np.minimum.reduceat(rows["place"][order], starts)}


def _in_order(copies: Numbers) -> pl.DataFrame:
    found = pl.DataFrame(dict(copies)).sort("place")
    source = pl.when(pl.col("source") != NO_SOURCE).then("source")
    shard, row = (pl.col("place") // (1 << _ROW_BITS)).cast(pl.UInt32), pl.col("place") % (1 << _ROW_BITS)
    return found.select(shard=shard, row=row, source=source, **{_FIRST: pl.col(_FIRST)})
