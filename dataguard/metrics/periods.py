"""The longest repetition of a short pattern in a row.

For a period p the longest run L of x[i] == x[i + p] spans L + p tokens, that is (L + p) // p repeats. OLMo-core's
instance filter (`find_periodic_sequences`) rejects at 32 repeats of a period up to 13; on rows without special tokens, and with
white space counted, the numbers here give the same verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from dataguard.metrics.base import Numbers, OfAttended, kernel
from dataguard.metrics.tables import flags, white
from dataguard.shards.batch import Batch, attention_of
from dataguard.vocabulary.model import CharacterTable

LEAST = 16
"""Repeats below which nobody asks how many: so few are everywhere, and finding them costs more."""


@dataclass(frozen=True)
class Periods(OfAttended):
    """Repeats, period and position of the pattern that stands most often in a row.

    0, 0 and -1 where no pattern stands `at_least` so often (2 is all that there are). Special and unattended tokens break a
    run; patterns of nothing but white-space ids do not count where characters are given.

    With `spare_ends`, in shards without a mask, a run of one id that fills an end of the row, but not all of its content, may be
    padding: it is no pattern, and `padding` is the longest one (0: none of `at_least` so many ids).
    """

    version: ClassVar[int] = 3
    gives: ClassVar[Mapping[str, Any]] = {
        "repeats": pl.Int32,
        "period": pl.Int32,
        "position": pl.Int32,
        "padding": pl.Int32,
    }
    special: tuple[int, ...]
    ignored: CharacterTable | None
    max_period: int
    at_least: int = LEAST
    spare_ends: bool = False

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.attention.column)
        attended, _ = self.attention.of(batch)
        numbers = np.zeros((len(self.gives), batch.rows), np.int64)
        tables = flags(self.special), white(self.ignored)
        spare = self.spare_ends and attention_of(batch, self.attention.column) is None
        periods(column.values, column.offsets, attended, *tables, self.max_period, self.at_least, spare, numbers)
        return dict(zip(self.gives, numbers, strict=True))


@kernel
def periods(values, offsets, attended, special, white, max_period, at_least, spare, numbers):  # type: ignore[no-untyped-def]
    """Find each row's most repeated pattern. numbers, shape (4, R), as `Periods.gives`.

    spare: whether runs of one id at one end of a row are no patterns.

    A pattern of period p that stands n times is a run of at least (n - 1) * p places i at which x[i] equals x[i + p]. Such a
    run covers a multiple of its own length: only those places are looked at, and a run is followed to both sides from there.
    All stands in one function: numba counts references to every array that it hands to another, which costs ten times the
    work.
    """
    for row in range(offsets.size - 1):
        start, stop = offsets[row], offsets[row + 1]
        repeats, period, position, padding = 0, 0, -1, 0
        for p in range(1, min(max_period, stop - start - 1) + 1):
            stride = (at_least - 1) * p
            i = start
            while i + p < stop:
                token = values[i]
                if token != values[i + p] or not attended[i] or not attended[i + p]:
                    i += stride
                    continue
                if 0 <= token < special.size and special[token]:
                    i += stride
                    continue
                visible = False
                for place in range(i, i + p):
                    token = values[place]
                    if not (0 <= token < white.size and white[token]):
                        visible = True
                        break
                if not visible:
                    i += stride
                    continue
                first, last = i, i + 1
                while first > start:
                    token = values[first - 1]
                    if token != values[first - 1 + p] or not attended[first - 1] or not attended[first - 1 + p]:
                        break
                    if 0 <= token < special.size and special[token]:
                        break
                    first -= 1
                while last + p < stop:
                    token = values[last]
                    if token != values[last + p] or not attended[last] or not attended[last + p]:
                        break
                    if 0 <= token < special.size and special[token]:
                        break
                    last += 1
                times = (last - first + p) // p
                if spare and times >= at_least and (first == start or last + p == stop):
                    is_one = True
                    for place in range(first + 1, first + p):
                        is_one = is_one and values[place] == values[first]
                    if is_one and p > 1:
                        times = 0  # it was judged as a run of period 1
                    for place in range(start, stop if p == 1 else start):
                        token = values[place]
                        if not first <= place <= last and not (0 <= token < special.size and special[token]):
                            padding, times = max(padding, times), 0
                            break
                if times >= at_least and times > repeats:
                    repeats, period, position = times, p, first - start
                i += stride * ((last - i) // stride + 1)
        numbers[0, row], numbers[1, row], numbers[2, row], numbers[3, row] = repeats, period, position, padding
