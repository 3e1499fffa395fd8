"""The rows that are set aside: what each of them fails, put together from the verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.expectations.context import ShardFacts
from dataguard.expectations.divided import MOST_PARTS, Divided, Numbers, Scratch, each_batch, kept
from dataguard.run.judge import Verdicts
from dataguard.suite.model import Suite

FEW = 1 << 16
"""Faults that are put together in memory."""
RANGE_ROWS = 1 << 19
"""Rows of DATA whose faults are put together at once where there are more."""
SCHEMA: Mapping[str, Any] = {
    "shard": pl.UInt32,
    "row": pl.Int64,
    "expectations": pl.List(pl.String),
    "reasons": pl.List(pl.String),
}
_ROW_BITS, _WORD = 40, 64


@dataclass(frozen=True)
class _Found:
    """The rows that one expectation found: shard, row, reason."""

    type: str
    rows: pl.LazyFrame

    def reasons(self) -> list[str]:
        """Return the reasons that occur."""
        return sorted(self.rows.select(pl.col("reason").unique()).collect(engine="streaming")["reason"].to_list())


def rows_set_aside(
    verdicts: Verdicts,
    suite: Suite,
    shards: Sequence[ShardFacts],
    scratch: Scratch | None,
) -> pl.LazyFrame:
    """Return every row that is set aside, in the order of DATA: shard, row, expectations, reasons.

    The two lists are in the order of the suite and of one length: each reason stands beside its expectation. Past `FEW`
    faults they are divided by where they stand, and put together range by range, so that memory does not grow with them.

    Args:
        shards: By their rows ranges are made about equally large.
        scratch: None for all in memory.
    """
    found, count = [], 0
    for result, frame in zip(verdicts.results, verdicts.unexpected, strict=True):
        if frame is not None and result.severity in suite.quarantine and result.unexpected_count != 0:
            found.append(_Found(result.type, frame))
            count += FEW + 1 if result.unexpected_count is None else result.unexpected_count
    if not found:
        return pl.LazyFrame(schema=SCHEMA)
    if scratch is None or count <= FEW:
        return _together(found).collect(engine="streaming").lazy()
    faults = _Faults(found)
    starts = _starts(shards, RANGE_ROWS)
    with Divided(scratch, len(starts)) as divided:

        def take(batch: Numbers) -> None:
            ranges = np.searchsorted(starts, batch["place"], side="right") - 1
            divided.add(batch, ranges.astype(np.uint16))

        for rows in faults.numbered():
            each_batch(rows, take, RANGE_ROWS)
        ranges = (faults.rows(some) for part in range(len(starts)) for some in divided.read(part))
        rows = kept(ranges, scratch, RANGE_ROWS, {"shard": pl.UInt32, "row": pl.Int64, "fails": pl.UInt32})
    return faults.told(rows)


def _together(found: Sequence[_Found]) -> pl.LazyFrame:
    parts = [each.rows.select("shard", "row", expectations=pl.lit(each.type), reasons="reason") for each in found]
    once = pl.concat(parts).unique(maintain_order=True)
    rows = once.group_by("shard", "row", maintain_order=True).agg("expectations", "reasons")
    return rows.sort("shard", "row")


def _starts(shards: Sequence[ShardFacts], range_rows: int) -> npt.NDArray[np.int64]:
    """Return the places (shard << 40 | row) at which ranges of about so many rows begin."""
    rows = np.cumsum([0, *(shard.rows for shard in shards)])
    total = int(rows[-1])
    step = max(range_rows, -(-total // MOST_PARTS))
    firsts = np.arange(0, max(total, 1), step)
    shard = np.maximum(np.searchsorted(rows, firsts, side="right") - 1, 0)
    starts = np.asarray((shard << _ROW_BITS) + firsts - rows[shard], np.int64)
    starts[0] = 0  # the first shard may have no row
    return starts


class _Faults:
    """What rows fail, as numbers.

    A fault is a reason of an expectation, numbered in the order of the suite; what a row fails altogether is one number
    again, for rows fail the same few things: so that their names are put together once, not once a row.
    """

    def __init__(self, found: Sequence[_Found]) -> None:
        told = [(each, each.reasons()) for each in found]
        self._found = [(each, reasons) for each, reasons in told if reasons]
        self._faults = [(each.type, reason) for each, reasons in self._found for reason in reasons]
        self._words = -(-len(self._faults) // _WORD)
        self._fails: dict[tuple[int, ...], int] = {}

    def numbered(self) -> Iterator[pl.LazyFrame]:
        """Yield what each expectation found: place (shard << 40 | row), fault."""
        first = 0
        for each, reasons in self._found:
            numbered = enumerate(reasons, first)  # replace_strict would hold all rows (Polars 2.1)
            yield each.rows.select(
                place=pl.col("shard").cast(pl.Int64) * (1 << _ROW_BITS) + pl.col("row"),
                fault=pl.coalesce([pl.when(reason=text).then(pl.lit(number, pl.UInt32)) for number, text in numbered]),
            )
            first += len(reasons)

    def rows(self, faults: Numbers) -> pl.DataFrame:
        """Return rows in order, with the number of what each fails: shard, row, fails.

        Args:
            faults: All those of the rows.
        """
        order = np.argsort(faults["place"])
        place, fault = faults["place"][order], faults["fault"][order]
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        bit = np.uint64(1) << (fault % _WORD).astype(np.uint64)
        words = [
            np.bitwise_or.reduceat(np.where(fault // _WORD == word, bit, np.uint64(0)), starts)
            for word in range(self._words)
        ]
        if len(words) == 1:
            distinct, which = np.unique(words[0], return_inverse=True)
            sets = distinct[:, np.newaxis]
        else:
            sets, which = np.unique(np.stack(words, axis=1), axis=0, return_inverse=True)
        numbers = [self._fails.setdefault(tuple(each), len(self._fails)) for each in sets.tolist()]
        return pl.DataFrame(
            {
                "shard": (place[starts] >> _ROW_BITS).astype(np.uint32),
                "row": place[starts] & ((1 << _ROW_BITS) - 1),
                "fails": np.array(numbers, np.uint32)[which.reshape(-1)],
            }
        )

    def told(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows with the names of what they fail."""
        # The same reason of the same type, for another column or with other arguments, is told once.
        named = [
            list(dict.fromkeys(fault for number, fault in enumerate(self._faults) if _holds(words, number)))
            for words in self._fails
        ]
        expectations, reasons = (
            pl.Series([[fault[half] for fault in faults] for faults in named], dtype=pl.List(pl.String))
            for half in (0, 1)
        )
        fails = pl.col("fails")
        return rows.select(
            "shard", "row", expectations=pl.lit(expectations).gather(fails), reasons=pl.lit(reasons).gather(fails)
        )


def _holds(words: Sequence[int], fault: int) -> bool:
    return bool(words[fault // _WORD] >> fault % _WORD & 1)
