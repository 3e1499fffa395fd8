"""What a row holds, as a digest of 128 bits: equal rows have equal ones, whatever type and padding they are stored with.

Each half is a sum of tokens times keys, one key a position (multilinear hashing: no step waits for the one before it), stirred
once a block so that keys may begin anew, and once more with the number of tokens. The keys are fixed and differ between the
halves; two rows of ids below 2^32 that differ share both halves with a chance below 2^-64. It is no defence against somebody
who looks for two such rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.metrics.base import Attention, Metric, Numbers, kernel
from dataguard.shards.batch import Batch, frozen
from dataguard.shards.roles import role_of

BLOCK = 256


def _keys() -> npt.NDArray[np.uint64]:
    """Return odd numbers without a pattern (splitmix64). Shape (2, BLOCK), uint64; stored digests depend on them."""
    state = np.arange(1, 2 * BLOCK + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return frozen(((state ^ (state >> np.uint64(31))) | np.uint64(1)).reshape(2, BLOCK))


KEYS = _keys()


@dataclass(frozen=True)
class Digest(Metric):
    """The digest of a column's values, of those at attended positions where `attention` is given.

    The column is then the attended one itself or goes with it token by token; `paired` is false where a row's columns
    differ in length, or one of them is null.
    """

    gives: ClassVar[Mapping[str, Any]] = {"paired": pl.Boolean, "low": pl.UInt64, "high": pl.UInt64}
    column: str
    attention: Attention | None

    def reads(self) -> tuple[str, ...]:
        return (self.column,) if self.attention is None else (self.attention.column, self.column)

    def may_read(self) -> tuple[str, ...]:
        return () if self.attention is None else (self.attention.mask,)

    def compute(self, batch: Batch) -> Numbers:
        laid_out = batch.column(self.column if self.attention is None else self.attention.column)
        values, paired = laid_out.values, laid_out.nulls == 0
        attended = np.ones(len(values), np.uint8)
        if self.attention is not None:
            attended, attention_paired = self.attention.of(batch)
            paired &= attention_paired
            if self.attention.column != self.column:
                values, beside = batch.beside(self.attention.column, role_of(self.column))
                paired &= beside
        digests = np.zeros((2, batch.rows), np.uint64)
        digest_rows(values, laid_out.offsets, frozen(attended), KEYS, digests)
        return {"paired": paired, "low": digests[0], "high": digests[1]}


@kernel
def stirred(state):  # type: ignore[no-untyped-def]
    """Return 64 bits in which every bit depends on every bit of the state; two states never give the same."""
    state = (state ^ (state >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    state = (state ^ (state >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return state ^ (state >> np.uint64(33))


@kernel
def spread(token):  # type: ignore[no-untyped-def]
    """Return a token as 64 bits whose low half depends on all of them: a product loses what high bits alone say."""
    bits = np.uint64(np.int64(token))
    return bits ^ (bits >> np.uint64(32))


@kernel
def digest_rows(values, offsets, attended, keys, digests):  # type: ignore[no-untyped-def]
    """Write each row's digest. digests, shape (2, R), uint64."""
    low_keys, high_keys = keys[0], keys[1]
    for row in range(offsets.size - 1):
        own, here = values[offsets[row] : offsets[row + 1]], attended[offsets[row] : offsets[row + 1]]
        low, high = np.uint64(0), np.uint64(0)
        whole = True
        for place in range(here.size):
            whole &= here[place] != 0
        seen = own.size if whole else 0
        if whole:  # the same as below without a branch for each token
            for first in range(0, own.size, BLOCK):
                block = own[first : first + BLOCK]
                more_low, more_high = np.uint64(0), np.uint64(0)
                for key in range(block.size):
                    token = spread(block[key])
                    more_low += low_keys[key] * token
                    more_high += high_keys[key] * token
                low, high = low + more_low, high + more_high
                if block.size == BLOCK:
                    low, high = stirred(low), stirred(high)
        else:
            for place in range(own.size):
                if here[place]:
                    token, key = spread(own[place]), seen % BLOCK
                    low += keys[0, key] * token
                    high += keys[1, key] * token
                    seen += 1
                    if key == BLOCK - 1:
                        low, high = stirred(low), stirred(high)
        digests[0, row] = stirred(stirred(low) + np.uint64(seen))
        digests[1, row] = stirred(stirred(high) + np.uint64(seen))
