"""Where a row is padded, and whether its mask and its pad ids say the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.metrics.base import Numbers, OfAttended, as_value, kernel
from dataguard.shards.batch import Batch


@dataclass(frozen=True)
class Padding(OfAttended):
    """Positions that are not attended: at the left end of a row, at its right end, and in between (and the first there).

    Of a row in which nothing is attended all of them count as left.
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "left": pl.Int32,
        "right": pl.Int32,
        "inner": pl.Int32,
        "inner_position": pl.Int32,
    }

    def compute(self, batch: Batch) -> Numbers:
        attended, _ = self.attention.of(batch)
        numbers = np.zeros((len(self.gives), batch.rows), np.int64)
        padding(batch.column(self.attention.column).offsets, attended, numbers)
        return dict(zip(self.gives, numbers, strict=True))


@kernel
def padding(offsets, attended, numbers):  # type: ignore[no-untyped-def]
    """Measure each row's padding. numbers, shape (4, R): left, right, inner, position of the first inner one (-1: none)."""
    for row in range(offsets.size - 1):
        seen = attended[offsets[row] : offsets[row + 1]]
        some = np.int32(0)
        for place in range(seen.size):
            some = np.int32(some + seen[place])
        left, right = 0, 0
        while left < seen.size and not seen[left]:
            left += 1
        while right < seen.size - left and not seen[seen.size - 1 - right]:
            right += 1
        inner, position = seen.size - some - left - right, -1
        place = left
        while inner and position < 0:
            if not seen[place]:
                position = place
            place += 1
        numbers[0, row], numbers[1, row], numbers[2, row], numbers[3, row] = left, right, inner, position


@dataclass(frozen=True)
class PadIds(OfAttended):
    """Pad ids against the mask.

    `attended_left` and `attended_right` are the runs of attended pads at the ends of the attended part, `attended_inner`
    the attended pads between them; `masked_token` is the position of the first id at a masked end that is no pad (-1:
    none). `trailing` is the run of pads at the row's end whatever the mask says; `masked` whether the shard has a mask.
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "attended_left": pl.Int32,
        "attended_right": pl.Int32,
        "attended_inner": pl.Int32,
        "masked_token": pl.Int32,
        "trailing": pl.Int32,
        "masked": pl.Boolean,
    }
    pad: int

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.attention.column)
        attended, _ = self.attention.of(batch)
        numbers = np.zeros((5, batch.rows), np.int64)
        pad_ids(column.values, column.offsets, attended, as_value(column.values, self.pad), numbers)
        masked: npt.NDArray[np.bool_] = np.full(batch.rows, batch.has(self.attention.mask))
        return {**dict(zip(list(self.gives)[:5], numbers, strict=True)), "masked": masked}


@kernel
def pad_ids(values, offsets, attended, pad, numbers):  # type: ignore[no-untyped-def]
    """Compare each row's pad ids with its mask. numbers, shape (5, R), in the order of `PadIds.gives`."""
    for row in range(offsets.size - 1):
        start, stop = offsets[row], offsets[row + 1]
        first, last = start, stop
        masked_token = -1
        while first < stop and attended[first] == 0:
            if masked_token < 0 and values[first] != pad:
                masked_token = first - start
            first += 1
        while last > first and attended[last - 1] == 0:
            last -= 1
        place = last
        while place < stop and masked_token < 0:
            if values[place] != pad:
                masked_token = place - start
            place += 1
        left = first
        while left < last and values[left] == pad and attended[left]:
            left += 1
        right = last
        while right > first and values[right - 1] == pad and attended[right - 1]:
            right -= 1
        between, seen, inner = values[left:right], attended[left:right], np.int32(0)
        for place in range(between.size):
            inner = np.int32(inner + ((between[place] == pad) & (seen[place] != 0)))
        trailing = stop
        while trailing > start and values[trailing - 1] == pad:
            trailing -= 1
        numbers[0, row], numbers[1, row], numbers[2, row] = left - first, last - right, inner
        numbers[3, row], numbers[4, row] = masked_token, stop - trailing
