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

from dataguard.metrics.base import Attention, Metric, Numbers, kernel
from dataguard.metrics.tables import flags, white
from dataguard.shards.batch import Batch
from dataguard.vocabulary.model import CharacterTable


@dataclass(frozen=True)
class Periods(Metric):
    """Repeats, period and position of the pattern that stands most often in a row (0, 0, -1: nothing stands twice).

    Special and unattended tokens break a run; patterns of nothing but white-space ids do not count where characters are
    given.
    """

    gives: ClassVar[Mapping[str, Any]] = {"repeats": pl.Int32, "period": pl.Int32, "position": pl.Int32}
    attention: Attention
    special: tuple[int, ...]
    ignored: CharacterTable | None
    max_period: int

    def reads(self) -> tuple[str, ...]:
        return (self.attention.column,)

    def may_read(self) -> tuple[str, ...]:
        return (self.attention.mask,)

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.attention.column)
        attended, _ = self.attention.of(batch)
        numbers = np.zeros((len(self.gives), batch.rows), np.int64)
        content = np.empty(int(column.lengths.max(initial=0)), np.int64)
        tables = flags(self.special), white(self.ignored)
        periods(column.values, column.offsets, attended, *tables, self.max_period, content, numbers)
        return dict(zip(self.gives, numbers, strict=True))


@kernel
def periods(values, offsets, attended, special, white, max_period, content, numbers):  # type: ignore[no-untyped-def]
    """Find each row's most repeated pattern. content: room for the longest row. numbers, shape (3, R), as `Periods.gives`."""
    for row in range(offsets.size - 1):
        start = offsets[row]
        size = offsets[row + 1] - start
        for i in range(size):
            token = np.int64(values[start + i])
            if attended[start + i] == 0 or (0 <= token < special.size and special[token]):
                token = -(np.int64(1) << 62) - i  # equal to nothing
            content[i] = token
        repeats, period, position = 0, 0, -1
        for p in range(1, min(max_period, size - 1) + 1):
            run, visible = 0, False
            for i in range(size - p + 1):
                if i < size - p and content[i] == content[i + p]:
                    run += 1
                    token = content[i]
                    visible = visible or not (0 <= token < white.size and white[token])
                elif run:
                    times = (run + p) // p
                    if visible and times > 1 and times > repeats:
                        repeats, period, position = times, p, i - run
                    run, visible = 0, False
        numbers[0, row], numbers[1, row], numbers[2, row] = repeats, period, position
