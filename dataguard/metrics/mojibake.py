"""UTF-8 that was read as Latin-1 or CP1252, told from real words that have the same letters.

Read so, a character of n bytes becomes n characters: a *lead* (one of the letters from U+00C2 to U+00F4) and *followers* (what
Latin-1 and CP1252 have at 0x80 to 0xBF: control characters, signs, punctuation, and a few letters). Real text has such pairs
too: a closing quote behind a capital, a no-break space, a letter of Czech. What tells them apart:

- **A run**: two or more characters of UTF-8 behind each other, of three followers in all, one of them strong. Every word of
  two or three letters of a script that is not Latin makes one, and no real text does.
- **One character alone** is judged by its lead, by whether its first follower is *strong* (never stands behind such a letter
  in real text) or *weak* (punctuation, marks, a letter of the same case), and by what stands before it.

| lead | alone it is mojibake |
|---|---|
| U+00C2 | where the follower is at 0xA0 or above; a weak one not behind a capital, nor in quotes |
| U+00C3 | where the follower is strong; a weak one behind a small letter, or at a word's start, where a letter (a space, for a no-break space) goes on |
| U+00C4, U+00C5, and U+00C8 for Romanian | likewise, but at a word's start only quotes and a trade mark (not dashes, units and exponents: angstrom) |
| U+00C6 to U+00DF | never |
| U+00E0 to U+00F4 | where all followers are there and the first is strong; U+00E2 and the euro sign (what becomes of every typographic quote) even when nothing follows; the byte order mark and U+FFFD always |

A lower-case lead with weak followers is left: real words end with a letter and two marks. `docs/decisions.md` says how often
that was wrong.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from dataguard.metrics.base import kernel
from dataguard.shards.batch import frozen

SMALL, CAPITAL, QUOTE, SPACE = 1, 2, 3, 4
"""What stands before a lead; 0 is everything else."""
NO, YES, IF_LETTER, IF_SPACE = range(4)
"""Whether one character of UTF-8 alone is mojibake; the last two look at what comes next."""
WEAK_SMALL, WEAK_CAPITAL, OPENS = 1, 2, 4
"""What a follower may be: plausible behind a small letter, behind a capital, and something that a word may go on behind."""

_BEHIND_ANY = "\u00a0\u00ad\u2018\u2019\u201c\u201d\u2026\u2013\u2014\u00bb\u00ab\u203a\u2039\u00ae\u2122\u00a9\u00aa\u00ba\u00b9\u00b2\u00b3\u00b7\u00b0\u00b4\u00b1\u2020\u2021"
_BEHIND_SMALL = "\u00a7\u00a1\u00bf\u2022\u0153\u0161\u017e"
_OPENS = "\u2018\u2019\u201c\u201d\u2122\u203a"
_CP1252 = (
    "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f"
    "\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178"
)
BYTES = 0x2200
"""Code points that may be a byte: the trade mark is the last one."""
CASES = 0x250
"""Code points of Latin letters whose case is looked at."""


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
def alone(lead, first, weak, second, before):  # type: ignore[no-untyped-def]
    """Return whether one character of UTF-8 by itself is mojibake: NO, YES, IF_LETTER or IF_SPACE.

    lead, first, second: its bytes (second: -1 where there is none yet). weak: `weaknesses` of the first follower, 0 where it
    is a control character. before: what stands before the lead, as `cases`.
    """
    if lead >= 0xE0:
        if lead == 0xEF and ((first == 0xBB and second == 0xBF) or (first == 0xBF and second == 0xBD)):
            return YES
        return NO if weak & WEAK_SMALL else YES
    if lead > 0xC5 and lead != 0xC8:
        return NO
    strong = not weak & WEAK_CAPITAL
    if lead == 0xC2:
        if first < 0xA0 or (before == CAPITAL and not strong) or (before == QUOTE and first in (0xBB, 0xB4)):
            return NO
        return YES
    if lead == 0xC8 and first not in (0x98, 0x99, 0x9A, 0x9B):
        return NO
    if strong or before == SMALL:
        return YES
    if before == CAPITAL or before == QUOTE:
        return NO
    if lead == 0xC3:
        return IF_SPACE if first == 0xA0 else IF_LETTER
    return IF_LETTER if weak & OPENS else NO
