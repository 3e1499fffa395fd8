"""What should not stand in a text: replacement characters, control characters and mojibake.

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
from dataguard.metrics.mojibake import (
    BYTES,
    CASES,
    IF_LETTER,
    IF_SPACE,
    NO,
    QUOTE,
    SMALL,
    SPACE,
    WEAK_CAPITAL,
    WEAK_SMALL,
    YES,
    alone,
    bytes_of_characters,
    cases,
    weaknesses,
)
from dataguard.metrics.text import BREAK, OfText, Piece, character
from dataguard.vocabulary.characters import LETTER, WHITE, code_point_classes

STRIDE = 32
"""Bytes that are looked at together; some must be no plain ASCII before each is."""
STATE = 17
REPLACED, REPLACED_AT, START, START_AT, END, END_AT, CONTROL, CONTROL_AT, CONTROL_CODE, MOJIBAKE, MOJIBAKE_AT, CHARACTERS = range(12)
"""Rows of the kernel's numbers, as `Marks.gives` has them behind `present`."""


@dataclass(frozen=True)
class Marks(OfText):
    """Replacement characters, control characters and mojibake of a row's text.

    - `characters`: of the text, as a decoder shows it: bytes that make none are one U+FFFD for each stretch that Python's
      decoder replaces by one.
    - `replaced`: U+FFFD, those included, and `replaced_at` the first; but neither half a character at the very start
      (`cut_start`: as many bytes of it, three at most, as are left) nor one at the very end (`cut_end`: 0 or 1).
    - `controls`: Unicode's Cc but tab, line feed and carriage return; `control` is the first one's code point (-1: none).
    - `mojibake`: characters of UTF-8 that were read as Latin-1 or CP1252 (`metrics.mojibake`).
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "present": pl.Boolean,
        "replaced": pl.Int64,
        "replaced_at": pl.Int32,
        "cut_start": pl.Int32,
        "cut_start_at": pl.Int32,
        "cut_end": pl.Int32,
        "cut_end_at": pl.Int32,
        "controls": pl.Int64,
        "control_at": pl.Int32,
        "control": pl.Int32,
        "mojibake": pl.Int64,
        "mojibake_at": pl.Int32,
        "characters": pl.Int64,
    }
    positions: ClassVar[tuple[str, ...]] = ("replaced_at", "cut_start_at", "cut_end_at", "control_at", "mojibake_at")

    def count(self, pieces: Iterable[Piece], numbers: npt.NDArray[np.int64]) -> None:
        state = np.zeros(STATE, np.int64)
        numbers[CONTROL_CODE] = -1
        tables = code_point_classes(), bytes_of_characters(), weaknesses(), cases()
        for piece in pieces:
            count_marks(*piece, *tables, state, numbers)


@kernel
def count_marks(data, offsets, first_row, begins, ends, classes, as_byte, weak_of, case_of, state, numbers):  # type: ignore[no-untyped-def]
    """Count the marks of each row. state, shape (STATE,), int64: of the row that goes on in the next piece.

    The state of a row: where the piece begins in its text, what the last character is to a lead (`cases`), the character of
    UTF-8 that is being read (lead, bytes wanted, bytes that came, first follower, its weakness, whether any is strong, where it
    begins, what stands before it), the run of such characters (followers, whether any is strong, where it begins, those that
    are counted already, whether it counts), and what one that is through waits for.
    """
    for place in range(offsets.size - 1):
        row, start, stop = first_row + place, offsets[place], offsets[place + 1]
        if place or begins:
            state[:] = 0
            state[1] = SPACE
        base, case, lead, wanted, came, first = state[0], state[1], state[2], state[3], state[4], state[5]
        weak, strong, lead_at, before = state[6], state[7], state[8], state[9]
        followers, run_strong, run_at, waiting, pending = state[10], state[11], state[12], state[13], state[14]
        at_start, uncounted = state[15], state[16]  # -1 once something else than the rest of a character has come, else how many bytes of it
        at = start
        while at < stop:
            if at + STRIDE <= stop:
                odd = np.uint8(0)
                for k in range(STRIDE):
                    byte = data[at + k]
                    plain = (np.uint8(byte - 32) < 95) | (np.uint8(byte - 9) < 2) | (byte == 13)
                    odd |= np.uint8(not plain)
                if not odd:
                    if waiting:
                        kind = classes[data[at]]
                        if (waiting == IF_LETTER and kind == LETTER) or (waiting == IF_SPACE and kind == WHITE):
                            numbers[MOJIBAKE, row] += 1
                            if numbers[MOJIBAKE_AT, row] < 0:
                                numbers[MOJIBAKE_AT, row] = pending
                        waiting = 0
                    wanted, followers, at_start = 0, 0, -1
                    numbers[CHARACTERS, row] += STRIDE
                    at += STRIDE
                    case = np.int64(case_of[data[at - 1]])
                    continue
            limit = min(at + STRIDE, stop)
            while at < limit:
                b1 = np.int64(data[at])
                b2 = np.int64(data[at + 1]) if at + 1 < stop else 0
                b3 = np.int64(data[at + 2]) if at + 2 < stop else 0
                b4 = np.int64(data[at + 3]) if at + 3 < stop else 0
                code, taken = character(b1, b2, b3, b4)
                here = base + at - start
                if b1 == BREAK:
                    wanted, followers, waiting, at_start, case = 0, 0, 0, -1, SPACE
                    at += 1
                    continue
                numbers[CHARACTERS, row] += 1
                if code < 0:
                    if at_start >= 0 and b1 & 0xC0 == 0x80 and at_start < 3:
                        at_start += 1
                        numbers[START, row] = at_start
                        numbers[START_AT, row] = 0
                    elif at + taken == stop and ends_here(b1, taken) and (ends or place < offsets.size - 2):
                        numbers[END, row], numbers[END_AT, row] = 1, here
                    else:
                        at_start = -1
                        numbers[REPLACED, row] += 1
                        if numbers[REPLACED_AT, row] < 0:
                            numbers[REPLACED_AT, row] = here
                    wanted, followers, waiting, case = 0, 0, 0, 0
                    at += taken
                    continue
                at += taken
                at_start = -1
                if code == 0xFFFD:
                    numbers[REPLACED, row] += 1
                    if numbers[REPLACED_AT, row] < 0:
                        numbers[REPLACED_AT, row] = here
                elif code < 0xA0 and (code < 0x20 or code >= 0x7F) and code != 9 and code != 10 and code != 13:
                    numbers[CONTROL, row] += 1
                    if numbers[CONTROL_AT, row] < 0:
                        numbers[CONTROL_AT, row], numbers[CONTROL_CODE, row] = here, code
                if waiting:
                    kind = classes[code]
                    if (waiting == IF_LETTER and kind == LETTER) or (waiting == IF_SPACE and kind == WHITE):
                        numbers[MOJIBAKE, row] += 1
                        if numbers[MOJIBAKE_AT, row] < 0:
                            numbers[MOJIBAKE_AT, row] = pending
                    waiting = 0
                byte = np.int64(as_byte[code]) if 0x80 <= code < BYTES else 0
                through = False
                if wanted:
                    lowest = 0xA0 if lead == 0xE0 else 0x90 if lead == 0xF0 else 0x80
                    highest = 0x9F if lead == 0xED else 0x8F if lead == 0xF4 else 0xBF
                    if came:
                        lowest, highest = 0x80, 0xBF
                    if lowest <= byte <= highest:
                        kind = np.int64(weak_of[byte]) if code >= 0xA0 else 0
                        if came == 0:
                            first, weak = byte, kind
                        came += 1
                        if kind & (WEAK_SMALL if lead >= 0xE0 else WEAK_CAPITAL) == 0:
                            strong = 1
                        through = came == wanted
                        quote = lead == 0xE2 and byte == 0x80 and came == 1
                        if through:
                            wanted = 0
                            if followers == 0:
                                run_at = lead_at
                            followers += came
                            run_strong |= strong
                            verdict = alone(lead, first, weak, byte, before)
                            if lead == 0xE2 and first == 0x80:
                                verdict = NO  # counted when that much had come
                            elif followers > came and followers >= 3 and run_strong:
                                verdict = YES
                                numbers[MOJIBAKE, row] += uncounted
                                uncounted, lead_at = 0, run_at
                            elif verdict == NO:
                                uncounted += 1
                            if verdict == YES:
                                numbers[MOJIBAKE, row] += 1
                                if numbers[MOJIBAKE_AT, row] < 0 or numbers[MOJIBAKE_AT, row] > lead_at:
                                    numbers[MOJIBAKE_AT, row] = lead_at
                            elif verdict != NO:
                                waiting, pending = verdict, lead_at
                        elif quote:
                            numbers[MOJIBAKE, row] += 1
                            if numbers[MOJIBAKE_AT, row] < 0:
                                numbers[MOJIBAKE_AT, row] = lead_at
                    else:
                        wanted, followers = 0, 0
                if not through and not wanted:
                    if not followers:
                        run_strong, uncounted = 0, 0
                    if 0xC2 <= byte <= 0xF4:
                        before = SMALL if followers else case
                        lead, came, strong, lead_at = byte, 0, 0, here
                        wanted = 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
                    else:
                        followers = 0
                case = np.int64(case_of[code]) if code < CASES else (QUOTE if 0x2018 <= code <= 0x201F else 0)
                if 0x2000 <= code and classes[code] == WHITE:
                    case = SPACE
        state[0], state[1], state[2], state[3], state[4], state[5] = base + stop - start, case, lead, wanted, came, first
        state[6], state[7], state[8], state[9] = weak, strong, lead_at, before
        state[10], state[11], state[12], state[13], state[14] = followers, run_strong, run_at, waiting, pending
        state[15], state[16] = at_start, uncounted


@kernel
def ends_here(first, taken):  # type: ignore[no-untyped-def]
    """Whether bytes that begin with `first` are the beginning of a character, and not all of it."""
    if first < 0xC2 or first > 0xF4:
        return False
    return taken < (2 if first < 0xE0 else 3 if first < 0xF0 else 4)
