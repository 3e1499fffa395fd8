"""Which ids a row uses, as counts by ranges of ids.

A vocabulary is learned in the order of frequency, so that ranges which double (0 to 63, to 127, to 255, ...) hold shares of
text that can be compared: other languages, other domains and other tokenizers move them. They are the same whatever the
vocabulary, take 56 bytes a row, and are counted only where somebody asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from dataguard.metrics.base import Numbers, OfAttended, kernel
from dataguard.shards.batch import Batch, frozen

FIRST, LAST = 6, 18
EDGES = tuple(1 << power for power in range(FIRST, LAST + 1))
"""Range r holds the ids from EDGES[r - 1] up to EDGES[r]; the first one whatever is below, the last one whatever is beyond."""
NAMES = tuple(f"ids_from_{edge}" for edge in (0, *EDGES))
_RANGES = frozen(np.searchsorted(EDGES, np.arange((EDGES[-1] >> FIRST) + 1) << FIRST, side="right").astype(np.uint8))
"""The range of the ids from 64 * i up to 64 * (i + 1)."""


@dataclass(frozen=True)
class TokenUse(OfAttended):
    """A row's attended ids, counted by ranges of ids; all 0 where ids and mask do not pair."""

    gives: ClassVar[Mapping[str, Any]] = dict.fromkeys(NAMES, pl.Int32)

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.attention.column)
        attended, _ = self.attention.of(batch)
        counts = np.zeros((len(NAMES), batch.rows), np.int64)
        count_by_range(column.values, column.offsets, attended, _RANGES, counts)
        return dict(zip(NAMES, counts, strict=True))


@kernel
def count_by_range(values, offsets, attended, ranges, counts):  # type: ignore[no-untyped-def]
    """Count each row's attended ids by range. counts, shape (ranges, R), zeros."""
    last = ranges.size - 1
    found = np.zeros(counts.shape[0], np.int64)
    for row in range(offsets.size - 1):
        own, seen = values[offsets[row] : offsets[row + 1]], attended[offsets[row] : offsets[row + 1]]
        found[:] = 0
        for place in range(own.size):
            block = np.int64(own[place]) >> FIRST
            block = max(block, 0)
            block = min(block, last)
            found[ranges[block]] += seen[place]
        counts[:, row] = found
