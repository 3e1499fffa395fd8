"""How a row's ids may have been stored: signs of a wrong width, byte order or sign in the numbers themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from dataguard.metrics.base import Metric, Numbers, as_value, kernel
from dataguard.shards.batch import Batch

NO_VOCABULARY = 1 << 20
"""Ids that a vocabulary of which nothing is known has at most: the largest tokenizers have a few hundred thousand."""
USUAL_HALF = 3
"""The largest high half of such ids: few vocabularies have more than 262,144."""
LEAST_WRAPPED = -1024
"""Negative ids above it are sentinels of somebody (-1, -100, -200), not ids that lost their sign."""
_INT64_MAX = np.iinfo(np.int64).max
_FEW_IN_LOW = 8
"""Rows of which fewer than one id in so many has a low byte below 4, and whose ids are all in range, show no sign."""


@dataclass(frozen=True)
class EncodingSigns(Metric):
    """Signs in a row's ids of how they were stored, at any position, masked ones too.

    Runs of one id at both ends (padding, or a row of nothing else) count as one token. Rows of fewer than `min_tokens` tokens
    have no pattern: what is counted up to `high` is 0 there.

    `span` is the length from the first id that is no high half to the last one, where at least two of them differ; a high
    half is 0 up to what the limit needs, or a sign (-1, 65535). `odd_halves` and `even_halves` are the high halves in it, at
    odd and even distance from its begin. `low` counts the ids but 0 whose low byte is below 4, `high` those below 1,024.

    `outside` are the ids outside [0, limit), `swapped` those of them that are inside with their bytes in the other order,
    `packed` those that are two or four ids in one number, `wrapped` those that are inside when 65,536 is added,
    `negative` all below 0, and `ignored` those that -100 becomes in an unsigned type. `low_values` and `outside_values` have a
    bit of 64 for each different id among `low` and `outside`, which two may share: of how many they tell at least.

    All but `tokens` are 0 where a first look shows no sign.
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "tokens": pl.Int32,
        "span": pl.Int32,
        "odd_halves": pl.Int32,
        "even_halves": pl.Int32,
        "low": pl.Int32,
        "high": pl.Int32,
        "outside": pl.Int32,
        "swapped": pl.Int32,
        "packed": pl.Int32,
        "wrapped": pl.Int32,
        "negative": pl.Int32,
        "ignored": pl.Int32,
        "low_values": pl.Int64,
        "outside_values": pl.Int64,
    }
    column: str
    limit: int | None
    min_tokens: int

    def reads(self) -> tuple[str, ...]:
        return (self.column,)

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.column)
        numbers = np.zeros((len(self.gives), batch.rows), np.int64)
        limit, largest_half = (
            (NO_VOCABULARY, USUAL_HALF) if self.limit is None else (self.limit, (self.limit - 1) >> 16)
        )
        high_bits = as_value(column.values, 0xFC)
        signs(column.values, column.offsets, high_bits, limit, largest_half, self.min_tokens, numbers)
        return dict(zip(self.gives, numbers, strict=True))


@kernel
def swapped_bytes(value, count):  # type: ignore[no-untyped-def]
    """Return the lowest `count` bytes of a number in the other order."""
    rest, turned = np.uint64(value), np.uint64(0)
    for _ in range(count):
        turned = (turned << np.uint64(8)) | (rest & np.uint64(255))
        rest >>= np.uint64(8)
    return turned


@kernel
def bytes_of(value):  # type: ignore[no-untyped-def]
    """Return how many bytes a number was read from: 2, 4 or 8, the fewest that hold it."""
    if -(1 << 15) <= value < 1 << 16:
        return 2
    return 4 if -(1 << 31) <= value < 1 << 32 else 8


