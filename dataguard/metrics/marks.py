"""Replacement and control characters of a text.

One pass over the text's bytes; stretches of nothing but plain ASCII are passed over 32 bytes at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.metrics.base import kernel
from dataguard.metrics.text import BREAK, OfText, Piece, character

STRIDE = 32
"""Bytes that are looked at together; some must be no plain ASCII before each is."""
MOST_CUT = 3
"""Bytes that may be left of a character whose beginning is gone."""
CHARACTERS, REPLACED, REPLACED_AT, START, START_AT, END, END_AT, CONTROLS, CONTROL_AT, CONTROL = range(10)
"""Rows of the kernel's numbers."""


@dataclass(frozen=True)
class Marks(OfText):
    """Replacement and control characters of a row's text.

    - `characters`: of the text, as a decoder shows it: bytes that make none are one U+FFFD for each stretch that Python's
      decoder replaces by one.
    - `replaced`: U+FFFD, those included, and `replaced_at` the first; but neither the rest of a character at the very start
      (`cut_start`: its bytes, three at most) nor the beginning of one at the very end (`cut_end`: 0 or 1).
    - `controls`: Unicode's Cc but tab, line feed and carriage return; `control` is the first one's code point (-1: none).
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "present": pl.Boolean,
        "characters": pl.Int64,
        "replaced": pl.Int64,
        "replaced_at": pl.Int32,
        "cut_start": pl.Int32,
        "cut_start_at": pl.Int32,
        "cut_end": pl.Int32,
        "cut_end_at": pl.Int32,
        "controls": pl.Int64,
        "control_at": pl.Int32,
        "control": pl.Int32,
    }
    positions: ClassVar[tuple[str, ...]] = ("replaced_at", "cut_start_at", "cut_end_at", "control_at")

    def count(self, pieces: Iterable[Piece], numbers: npt.NDArray[np.int64], *, spaced: bool) -> None:
        state = np.zeros(2, np.int64)
        numbers[CONTROL] = -1
        for piece in pieces:
            count_marks(*piece, state, numbers)


@kernel
def count_marks(data, offsets, first_row, begins, ends, state, numbers):  # type: ignore[no-untyped-def]
    """Count each row's characters that should not be there. numbers, shape (10, R), int64, as `Marks.gives` behind `present`.

    state, shape (2,), int64, of the row that goes on in the next piece: where the piece begins in the row's text, and the bytes
    of a cut character that it began with: -1 once anything else has come.
    """
    for place in range(offsets.size - 1):
        row, start, stop = first_row + place, offsets[place], offsets[place + 1]
        if place or begins:
            state[:] = 0
        base, cut = state[0] - start, state[1]
        is_through = ends or place < offsets.size - 2
        at = start
        while at < stop:
            if at + STRIDE <= stop:
                odd = np.uint8(0)
                for k in range(STRIDE):
                    byte = data[at + k]
                    plain = (np.uint8(byte - 32) < 95) | (np.uint8(byte - 9) < 2) | (byte == 13)
                    odd |= np.uint8(not plain)
                if not odd:
                    numbers[CHARACTERS, row] += STRIDE
                    at += STRIDE
                    cut = np.int64(-1)
                    continue
            limit = min(at + STRIDE, stop)
            while at < limit:
                first = np.int64(data[at])
                second = np.int64(data[at + 1]) if at + 1 < stop else 0
                third = np.int64(data[at + 2]) if at + 2 < stop else 0
                fourth = np.int64(data[at + 3]) if at + 3 < stop else 0
                code, taken = character(first, second, third, fourth)
                here = base + at
                at += taken
                if first == BREAK:
                    cut = np.int64(-1)
                    continue
                numbers[CHARACTERS, row] += 1
                if code < 0 and 0 <= cut < MOST_CUT and first & 0xC0 == 0x80:
                    cut += 1
                    numbers[START, row], numbers[START_AT, row] = cut, 0
                    continue
                cut = np.int64(-1)
                if code < 0 and is_through and at == stop and wanted(first) > taken:
                    numbers[END, row], numbers[END_AT, row] = 1, here
                elif code < 0 or code == 0xFFFD:
                    numbers[REPLACED, row] += 1
                    if numbers[REPLACED_AT, row] < 0:
                        numbers[REPLACED_AT, row] = here
                elif code < 0x20 or 0x7F <= code < 0xA0:
                    if code == 9 or code == 10 or code == 13:  # noqa: PLR1714  # numba has no sets that are fast
                        continue
                    numbers[CONTROLS, row] += 1
                    if numbers[CONTROL_AT, row] < 0:
                        numbers[CONTROL_AT, row], numbers[CONTROL, row] = here, code
        state[0], state[1] = base + stop, cut


@kernel
def wanted(first):  # type: ignore[no-untyped-def]
    """Return how many bytes a character has that begins with this one; 0 where none does."""
    if first < 0x80:
        return 1
    if first < 0xC2 or first > 0xF4:
        return 0
    return 2 if first < 0xE0 else 3 if first < 0xF0 else 4
