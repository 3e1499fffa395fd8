"""Ids that can be looked up, and that no token of the tokenizer has, or whose embedding was never trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.metrics.base import Metric, Numbers, kernel
from dataguard.shards.batch import Batch, frozen

Ranges = tuple[tuple[int, int], ...]
"""Ids as half-open ranges, rising and apart: short in a metric's key, whatever their number."""


def ranges_of(ids: Iterable[int]) -> Ranges:
    """Return ids as half-open ranges."""
    found: list[tuple[int, int]] = []
    for each in sorted(set(ids)):
        if found and found[-1][1] == each:
            found[-1] = (found[-1][0], each + 1)
        else:
            found.append((each, each + 1))
    return tuple(found)


@dataclass(frozen=True)
class Unassigned(Metric):
    """Ids of a row inside [0, limit) that no token has, and those that were never trained, at any position.

    `position` and `value` are those of the first unassigned one, else of the first reserved one (-1, 0: none). An id that
    is both is reserved.

    Args:
        size: Ids from it on have no token.
        holes: Ids below it that have none either.
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "unassigned": pl.Int32,
        "reserved": pl.Int32,
        "position": pl.Int32,
        "value": pl.Int64,
    }
    column: str
    size: int
    limit: int
    holes: Ranges
    reserved: Ranges

    def reads(self) -> tuple[str, ...]:
        return (self.column,)

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.column)
        numbers = np.zeros((len(self.gives), batch.rows), np.int64)
        holes, reserved = _edges(self.holes), _edges(self.reserved)
        unassigned(column.values, column.offsets, self.size, self.limit, holes, reserved, numbers)
        return dict(zip(self.gives, numbers, strict=True))


@lru_cache(maxsize=64)
def _edges(ranges: Ranges) -> npt.NDArray[np.int64]:
    """Return where the ranges begin and end, in turn: an id is inside where an odd number of edges stands at or before it."""
    return frozen(np.array(ranges, np.int64).reshape(-1))


@kernel
def inside(token, edges):  # type: ignore[no-untyped-def]
    """Whether an id is in one of the ranges."""
    if edges.size == 0 or token < edges[0] or token >= edges[-1]:
        return False
    return np.searchsorted(edges, token, side="right") % 2 == 1


@kernel
def unassigned(values, offsets, size, limit, holes, reserved, numbers):  # type: ignore[no-untyped-def]
    """Count each row's ids without a token. numbers, shape (4, R), in the order of `Unassigned.gives`."""
    lowest = size
    if holes.size:
        lowest = min(lowest, holes[0])
    if reserved.size:
        lowest = min(lowest, reserved[0])
    for row in range(offsets.size - 1):
        start, stop = offsets[row], offsets[row + 1]
        numbers[0, row], numbers[1, row], numbers[2, row], numbers[3, row] = 0, 0, -1, 0
        if start == stop:
            continue
        own = values[start:stop]
        highest = own[0]
        for place in range(own.size):
            highest = own[place] if own[place] > highest else highest  # noqa: FURB136  # see `kernel`
        if highest < lowest:
            continue  # most rows are done here
        missing, missing_place, untrained, untrained_place = 0, -1, 0, -1
        for place in range(start, stop):
            token = np.int64(values[place])
            if token < lowest or token < 0 or token >= limit:
                continue
            if inside(token, reserved):
                if untrained == 0:
                    untrained_place = place
                untrained += 1
            elif token >= size or inside(token, holes):
                if missing == 0:
                    missing_place = place
                missing += 1
        place = missing_place if missing else untrained_place
        numbers[0, row], numbers[1, row] = missing, untrained
        if place >= 0:
            numbers[2, row], numbers[3, row] = place - start, np.int64(values[place])
