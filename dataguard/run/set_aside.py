"""The rows that are set aside: what each of them fails, put together from the verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.expectations.context import ShardFacts
from dataguard.expectations.divided import MOST_PARTS, Divided, Numbers, Scratch, each_batch, kept
from dataguard.run.judge import Verdicts
from dataguard.suite.model import Suite

RANGE_ROWS = 1 << 19
"""Rows of DATA whose faults are put together at once."""
SCHEMA: Mapping[str, Any] = {
    "shard": pl.UInt32,
    "row": pl.Int64,
    "expectations": pl.List(pl.String),
    "reasons": pl.List(pl.String),
}
_ROW_BITS = 40


@dataclass(frozen=True)
class _Found:
    """The rows that one expectation found: shard, row, reason; `count` is None where it did not count them."""

    type: str
    rows: pl.LazyFrame
    count: int | None


def rows_set_aside(
    verdicts: Verdicts,
    suite: Suite,
    shards: Sequence[ShardFacts],
    scratch: Scratch | None,
    range_rows: int = RANGE_ROWS,
) -> pl.LazyFrame:
    """Return every row that is set aside, in the order of DATA: shard, row, expectations, reasons.

    The two lists are in the order of the suite and of one length: each reason stands beside its expectation. Past
    `range_rows` faults they are divided by where they stand, and put together range by range, so that memory does not grow
    with their number.

    Args:
        shards: By their rows ranges are made about equally large.
        scratch: None for all in memory.
    """
    found = [
        _Found(result.type, frame, result.unexpected_count)
        for result, frame in zip(verdicts.results, verdicts.unexpected, strict=True)
        if frame is not None and result.severity in suite.quarantine and result.unexpected_count != 0
    ]
    if not found:
        return pl.LazyFrame(schema=SCHEMA)
    count = sum(range_rows + 1 if each.count is None else each.count for each in found)
    if scratch is None or count <= range_rows:
        parts = [
            each.rows.select("shard", "row", pl.lit(each.type).alias("expectations"), reasons="reason")
            for each in found
        ]
        return _put_together(pl.concat(parts)).collect(engine="streaming").lazy()
    starts = _starts(shards, range_rows)
    reasons = [_reasons(each) for each in found]
    with Divided(scratch, len(starts)) as divided:
        for number, each in enumerate(found):
            _divide(each, number, reasons[number], starts, divided)
        frames = (
            _put_together(_spelled(faults, found, reasons)).collect()
            for part in range(len(starts))
            for faults in divided.read(part)
        )
        return kept(frames, scratch, range_rows, SCHEMA)


def _put_together(faults: pl.LazyFrame) -> pl.LazyFrame:
    once = faults.unique(maintain_order=True)
    rows = once.group_by("shard", "row", maintain_order=True).agg("expectations", "reasons")
    return rows.sort("shard", "row")


def _starts(shards: Sequence[ShardFacts], range_rows: int) -> npt.NDArray[np.int64]:
    """Return the places (shard << 40 | row) at which ranges of about so many rows begin."""
    rows = np.cumsum([0, *(shard.rows for shard in shards)])
    total = int(rows[-1])
    step = max(range_rows, -(-total // MOST_PARTS))
    firsts = np.arange(0, max(total, 1), step)
    shard = np.maximum(np.searchsorted(rows, firsts, side="right") - 1, 0)
    return np.asarray((shard << _ROW_BITS) + firsts - rows[shard], np.int64)


def _reasons(found: _Found) -> list[str]:
    return sorted(found.rows.select(pl.col("reason").unique()).collect(engine="streaming")["reason"].to_list())


def _divide(
    found: _Found, number: int, reasons: Sequence[str], starts: npt.NDArray[np.int64], divided: Divided
) -> None:
    """Add the rows that an expectation found to the range that each lies in."""

    def take(batch: Numbers) -> None:
        ranges = np.searchsorted(starts, batch["place"], side="right") - 1
        divided.add(batch, ranges.astype(np.uint16))

    each_batch(
        found.rows.select(
            place=pl.col("shard").cast(pl.Int64) * (1 << _ROW_BITS) + pl.col("row"),
            found=pl.lit(number, pl.UInt32),
            reason=pl.col("reason").replace_strict(reasons, range(len(reasons)), return_dtype=pl.UInt32),
        ),
        take,
        RANGE_ROWS,
    )


def _spelled(faults: Numbers, found: Sequence[_Found], reasons: Sequence[Sequence[str]]) -> pl.LazyFrame:
    """Return what was divided as it was before, in the order of DATA and of the suite."""
    ordered = pl.DataFrame(dict(faults)).sort("place", "found", "reason")
    firsts = np.cumsum([0, *map(len, reasons)])
    types = pl.Series([each.type for each in found], dtype=pl.String)
    texts = pl.Series([reason for each in reasons for reason in each], dtype=pl.String)
    number = ordered["found"]
    return pl.LazyFrame(
        {
            "shard": (ordered["place"] // (1 << _ROW_BITS)).cast(pl.UInt32),
            "row": ordered["place"] % (1 << _ROW_BITS),
            "expectations": types.gather(number),
            "reasons": texts.gather(pl.Series(firsts)[number] + ordered["reason"]),
        }
    )
