"""The share of a row that repeats itself: tokens covered by n-grams that stood in the row before.

Most rows are told from a part of them. Every n-gram holds one whole gram (a shorter one) at a multiple of a stride; where that
gram has not stood in the row before, no n-gram around it has. So `may_repeat` looks up one gram a stride, in a table of bytes
that stays in cache and knows fingerprints alone: it may take a new gram for an old one, never an old one for a new one. A row
is left as soon as so many of its tokens are new that the rest cannot matter. `count_repeated` counts what remains, and compares
tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import polars as pl

from dataguard.metrics.base import Numbers, OfAttended, kernel
from dataguard.metrics.tables import Flags, flags, white
from dataguard.shards.batch import Batch, frozen
from dataguard.vocabulary.model import CharacterTable

LEAST = 0.7
"""Share below which nobody asks how large it is: finding out costs more."""
MOST_NGRAM = 128
LONGEST_GRAM = 6
STEP = 256
"""Tokens that are fingerprinted at once: what fills a core's widest registers, without a rest."""
MOST_SEEN = 1 << 25
"""Bytes of the table of fingerprints; it has eight or more for each token of a row that is short enough."""
MOST_SLOTS = 1 << 22
"""Slots of the table of places, 4 bytes each; rows of more than four times as many tokens have one for four tokens at least."""
MULTIPLIER = np.uint32(0x9E3779B1)


