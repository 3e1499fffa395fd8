"""Lines of a text that it has had before.

Gopher's rule, as datatrove computes it (`gopher_repetition_filter.find_duplicates`): a text is split at runs of line feeds, the
first copy of a line is none, and shares are of all lines, and of all characters with white space. Lines of nothing but white
space are no lines here; there they are compared with each other, so that blank lines make clean text look repetitive
(huggingface/datatrove#273).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.metrics.base import kernel
from dataguard.metrics.text import BREAK, OfText, Piece, character, load
from dataguard.vocabulary.characters import WHITE, code_point_classes

ONE, OTHER = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F
"""Odd numbers by which the two halves of a line's digest are multiplied."""
SLOTS = 1 << 10
LINE_FEED = 10
EACH = 0x0101010101010101
"""Times a byte: eight of it."""
_SEED = secrets.randbits(62)
"""Where lines stand in the table differs from process to process, so that nobody can write lines that all meet in one place. What
is found does not depend on it."""


@dataclass(frozen=True)
class Lines(OfText):
    """Lines of a row's text that are not blank, and those of them that stood there before.

    `characters` are those of the whole text, line feeds too; `repeated_at` is where the first copy begins (-1: none). Lines are
    compared by a digest of 128 bits.
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "present": pl.Boolean,
        "lines": pl.Int64,
        "repeated": pl.Int64,
        "characters": pl.Int64,
        "repeated_characters": pl.Int64,
        "repeated_at": pl.Int32,
    }
    positions: ClassVar[tuple[str, ...]] = ("repeated_at",)

    def count(self, pieces: Iterable[Piece], numbers: npt.NDArray[np.int64], *, spaced: bool) -> None:
        state, slots = np.zeros(10, np.uint64), np.zeros((SLOTS, 3), np.uint64)
        for piece in pieces:
            slots = count_lines(*piece, code_point_classes(), np.uint64(_SEED), state, slots, numbers)


@kernel
def count_lines(data, offsets, first_row, begins, ends, classes, seed, state, slots, numbers):  # type: ignore[no-untyped-def]
    """Count each row's lines. numbers, shape (5, R), int64, as `Lines.gives` behind `present`.

    slots, shape (2^n, 3), uint64: the lines of the row that is being read, by the two halves of their digest, and the row's
    number + 1; those of other rows are free. It is returned, or a larger one in its place.
    state, shape (10,), uint64: of the row that goes on in the next piece: where the piece begins in the row's text; of the line
    that goes on there: the two halves of its digest, bytes that wait to make eight, how many those are, bytes in all, characters,
    whether any is visible, where it begins; and how many lines the table has.
    """
    zero = np.uint64(0)
    for place in range(offsets.size - 1):
        row, start, stop = first_row + place, offsets[place], offsets[place + 1]
        if place or begins:
            state[:] = zero
            state[1], state[2] = np.uint64(ONE), np.uint64(OTHER)
        base, one, other, wait = np.int64(state[0]), state[1], state[2], state[3]
        waiting, size, length = np.int64(state[4]), np.int64(state[5]), np.int64(state[6])
        visible, began, known = state[7] != zero, np.int64(state[8]), np.int64(state[9])
        is_last = ends or place < offsets.size - 2
        at = start
        while at < stop or (is_last and at == stop):
            if size == 0:
                began = base + at - start
            begin = at
            while waiting == 0 and at + 8 <= stop:  # eight bytes of plain ASCII, and no line feed among them
                word = load(data, at)
                feeds = word ^ np.uint64(LINE_FEED * EACH)
                if (word | (feeds - np.uint64(EACH)) & ~feeds) & np.uint64(0x80 * EACH):
                    break
                one = (one ^ word) * np.uint64(ONE)
                other = (other + word) * np.uint64(OTHER)
                one ^= one >> np.uint64(29)
                other ^= other >> np.uint64(32)
                k = at
                while not visible and k < at + 8:
                    visible = classes[data[k]] != WHITE
                    k += 1
                at += 8
            length += at - begin
            end, high = at, np.uint8(0)
            while end < stop and data[end] != LINE_FEED and data[end] != BREAK:
                high |= data[end]
                end += 1
            k = at
            if high < 0x80:
                length += end - at
                while not visible and k < end:
                    visible = classes[data[k]] != WHITE
                    k += 1
            while high >= 0x80 and k < end:
                second = np.int64(data[k + 1]) if k + 1 < end else 0
                third = np.int64(data[k + 2]) if k + 2 < end else 0
                fourth = np.int64(data[k + 3]) if k + 3 < end else 0
                code, taken = character(np.int64(data[k]), second, third, fourth)
                k += taken
                if code >= 0:
                    length += 1
                    visible = visible or classes[code] != WHITE
            size += end - begin
            k = at
            while k < end:
                if waiting or end - k < 8:
                    wait |= np.uint64(data[k]) << np.uint64(8 * waiting)
                    waiting, k = waiting + 1, k + 1
                    if waiting < 8:
                        continue
                else:
                    wait = load(data, k)
                    k += 8
                one = (one ^ wait) * np.uint64(ONE)
                other = (other + wait) * np.uint64(OTHER)
                one ^= one >> np.uint64(29)
                other ^= other >> np.uint64(32)
                wait, waiting = zero, 0
            if end == stop and not is_last:
                break
            numbers[2, row] += length
            if end < stop and data[end] == LINE_FEED:
                numbers[2, row] += 1
            if visible:
                for last in (wait, np.uint64(size)):
                    one = (one ^ last) * np.uint64(ONE)
                    other = (other + last) * np.uint64(OTHER)
                    one ^= one >> np.uint64(29)
                    other ^= other >> np.uint64(32)
                numbers[0, row] += 1
                own, mask = np.uint64(row + 1), np.uint64(slots.shape[0] - 1)
                slot = ((one ^ seed) * (other | np.uint64(1))) >> np.uint64(20) & mask
                while slots[slot, 2] == own and (slots[slot, 0] != one or slots[slot, 1] != other):
                    slot = (slot + np.uint64(1)) & mask
                if slots[slot, 2] == own:
                    numbers[1, row] += 1
                    numbers[3, row] += length
                    if numbers[4, row] < 0:
                        numbers[4, row] = began
                else:
                    slots[slot, 0], slots[slot, 1], slots[slot, 2] = one, other, own
                    known += 1
                    if 2 * known > slots.shape[0]:
                        larger = np.zeros((2 * slots.shape[0], 3), np.uint64)
                        mask = np.uint64(larger.shape[0] - 1)
                        for k in range(slots.shape[0]):
                            if slots[k, 2] != own:
                                continue
                            slot = ((slots[k, 0] ^ seed) * (slots[k, 1] | np.uint64(1))) >> np.uint64(20) & mask
                            while larger[slot, 2] == own:
                                slot = (slot + np.uint64(1)) & mask
                            larger[slot] = slots[k]
                        slots = larger
            one, other, wait, waiting = np.uint64(ONE), np.uint64(OTHER), zero, 0
            size, length, visible = 0, 0, False
            at = end + 1
        state[0] = np.uint64(base + stop - start)
        state[1], state[2], state[3], state[4], state[5] = one, other, wait, np.uint64(waiting), np.uint64(size)
        state[6], state[7], state[8] = np.uint64(length), np.uint64(visible), np.uint64(began)
        state[9] = np.uint64(known)
    return slots
