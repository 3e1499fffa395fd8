"""UTF-8 that was read as Latin-1 or CP1252, told from real words that have the same letters.

Read so, a character of n bytes becomes n characters: a *lead* (one of the letters from U+00C2 to U+00F4) and *followers* (what
Latin-1 and CP1252 have at 0x80 to 0xBF: control characters, signs, punctuation, and a few letters). Real text has such pairs
too: a closing quote behind a capital, a no-break space, a letter of Czech. What tells them apart:

- **A run**: two or more characters of UTF-8 behind each other, of three followers in all, one of them strong. Every word of
  two or three letters of a script that is not Latin makes one, and no real text does.
- **One character alone** is judged by its lead, by whether its first follower is *strong* (never stands behind such a letter in
  real text) or *weak* (punctuation, marks, a letter of the same case), and by what stands before it and behind it.

What one alone needs to be mojibake, by its lead:

- U+00C2: a follower at 0xA0 or above (a weak one not behind a capital, nor in quotes), or a control character.
- U+00C3: a strong follower, or any behind a small letter. A weak one counts at a word's start where a letter goes on (a space,
  behind a no-break space), and, where it is no punctuation of CP1252, between a capital and a small letter.
- U+00C4, U+00C5, and U+00C8 for Romanian: the same, but at a word's start only quotes and a trade mark count (no dashes, units
  and exponents: angstrom).
- U+00C6 to U+00DE, without U+00D7: behind a small letter (a weak follower only where a letter goes on), elsewhere one of
  the few followers that real text has nowhere.
- U+00E0 to U+00F4: all followers, the first one strong. U+00E2 and the euro sign (what becomes of every typographic quote) is
  enough by itself; the byte order mark and U+FFFD always are. Behind U+00E2 (arrows, lines, signs) a strong last one is enough,
  or a first one of four that few words with that end are followed by; behind U+00E1 (Vietnamese) the masculine ordinal, or
  a closing guillemet that no punctuation follows.

A small letter with weak followers is left: real words end with a letter and two marks. `docs/evidence.md` says how often all
that was right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.metrics.base import kernel
from dataguard.metrics.text import BREAK, OfText, Piece, character
from dataguard.shards.batch import frozen
from dataguard.vocabulary.characters import LETTER, WHITE, code_point_classes

SMALL, CAPITAL, QUOTE, SPACE = 1, 2, 3, 4
"""What stands before a lead; 0 is everything else."""
NO, YES, IF_LETTER, IF_SMALL, IF_SPACE = range(5)
"""Whether one character of UTF-8 alone is mojibake; the last three look at what comes next."""
WEAK_SMALL, WEAK_CAPITAL, OPENS, NOWHERE, CONTROL = 1, 2, 4, 8, 16
"""What a follower may be: plausible behind a small letter, behind a capital, something that a word may go on behind, what
stands behind no letter at all, and a control character of Latin-1."""

_BEHIND_ANY = (
    "\u00a0\u00ad\u2018\u2019\u201c\u201d\u2026\u2013\u2014\u00bb\u00ab\u203a\u2039\u00ae\u2122"
    "\u00aa\u00ba\u00b9\u00b2\u00b3\u00b7\u00b0\u00b4\u00b1\u2020\u2021"
)
_BEHIND_SMALL = "\u00a9\u00a7\u00a1\u00bf\u2022\u0153\u0161\u017e"
_NOWHERE = "\u201a\u0192\u02c6\u02dc\u2030\u00a4\u00a6\u00a8\u00ac\u00af\u00b8"
_OPENS = "\u2018\u2019\u201c\u201d\u2122\u203a"
_CP1252 = (
    "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f"
    "\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178"
)
STRIDE = 32
"""Bytes that are looked at together; some must be no ASCII before each is."""
BYTES = 0x2200
"""Code points that may be a byte: the trade mark is the last one."""
CASES = 0x250
"""Code points of Latin letters whose case is looked at."""


@dataclass(frozen=True)
class Mojibake(OfText):
    """Characters of UTF-8 that were read as Latin-1 or CP1252, as far as they can be told from real words, and the first one."""

    gives: ClassVar[Mapping[str, Any]] = {"present": pl.Boolean, "wrong": pl.Int64, "wrong_at": pl.Int32}
    positions: ClassVar[tuple[str, ...]] = ("wrong_at",)

    def count(self, pieces: Iterable[Piece], numbers: npt.NDArray[np.int64], *, spaced: bool) -> None:
        state = np.zeros(STATE, np.int64)
        tables = code_point_classes(), bytes_of_characters(), weaknesses(), cases()
        for piece in pieces:
            count_mojibake(*piece[:4], *tables, state, numbers)


@cache
def bytes_of_characters() -> npt.NDArray[np.uint8]:
    """Return the byte that Latin-1 or CP1252 has for a character, 0 where neither has one. Shape (BYTES,), uint8."""
    table = np.zeros(BYTES, np.uint8)
    table[0x80:0x100] = np.arange(0x80, 0x100)
    table[[ord(each) for each in _CP1252]] = np.arange(0x80, 0xA0)
    return frozen(table)


@cache
def weaknesses() -> npt.NDArray[np.uint8]:
    """Return WEAK_SMALL, WEAK_CAPITAL and OPENS of each follower, by its byte. Shape (256,), uint8."""
    table, places = np.zeros(256, np.uint8), bytes_of_characters()
    for characters, mark in (
        (_BEHIND_ANY, WEAK_SMALL | WEAK_CAPITAL),
        (_BEHIND_SMALL, WEAK_SMALL),
        (_OPENS, OPENS),
        (_NOWHERE, NOWHERE),
    ):
        for each in characters:
            table[places[ord(each)]] |= mark
    return frozen(table)


@cache
def cases() -> npt.NDArray[np.uint8]:
    """Return what a character is to a lead behind it: SMALL, CAPITAL, QUOTE, SPACE or 0. Shape (CASES,), uint8."""
    kinds = [SMALL if chr(c).islower() else CAPITAL if chr(c).isupper() else 0 for c in range(CASES)]
    table = np.array(kinds, np.uint8)
    table[[0xAA, 0xBA]] = 0  # ordinal signs, which Python calls lower case
    table[[ord(each) for each in "\"'\u00ab(["]] = QUOTE
    table[[c for c in range(CASES) if chr(c).isspace()]] = SPACE
    return frozen(table)


@kernel
def alone(lead, first, weak, last, last_weak, before):  # type: ignore[no-untyped-def]
    """Return whether one character of UTF-8 by itself is mojibake: NO, YES, or what must come next.

    lead, first, last: its bytes, of the followers the first and the last one; weak, last_weak: what these may be (`weaknesses`).
    before: what stands before the lead, as `cases`.
    """
    if lead >= 0xE0:
        if not weak & WEAK_SMALL:
            return YES
        if lead == 0xE1:
            between = last_weak & CONTROL == 0 and (last in (0x85, 0x96, 0x97, 0xA1, 0xBF) or 0x91 <= last <= 0x94)
            return YES if first == 0xBA or (first == 0xBB and not between) else NO
        if lead == 0xE2:
            return YES if first in (0x86, 0x87, 0x95, 0x9C) or not last_weak & WEAK_SMALL else NO
        mark = lead == 0xEF and ((first == 0xBB and last == 0xBF) or (first == 0xBF and last == 0xBD))
        return YES if mark else NO
    strong = not weak & WEAK_CAPITAL
    if lead == 0xC2:
        if first < 0xA0:
            return YES if weak & CONTROL else NO
        return NO if (before == CAPITAL and not strong) or (before == QUOTE and first in (0xBB, 0xB4)) else YES
    if lead > 0xC5 and not (lead == 0xC8 and 0x98 <= first <= 0x9B):
        if lead in (0xD7, 0xDF):
            return NO
        if before == SMALL:
            return YES if strong else IF_LETTER
        return YES if weak & NOWHERE else NO
    if strong or before == SMALL:
        return YES
    if before == CAPITAL:
        return IF_SMALL if first > 0xA0 else NO
    if before == QUOTE:
        return NO
    if lead == 0xC3:
        return IF_SPACE if first == 0xA0 else IF_LETTER
    return IF_LETTER if weak & OPENS else NO


@kernel
def goes_on(waiting, kind, case):  # type: ignore[no-untyped-def]
    """Whether what comes next, of a class and as `cases`, is what was waited for."""
    if waiting == IF_LETTER:
        return kind == LETTER
    return case == SMALL if waiting == IF_SMALL else waiting == IF_SPACE and kind == WHITE


STATE = 15


@kernel
def count_mojibake(data, offsets, first_row, begins, classes, as_byte, weak_of, case_of, state, numbers):  # type: ignore[no-untyped-def]
    """Count each row's mojibake. numbers, shape (2, R), int64, as `Mojibake.gives` behind `present`.

    state, shape (STATE,), int64, of the row that goes on in the next piece: where the piece begins in the row's text, and what is
    named below. Of one character of UTF-8: its lead (and where that stands, what before it), followers that are wanted and
    that came, the first one (and what it may be), whether any is strong. Of the run: its followers, whether any is strong, where
    it begins, characters that are not counted yet. Of a character that depends on what comes next: on what, and where it
    stands.
    """
    for place in range(offsets.size - 1):
        row, start, stop = first_row + place, offsets[place], offsets[place + 1]
        if place or begins:
            state[:] = 0
            state[1] = SPACE
        base, case = state[0] - start, state[1]
        lead, lead_at, before, wanted, came = state[2], state[3], state[4], state[5], state[6]
        first, weak, strong = state[7], state[8], state[9]
        followers, run_strong, run_at, uncounted = state[10], state[11], state[12], state[13]
        waiting, at = state[14], start
        while at < stop:
            if at + STRIDE <= stop:
                high = np.uint8(0)
                for k in range(STRIDE):
                    high |= data[at + k]
                if high < 0x80:
                    if waiting and goes_on(waiting, classes[data[at]], case_of[data[at]]):
                        found(numbers, row, lead_at)
                    waiting, wanted, followers = np.int64(0), np.int64(0), np.int64(0)
                    at += STRIDE
                    case = np.int64(case_of[data[at - 1]])
                    continue
            limit = min(at + STRIDE, stop)
            while at < limit:
                one = np.int64(data[at])
                two = np.int64(data[at + 1]) if at + 1 < stop else 0
                three = np.int64(data[at + 2]) if at + 2 < stop else 0
                four = np.int64(data[at + 3]) if at + 3 < stop else 0
                code, taken = character(one, two, three, four)
                here = base + at
                at += taken
                if code < 0:
                    waiting, wanted, followers = np.int64(0), np.int64(0), np.int64(0)
                    case = np.int64(SPACE if one == BREAK else 0)
                    continue
                kind, last_case = classes[code], case
                case = np.int64(case_of[code]) if code < CASES else np.int64(0)
                if kind == WHITE:
                    case = np.int64(SPACE)
                elif 0x2018 <= code <= 0x201F:
                    case = np.int64(QUOTE)
                if waiting and goes_on(waiting, kind, case):
                    found(numbers, row, lead_at)
                waiting = np.int64(0)
                byte = np.int64(as_byte[code]) if 0x80 <= code < BYTES else np.int64(0)
                is_follower = wanted > 0 and 0x80 <= byte <= 0xBF
                if is_follower and came == 0:
                    is_follower = second_fits(lead, byte)
                if is_follower:
                    may_be = np.int64(weak_of[byte]) if code >= 0xA0 else np.int64(NOWHERE | CONTROL)
                    if came == 0:
                        first, weak = byte, may_be
                        if lead == 0xE2 and byte == 0x80:
                            found(numbers, row, lead_at)
                    came, wanted = came + 1, wanted - 1
                    strong |= may_be & (WEAK_SMALL if lead >= 0xE0 else WEAK_CAPITAL) == 0
                    if wanted == 0:
                        run_at = run_at if followers else lead_at
                        is_run, followers, run_strong = followers > 0, followers + came, run_strong | strong
                        verdict = alone(lead, first, weak, byte, may_be, before)
                        if is_run and followers >= 3 and run_strong:
                            numbers[0, row] += uncounted
                            uncounted, verdict, lead_at = np.int64(0), YES, run_at
                        if lead == 0xE2 and first == 0x80:
                            verdict = YES  # it has been counted
                        elif verdict == YES:
                            found(numbers, row, lead_at)
                        elif verdict == NO:
                            uncounted += 1
                        else:
                            waiting = np.int64(verdict)
                    continue
                if wanted:
                    followers, wanted = np.int64(0), np.int64(0)
                if followers == 0:
                    run_strong, uncounted = np.int64(0), np.int64(0)
                if 0xC2 <= byte <= 0xF4:
                    before = np.int64(SMALL) if followers else last_case
                    lead, lead_at, came, strong = byte, here, np.int64(0), np.int64(0)
                    wanted = np.int64(1 if byte < 0xE0 else 2 if byte < 0xF0 else 3)
                else:
                    followers = np.int64(0)
        state[0], state[1] = base + stop, case
        state[2], state[3], state[4], state[5], state[6] = lead, lead_at, before, wanted, came
        state[7], state[8], state[9] = first, weak, strong
        state[10], state[11], state[12], state[13] = followers, run_strong, run_at, uncounted
        state[14] = waiting


@kernel
def second_fits(lead, byte):  # type: ignore[no-untyped-def]
    """Whether a second byte is one that UTF-8 has behind a first one."""
    lowest = 0xA0 if lead == 0xE0 else 0x90 if lead == 0xF0 else 0x80
    highest = 0x9F if lead == 0xED else 0x8F if lead == 0xF4 else 0xBF
    return lowest <= byte <= highest


@kernel
def found(numbers, row, at):  # type: ignore[no-untyped-def]
    """Count one more, and note where the first one stands."""
    numbers[0, row] += 1
    if numbers[1, row] < 0 or at < numbers[1, row]:
        numbers[1, row] = at
