"""How far a row's ids reach outside what the embedding can look up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from dataguard.metrics.base import Metric, Numbers, as_value, kernel
from dataguard.shards.batch import Batch, frozen

MOST_DISTINCT = 50
HIGHEST = np.iinfo(np.int64).max
_IDS = pl.List(pl.Int64)
_NO_IDS = pl.Series([[]], dtype=_IDS)


@dataclass(frozen=True)
class IdsOutside(Metric):
    """Ids of a row below 0 and at or beyond a limit, at any position, masked ones too; and the lowest and highest id.

    `position` and `value` are those of the first negative id, else of the first beyond; `distinct` holds up to 50 of the ids
    outside, the lowest. Sentinels are ids that something replaces before the lookup: they are never outside, and no lowest
    or highest.
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "negative": pl.Int32,
        "beyond": pl.Int32,
        "position": pl.Int32,
        "value": pl.Int64,
        "lowest": pl.Int64,
        "highest": pl.Int64,
        "distinct": _IDS,
    }
    column: str
    limit: int | None
    sentinels: tuple[int, ...] = ()

    def reads(self) -> tuple[str, ...]:
        return (self.column,)

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.column)
        last = HIGHEST if self.limit is None else self.limit - 1
        limits = np.iinfo(column.values.dtype)
        possible = [each for each in self.sentinels if limits.min <= each <= limits.max]
        sentinels = frozen(np.array(possible, np.int64))
        usual = as_value(column.values, possible[0] if possible else None)
        numbers = np.zeros((6, batch.rows), np.int64)
        ids_outside(column.values, column.offsets, last, sentinels, usual, numbers)
        names = ("negative", "beyond", "position", "value", "lowest", "highest")
        found = dict(zip(names, numbers, strict=True))
        bad = np.flatnonzero(numbers[0] + numbers[1])
        if not bad.size:
            return {**found, "distinct": _NO_IDS.new_from_index(0, batch.rows)}
        distinct: list[list[int]] = [[] for _ in range(batch.rows)]
        for row in bad:
            values = column.values[column.offsets[row] : column.offsets[row + 1]]
            outside = values[((values < 0) | (values > last)) & ~np.isin(values, sentinels)]
            distinct[row] = np.unique(outside)[:MOST_DISTINCT].tolist()
        return {**found, "distinct": pl.Series(distinct, dtype=_IDS)}


@kernel
def ids_outside(values, offsets, last, sentinels, usual, numbers):  # type: ignore[no-untyped-def]
    """Count each row's ids below 0 and beyond the last that can be looked up. usual: the first sentinel, in the values' type.

    numbers, shape (6, R): negative, beyond, position and value of the first negative one, else of the first beyond (-1, 0:
    none), lowest and highest id (0, -1: none). Most rows are done after a first loop that has no branches.
    """
    for row in range(offsets.size - 1):
        own = values[offsets[row] : offsets[row + 1]]
        begin = 0
        while sentinels.size == 1 and begin < own.size and own[begin] == usual:
            begin += 1
        if begin < own.size and sentinels.size < 2:
            some = own[begin]
            smallest, largest = some, some
            for place in range(own.size):
                token = some if sentinels.size and own[place] == usual else own[place]
                smallest = token if token < smallest else smallest  # noqa: FURB136  # see `kernel`
                largest = token if token > largest else largest  # noqa: FURB136
            if smallest >= 0 and largest <= last:
                numbers[2, row], numbers[4, row], numbers[5, row] = -1, smallest, largest
                continue
        negative, beyond, position, value, lowest, highest = 0, 0, -1, 0, 0, -1
        seen = False
        for place in range(own.size):
            token = np.int64(own[place])
            if token < 0 or token > last or sentinels.size:
                sentinel = False
                for each in sentinels:
                    sentinel = sentinel or each == token
                if sentinel:
                    continue
                if token < 0:
                    if negative == 0:
                        position, value = place, token
                    negative += 1
                elif token > last:
                    if position < 0:
                        position, value = place, token
                    beyond += 1
            if not seen:
                lowest, highest, seen = token, token, True
            elif token < lowest:
                lowest = token
            elif token > highest:
                highest = token
        numbers[0, row], numbers[1, row], numbers[2, row] = negative, beyond, position
        numbers[3, row], numbers[4, row], numbers[5, row] = value, lowest, highest