@dataclass(frozen=True)
class Repetition(OfAttended):
    """Tokens that n-grams cover which stood in the row before, and tokens that could be covered.

    Counted are attended tokens that are neither special nor, where characters are given, white space alone. Special and
    unattended tokens end an n-gram, white space is left out of it. Both numbers are 0 where the share is below `at_least`.
    """

    gives: ClassVar[Mapping[str, Any]] = {"covered": pl.Int32, "counted": pl.Int32}
    special: tuple[int, ...]
    ignored: CharacterTable | None
    ngram: int
    at_least: float = LEAST

    @property
    def share(self) -> pl.Expr:
        """Covered tokens among the counted ones; 0 where there are none."""
        return pl.when(self["counted"] > 0).then(self["covered"] / self["counted"]).otherwise(0.0)

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.attention.column)
        attended, _ = self.attention.of(batch)
        numbers = np.zeros((len(self.gives), batch.rows), np.int64)
        counted = _counted(self.special, self.ignored)
        maybe = np.ones(batch.rows, np.uint8)
        if self.at_least > 0:
            gram = max(1, min(LONGEST_GRAM, self.ngram * 3 // 5))
            may_repeat(column.values, column.offsets, attended, counted, self.ngram, gram, self.at_least, maybe)
        rows = frozen(np.flatnonzero(maybe))
        if rows.size:
            how = counted, _ending(self.special), self.ngram, self.at_least, MOST_SLOTS
            count_repeated(column.values, column.offsets, attended, *how, rows, numbers)
        return dict(zip(self.gives, numbers, strict=True))


@lru_cache(maxsize=8)
def _counted(special: tuple[int, ...], ignored: CharacterTable | None) -> Flags:
    """Return 1 at each id that is counted; the last element stands for all ids behind it and below 0."""
    left_out = flags(special), white(ignored)
    table = np.ones(max(map(len, left_out)) + 1, np.uint8)
    for each in left_out:
        table[: len(each)][each != 0] = 0
    return frozen(table)


@lru_cache(maxsize=8)
def _ending(special: tuple[int, ...]) -> Flags:
    """Return 1 at each id that ends an n-gram; the last element stands for all ids behind it and below 0."""
    return frozen(np.append(flags(special), np.uint8(0)))


@kernel
def fingerprints(tokens, gram, shift, prints):  # type: ignore[no-untyped-def]
    """Write the fingerprint of each gram. tokens, gram more than prints; prints, shape (STEP,), uint32."""
    for i in range(STEP):
        prints[i] = np.uint32(np.uint32(tokens[i]) * MULTIPLIER)
    for j in range(1, gram):
        for i in range(STEP):
            prints[i] = np.uint32((prints[i] + np.uint32(tokens[i + j])) * MULTIPLIER)
    for i in range(STEP):
        prints[i] = prints[i] >> shift


@kernel
def bits_for(places, most):  # type: ignore[no-untyped-def]
    """Return the bits of a table of at least so many places, but no more than hold `most`; at least 10."""
    bits = 10
    while 1 << bits < min(places, most):
        bits += 1
    return bits


@kernel
def may_repeat(values, offsets, attended, counted, ngram, gram, at_least, maybe):  # type: ignore[no-untyped-def]
    """Clear maybe, shape (R,), uint8, ones, in rows whose share is below at_least for certain.

    An old gram at a multiple of the stride makes old n-grams around it possible, stride - 1 tokens to the left and ngram to the
    right; grams that follow one another at that distance add a stride each.
    """
    stride = ngram - gram + 1
    longest = np.int64(0)
    for row in range(offsets.size - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    kept = np.zeros(longest + STEP + gram, values.dtype)
    prints = np.empty(STEP, np.uint32)
    seen = np.zeros(1 << bits_for(8 * longest, MOST_SEEN), np.uint8)
    stamp, used = np.uint8(0), 0
    others = np.uint64(counted.size - 1)
    for row in range(offsets.size - 1):
        own, see = values[offsets[row] : offsets[row + 1]], attended[offsets[row] : offsets[row + 1]]
        bits = bits_for(8 * own.size, MOST_SEEN)
        used = max(used, bits)
        stamp = np.uint8(stamp + 1)
        if stamp == 0:
            seen[: 1 << used] = 0
            stamp, used = np.uint8(1), bits
        size, first, done, old, apart, before = np.uint64(0), 0, 0, 0, 0, np.uint8(0)
        while True:
            ids, here = own[first : first + STEP], see[first : first + STEP]
            for i in range(ids.size):
                kept[size] = ids[i]
                size += np.uint64(counted[min(np.uint64(ids[i]), others)] & here[i])
            first += ids.size
            left = np.int64(size) - gram + 1 - done
            while left >= STEP or (first == own.size and left >= stride):
                fingerprints(kept[done : done + STEP + gram], gram, np.uint32(32 - bits), prints)
                at = np.uint64(0)
                for _ in range(min(left, STEP) // stride):
                    hit = np.uint8(seen[prints[at]] == stamp)
                    old += hit
                    apart += hit & (before ^ np.uint8(1))
                    before = hit
                    for i in range(at, at + np.uint64(stride)):
                        seen[prints[i]] = stamp
                    at += np.uint64(stride)
                done += np.int64(at)
                left -= np.int64(at)
            most = np.int64(size) + own.size - first
            new = max(0, done + 1 - stride) - (stride * old + (ngram - 1) * apart)
            if most - new + 1 <= at_least * most:
                maybe[row] = 0
                break
            if first == own.size:
                break


@kernel
def count_repeated(values, offsets, attended, counted, ending, ngram, at_least, most_slots, rows, numbers):  # type: ignore[no-untyped-def]
    """Count the covered and the counted tokens of some rows. numbers, shape (2, R), int64, zeros, as `Repetition.gives`.

    The table holds where an n-gram stood first. It takes half as many of them as it has slots, so long rows need several
    passes: each enters the n-grams of one stretch, and looks up what comes behind.
    """
    longest = np.int64(0)
    for row in rows:
        longest = max(longest, offsets[row + 1] - offsets[row])
    kept, begins = np.zeros(longest + STEP + ngram, values.dtype), np.empty(longest + 1, np.int32)
    repeated = np.zeros(longest, np.uint8)
    prints = np.empty(STEP, np.uint32)
    most_slots = max(most_slots, longest // 4)
    table = np.empty(1 << bits_for(2 * longest, most_slots), np.int32)
    never = np.uint64(1 << 32)
    others, other_ends = np.uint64(counted.size - 1), np.uint64(ending.size - 1)
    for row in rows:
        own, see = values[offsets[row] : offsets[row + 1]], attended[offsets[row] : offsets[row + 1]]
        place, begin = np.uint64(0), np.uint64(0)
        for i in range(own.size):
            kept[place], begins[place] = own[i], begin
            place += np.uint64(counted[min(np.uint64(own[i]), others)] & see[i])
            begin = place if ending[min(np.uint64(own[i]), other_ends)] or not see[i] else begin
        size = np.int64(place)
        bits = bits_for(2 * size, most_slots)
        slots, mask = table[: 1 << bits], np.uint64((1 << bits) - 1)
        repeated[:size] = 0
        covered, until, entered, above, other = 0, 0, 0, True, never
        while entered < size and above:
            slots[:] = -1
            stop = min(size, entered + (slots.size >> 1))
            for first in range(entered, size - ngram + 1, STEP):
                fingerprints(kept[first : first + STEP + ngram], ngram, np.uint32(32 - bits), prints)
                behind = min(first + STEP, size - ngram + 1)
                for at in range(np.uint64(first), np.uint64(behind)):
                    end = at + np.uint64(ngram - 1)
                    if begins[end] > at or repeated[at]:
                        other = never
                    else:
                        other += np.uint64(other != never)
                        there = other + np.uint64(ngram - 1)
                        if other == never or kept[there] != kept[end] or begins[there] > other:
                            other = never
                            slot = np.uint64(prints[at - np.uint64(first)])
                            while slots[slot] >= 0:
                                other, same = np.uint64(slots[slot]), True
                                for i in range(np.uint64(ngram)):
                                    if kept[other + i] != kept[at + i]:
                                        same = False
                                        break
                                if same:
                                    break
                                other = never
                                slot = (slot + np.uint64(1)) & mask
                            if other == never and at < stop:
                                slots[slot] = at
                        repeated[at] = other != never
                    if repeated[at] and at < stop:
                        covered += np.int64(end) + 1 - max(np.int64(at), until)
                        until = np.int64(end) + 1
                if size - (min(behind, stop) - covered) + 1 <= at_least * size:
                    above = False
                    break
            entered = stop
        if above and covered >= at_least * size:
            numbers[0, row], numbers[1, row] = covered, size