@kernel
def bit_of(value):  # type: ignore[no-untyped-def]
    """Return one bit of 64, the same for the same number."""
    return np.int64(1) << np.int64((np.uint64(value) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(58))


@kernel
def is_packed(value, limit):  # type: ignore[no-untyped-def]
    """Whether a number is several ids of 16 or 32 bits in one; ids of other, larger vocabularies are not.

    Those have few values in their high half, and where the limit is large their low half is mostly in range too.
    """
    low, high = value & 0xFFFFFFFF, (value >> 32) & 0xFFFFFFFF
    if high > 0 and low < limit and high < limit:
        return True
    if limit > 1 << 16:
        return False
    least = 4 if limit > 1 << 14 else 1
    first, second, third, last = value & 0xFFFF, (value >> 16) & 0xFFFF, (value >> 32) & 0xFFFF, (value >> 48) & 0xFFFF
    if first >= limit or second >= limit or third >= limit or last >= limit:
        return False
    return last >= least or (last == 0 and third == 0 and second >= least)


@kernel
def is_half(token, largest):  # type: ignore[no-untyped-def]
    """Whether a number may be the high half of an id: 0 to `largest`, or nothing but a sign."""
    return 0 <= token <= largest or token in (-1, 0xFFFF)


@kernel
def halves(own, largest, numbers, row):  # type: ignore[no-untyped-def]
    """Count a row's high halves by the parity of their place; numbers[1:4, row] are written."""
    begin, last = -1, -1
    varied = False
    for place in range(own.size):
        token = np.int64(own[place])
        if not is_half(token, largest):
            if begin < 0:
                begin = place
            varied = varied or token != np.int64(own[begin])
            last = place
    if not varied:
        return
    numbers[1, row] = last - begin + 1
    for place in range(begin, last + 1):
        if is_half(np.int64(own[place]), largest):
            numbers[3 - (place - begin) % 2, row] += 1


@kernel
def outsiders(own, limit, numbers, row):  # type: ignore[no-untyped-def]
    """Count a row's ids outside the limit by what they may be; numbers[6:12, row] are written. Returns their bits."""
    seen = np.int64(0)
    for place in range(own.size):
        token = np.int64(own[place])
        if 0 <= token < limit:
            continue
        numbers[6, row] += 1
        seen |= bit_of(token)
        if not LEAST_WRAPPED <= token < 0:
            numbers[7, row] += swapped_bytes(token, bytes_of(token)) < np.uint64(limit)
        numbers[8, row] += token >= 0 and is_packed(token, limit)
        numbers[9, row] += token < LEAST_WRAPPED and 0 <= token + (1 << 16) < limit
        numbers[10, row] += token < 0
        numbers[11, row] += token in ((1 << 16) - 100, (1 << 32) - 100, _INT64_MAX)
    return seen


@kernel
def low_bytes(own, numbers, row):  # type: ignore[no-untyped-def]
    """Count a row's ids with a low byte below 4, and those below 1,024; numbers[4:6, row] are written. Returns their bits."""
    seen = np.int64(0)
    for place in range(own.size):
        token = np.int64(own[place])
        if token == 0:
            continue
        numbers[5, row] += 0 < token < 1024
        if token & 0xFC == 0:
            numbers[4, row] += 1
            seen |= bit_of(token)
    return seen


@kernel
def signs(values, offsets, high_bits, limit, largest_half, min_tokens, numbers):  # type: ignore[no-untyped-def]
    """Look for signs in every row. numbers, shape (14, R), zeros, in the order of `EncodingSigns.gives`.

    high_bits: those of a low byte that is 4 or more, in the values' type.
    Most rows are done after a first loop that has no branches.
    """
    nothing = high_bits ^ high_bits
    for row in range(offsets.size - 1):
        whole = values[offsets[row] : offsets[row + 1]]
        begin, end = 0, whole.size
        while end > 1 and whole[end - 1] == whole[end - 2]:
            end -= 1
        while begin + 1 < end and whole[begin] == whole[begin + 1]:
            begin += 1
        own = whole[begin:end]
        numbers[0, row] = own.size
        if own.size == 0:
            continue
        smallest, largest, low = own[0], own[0], np.int32(0)
        for place in range(own.size):
            token = own[place]
            smallest = token if token < smallest else smallest  # noqa: FURB136  # see `kernel`
            largest = token if token > largest else largest  # noqa: FURB136
            low = np.int32(low + ((token & high_bits) == nothing))
        is_outside = smallest < 0 or largest >= limit
        if is_outside:
            numbers[13, row] = outsiders(own, limit, numbers, row)
        if whole.size >= min_tokens and (is_outside or low * _FEW_IN_LOW >= own.size):
            halves(own, largest_half, numbers, row)
            numbers[12, row] = low_bytes(own, numbers, row)
