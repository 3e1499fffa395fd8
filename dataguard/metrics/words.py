"""The words of a text: how many have a letter, and how long the longest one is."""

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
from dataguard.vocabulary.characters import LETTER, SYMBOL, WHITE, code_point_classes

IS_WHITE, IS_LETTER, IS_UNSPACED, IS_SIGN = 1, 2, 4, 8
UNSPACED = (
    (0x0E00, 0x1100),  # Thai, Lao, Tibetan, Burmese
    (0x1780, 0x1800),  # Khmer
    (0x1950, 0x1B80),  # Tai Le, New Tai Lue, Khmer signs, Buginese, Tai Tham, Balinese
    (0x2E80, 0x3130),  # CJK radicals and punctuation, kana, bopomofo
    (0x3190, 0xA4D0),  # kanbun, CJK strokes and letters, Yi
    (0xA980, 0xAAE0),  # Javanese, Burmese, Cham, Tai Viet
    (0xF900, 0xFB00),  # CJK compatibility
    (0xFE30, 0xFE50),
    (0xFF00, 0xFFA0),  # full-width forms, half-width kana
    (0x16FE0, 0x18D90),  # Tangut, Khitan
    (0x1AFF0, 0x1B300),  # kana, Nushu
    (0x20000, 0x34000),
)
"""Scripts that put no white space between words, and the punctuation that goes with them. Hangul is none of them."""


@cache
def word_classes() -> npt.NDArray[np.uint8]:
    """Return IS_WHITE, IS_LETTER, IS_UNSPACED and IS_SIGN (P, S) of every code point. Shape (0x110000,), uint8, read-only."""
    kinds = code_point_classes()
    table = np.where(kinds == WHITE, IS_WHITE, 0).astype(np.uint8)
    table[kinds == LETTER], table[kinds == SYMBOL] = IS_LETTER, IS_SIGN
    for start, stop in UNSPACED:
        table[start:stop] |= np.where(table[start:stop] & IS_WHITE, 0, IS_UNSPACED).astype(np.uint8)
    return frozen(table)


@dataclass(frozen=True)
class Words(OfText):
    """Words of a row's text: what stands between white space. Bytes that make no character are none.

    `with_letter` counts those that have a letter of any script (L or M); `longest` is the most characters behind each other that
    are neither white space nor of a script that puts none between words, `longest_at` where they begin (-1: none).

    A vocabulary that tells nothing of white space (WordPiece, WordLevel) puts it around every sign, so that half of a text would
    be words without a letter: there, what has neither a letter nor a digit is no word.
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "present": pl.Boolean,
        "words": pl.Int64,
        "with_letter": pl.Int64,
        "longest": pl.Int64,
        "longest_at": pl.Int32,
    }
    positions: ClassVar[tuple[str, ...]] = ("longest_at",)

    def count(self, pieces: Iterable[Piece], numbers: npt.NDArray[np.int64], *, spaced: bool) -> None:
        state = np.zeros(5, np.int64)
        for piece in pieces:
            count_words(*piece[:4], word_classes(), int(not spaced), state, numbers)


@kernel
def count_words(data, offsets, first_row, begins, classes, signs_apart, state, numbers):  # type: ignore[no-untyped-def]
    """Count each row's words. numbers, shape (4, R), int64, as `Words.gives` behind `present`.

    signs_apart: 1 where what is all signs is no word.
    state, shape (5,), int64: of the row that goes on in the next piece: where the piece begins in the row's text, whether a
    word is open, whether it has a letter, characters of the long word so far, where that one begins.
    """
    for place in range(offsets.size - 1):
        row, start, stop = first_row + place, offsets[place], offsets[place + 1]
        if place or begins:
            state[:] = 0
        base, open_word, has_letter, length, began = state[0], state[1], state[2], state[3], state[4]
        words, with_letter, longest, longest_at = numbers[0, row], numbers[1, row], numbers[2, row], numbers[3, row]
        at = start
        while at < stop:
            first, here = np.int64(data[at]), base + at - start
            if first < 0x80:
                kind = np.int64(classes[first])
                at += 1
            elif first == BREAK:
                kind = np.int64(IS_WHITE)
                at += 1
            else:
                second = np.int64(data[at + 1]) if at + 1 < stop else 0
                third = np.int64(data[at + 2]) if at + 2 < stop else 0
                fourth = np.int64(data[at + 3]) if at + 3 < stop else 0
                code, taken = character(first, second, third, fourth)
                at += taken
                if code < 0:
                    continue
                kind = np.int64(classes[code])
            black, letter = 1 - (kind & IS_WHITE), (kind & IS_LETTER) >> 1
            solid = black & (1 - (kind >> 3 & signs_apart))
            words += solid & (1 - open_word)
            open_word = (open_word | solid) & black
            with_letter += letter & (1 - has_letter)
            has_letter = (has_letter | letter) & black
            counts = (kind & (IS_WHITE | IS_UNSPACED)) == 0
            began = here if length == 0 else began
            length = length + 1 if counts else 0
            longest_at = began if length > longest else longest_at
            longest = length if length > longest else longest  # noqa: FURB136  # max() makes another type of it
        numbers[0, row], numbers[1, row], numbers[2, row], numbers[3, row] = words, with_letter, longest, longest_at
        state[0], state[1], state[2], state[3], state[4] = base + stop - start, open_word, has_letter, length, began
