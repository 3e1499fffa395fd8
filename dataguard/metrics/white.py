"""Ids of a row that stand for white space alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import polars as pl

from dataguard.metrics.base import Numbers, OfAttended, kernel
from dataguard.metrics.tables import Flags, white
from dataguard.shards.batch import Batch, frozen
from dataguard.vocabulary.model import CharacterTable


@dataclass(frozen=True)
class WhiteSpace(OfAttended):
    """Attended ids that are no special tokens and stand for white space and nothing else."""

    gives: ClassVar[Mapping[str, Any]] = {"white": pl.Int32}
    special: tuple[int, ...]
    characters: CharacterTable

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.attention.column)
        attended, _ = self.attention.of(batch)
        counts = np.zeros(batch.rows, np.int64)
        count_flagged(column.values, column.offsets, attended, _white_content(self.characters, self.special), counts)
        return {"white": counts}


@lru_cache(maxsize=4)
def _white_content(characters: CharacterTable, special: tuple[int, ...]) -> Flags:
    """Return 1 at each id of white space that is no special token; the last element stands for ids that it does not have."""
    table = np.append(white(characters), np.uint8(0))
    table[[token for token in special if token < table.size]] = 0
    return frozen(table)


@kernel
def count_flagged(values, offsets, attended, flagged, counts):  # type: ignore[no-untyped-def]
    """Count each row's attended ids that a table flags; its last element stands for all ids behind it and below 0."""
    others = np.uint64(flagged.size - 1)
    for row in range(offsets.size - 1):
        own, seen = values[offsets[row] : offsets[row + 1]], attended[offsets[row] : offsets[row + 1]]
        count = np.int64(0)
        for place in range(own.size):
            count += flagged[min(np.uint64(own[place]), others)] & seen[place]
        counts[row] = count
