"""How often given ids occur in a row, and how often a column says that they should."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pyarrow as pa

from dataguard.metrics.base import Attention, Metric, Numbers, OfAttended, kernel
from dataguard.shards.batch import Batch, frozen
from dataguard.shards.roles import is_number
from dataguard.vocabulary.model import Vocabulary

_NO_COUNTS = pl.Series([[]], dtype=pl.List(pl.Int32))


@dataclass(frozen=True)
class Occurrences(OfAttended):
    """Attended occurrences of each of some ids, in the order of the ids."""

    gives: ClassVar[Mapping[str, Any]] = {"counts": pl.List(pl.Int32)}
    tokens: tuple[int, ...]

    @property
    def total(self) -> pl.Expr:
        """Occurrences of all of them; 0 where there are none to look for."""
        return self["counts"].list.sum()

    def count_of(self, token: int) -> pl.Expr:
        """Return how often one of the ids occurs."""
        return self["counts"].list.get(self.tokens.index(token))

    def compute(self, batch: Batch) -> Numbers:
        if not self.tokens:
            return {"counts": _NO_COUNTS.new_from_index(0, batch.rows)}
        column = batch.column(self.attention.column)
        attended, _ = self.attention.of(batch)
        counts = np.zeros((batch.rows, len(self.tokens)), np.int32)
        count_tokens(column.values, column.offsets, attended, frozen(np.array(self.tokens, np.int64)), counts)
        return {"counts": pl.Series(counts, dtype=pl.Array(pl.Int32, len(self.tokens))).cast(pl.List(pl.Int32))}


def unknown(attention: Attention, vocabulary: Vocabulary) -> Occurrences:
    """Return the metric of the unknown tokens among a row's content: none where unk is pad, bos or eos as well."""
    unk = vocabulary.unk
    return Occurrences(attention, () if unk is None or unk in vocabulary.special_ids else (unk,))


@kernel
def count_tokens(values, offsets, attended, tokens, counts):  # type: ignore[no-untyped-def]
    """Count each row's attended occurrences of each id. counts, shape (R, ids), zeros."""
    lowest, highest = tokens.min(), tokens.max()
    for row in range(offsets.size - 1):
        for place in range(offsets[row], offsets[row + 1]):
            token = np.int64(values[place])
            if lowest <= token <= highest and attended[place]:
                for each in range(tokens.size):
                    if tokens[each] == token:
                        counts[row, each] += 1


@dataclass(frozen=True)
class RowNumber(Metric):
    """The one whole number that a column has for each row; `there` is false where it is null."""

    gives: ClassVar[Mapping[str, Any]] = {"number": pl.Int64, "there": pl.Boolean}
    column: str

    def reads(self) -> tuple[str, ...]:
        return (self.column,)

    def accepts(self, role: str, kind: pa.DataType) -> bool:
        return is_number(kind)

    def compute(self, batch: Batch) -> Numbers:
        number, there = batch.scalars(self.column)
        return {"number": number, "there": there}
