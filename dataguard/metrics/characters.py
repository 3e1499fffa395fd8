"""The characters that a row's ids spell together, by class.

The bytes of a row's content ids are joined before anything is classified, so that a character that crosses ids is one
character, and bytes that make none are none. Ids whose bytes are whole characters are counted from a summary of each id; only
where bytes are cut inside a character is the row decoded byte by byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.metrics.base import Numbers, OfAttended, kernel
from dataguard.metrics.laid_out import LEAST_IDS, ROOM, count_text, lay_out, spellings, text_pays, token_at
from dataguard.metrics.tables import flags
from dataguard.shards.batch import Batch, frozen
from dataguard.vocabulary.characters import DIGIT, WHITE, code_point_classes
from dataguard.vocabulary.model import CharacterTable

WIDTH, MOST, AT_ONCE = 12, 127, 32
"""Bits of a class in a packed count, characters of a class that an id may have there, and ids that are added at once."""
MASK = (1 << WIDTH) - 1
SLOW = 1 << 62
NOT_PLAIN = SLOW | MASK << (WIDTH * DIGIT)
WHOLE, HEAD, TAIL, BEST = 5, 6, 7, 8
"""Places in an id's summary behind its characters by class: whether its bytes are whole characters, its digits at the
start, at the end, and the most in a row."""


@dataclass(frozen=True)
class Characters(OfAttended):
    """Characters of a row's attended, non-special tokens: letters, digits, symbols, white space and others.

    `digit_run` is the longest run of digits across tokens, `digit_position` the token in which it begins (-1: none).
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "others": pl.Int32,
        "letters": pl.Int32,
        "digits": pl.Int32,
        "symbols": pl.Int32,
        "white": pl.Int32,
        "digit_run": pl.Int32,
        "digit_position": pl.Int32,
    }
    version: ClassVar[int] = 2
    special: tuple[int, ...]
    table: CharacterTable

    @property
    def visible(self) -> pl.Expr:
        """Characters that are not white space."""
        return self["others"] + self["letters"] + self["digits"] + self["symbols"]

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.attention.column)
        attended, _ = self.attention.of(batch)
        numbers = np.zeros((len(self.gives), batch.rows), np.int64)
        table, ids = self.table, (column.values, column.offsets, attended)
        spelled = packed(table, self.special), summaries(table), spellings(table, self.special)
        bytes_of, special, classes = (table.data, table.offsets), flags(self.special), code_point_classes()
        count_characters(*ids, special, *spelled, *bytes_of, classes, numbers)
        return dict(zip(self.gives, numbers, strict=True))


@lru_cache(maxsize=4)
def summaries(table: CharacterTable) -> npt.NDArray[np.int32]:
    """Return what each id spells by itself. Shape (size, 9), int32: characters by class, then WHOLE, HEAD, TAIL, BEST."""
    summary = np.zeros((len(table), 9), np.int32)
    summarise(table.data, table.offsets, code_point_classes(), summary)
    return frozen(summary)


@lru_cache(maxsize=4)
def packed(table: CharacterTable, special: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Return each id's characters by class in one number, WIDTH bits a class, so that many ids are added at once.

    SLOW marks what cannot be: special ids, cut characters, and more than MOST characters of a class. Shape (size,), int64.
    """
    summary = summaries(table).astype(np.int64)
    by_class = summary[:, : WHITE + 1]
    codes = (by_class << (WIDTH * np.arange(WHITE + 1))).sum(axis=1)
    slow = (summary[:, WHOLE] == 0) | (by_class > MOST).any(axis=1)
    slow[[token for token in special if token < len(codes)]] = True
    return frozen(np.where(slow, SLOW, codes))


@kernel
def next_state(byte, code, wanted, lowest):  # type: ignore[no-untyped-def]
    """Take one byte of UTF-8.

    The state is (code, wanted, lowest): the bits so far, the bytes still wanted, and the lowest code point that may come out
    (which refuses overlong forms). Returns (character or -1, code, wanted, lowest); a byte that does not fit drops what was
    pending and begins anew.
    """
    if wanted and byte & 0xC0 == 0x80:
        code = code << 6 | (byte & 0x3F)
        wanted -= 1
        if wanted:
            return -1, code, wanted, lowest
        if code < lowest or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            return -1, 0, 0, 0
        return code, 0, 0, 0
    if byte < 0x80:
        return byte, 0, 0, 0
    if byte & 0xE0 == 0xC0:
        return -1, byte & 0x1F, 1, 0x80
    if byte & 0xF0 == 0xE0:
        return -1, byte & 0x0F, 2, 0x800
    if byte & 0xF8 == 0xF0:
        return -1, byte & 0x07, 3, 0x10000
    return -1, 0, 0, 0


@kernel
def summarise(data, offsets, classes, summary):  # type: ignore[no-untyped-def]
    """Write each id's summary. summary, shape (size, 9), int32, zeros."""
    for token in range(offsets.size - 1):
        code, wanted, lowest = 0, 0, 0
        spelled, run, head, best, only_digits = 0, 0, 0, 0, True
        for place in range(offsets[token], offsets[token + 1]):
            character, code, wanted, lowest = next_state(np.int64(data[place]), code, wanted, lowest)
            if character < 0:
                continue
            kind = classes[character]
            summary[token, kind] += 1
            spelled += 1 if character < 0x80 else 2 if character < 0x800 else 3 if character < 0x10000 else 4
            if kind == DIGIT:
                run += 1
                best = max(best, run)
            else:
                if only_digits:
                    head = run
                run, only_digits = 0, False
        summary[token, WHOLE] = spelled == offsets[token + 1] - offsets[token]
        summary[token, HEAD] = run if only_digits else head
        summary[token, TAIL], summary[token, BEST] = run, best


@kernel
def count_characters(  # type: ignore[no-untyped-def]
    values, offsets, attended, special, packed, summary, spelling, data, starts, classes, numbers
):
    """Count each row's characters by class, and its longest run of digits.

    packed, summary, spelling: see `packed`, `summaries` and `spellings`. data, starts: the bytes of each id. numbers, shape
    (7, R), int64, zeros, as `Characters.gives`.

    A stretch of AT_ONCE ids is plain where all are attended and known, none has a digit, and none is SLOW: then one short loop
    does it. That is tried behind a stretch that would have been plain. Where it pays the row is laid out as text instead.
    """
    text = np.empty(0, np.uint8)
    for row in range(offsets.size - 1):
        own, seen = values[offsets[row] : offsets[row + 1]], attended[offsets[row] : offsets[row + 1]]
        if own.size >= LEAST_IDS and text_pays(own, spelling):
            if text.size < (own.size + 1) * ROOM:
                text = np.empty((own.size + 1) * ROOM, np.uint8)
            size = lay_out(own, seen, spelling, data, starts, text)
            if size >= 0:
                digits, byte = count_text(text, size, classes, numbers[:, row])
                numbers[5, row], numbers[6, row] = digits, token_at(own, seen, spelling, starts, byte) if digits else -1
                continue
        code, wanted, lowest, begun = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        run, run_position, best, best_position = np.int64(0), np.int64(-1), np.int64(0), np.int64(-1)
        plain = True
        for first in range(0, own.size, AT_ONCE):
            ids, here = own[first : first + AT_ONCE], seen[first : first + AT_ONCE]
            total, marks = np.int64(0), np.int64(0)
            if plain and wanted == 0:
                for place in range(ids.size):
                    inside = (ids[place] >= 0) & (ids[place] < packed.size) & (here[place] != 0)
                    spelled = packed[ids[place]] if inside else SLOW
                    total += spelled
                    marks |= spelled
                plain = marks & NOT_PLAIN == 0
                if plain:
                    run = np.int64(0) if total else run
            if not plain or wanted:
                total, plain = np.int64(0), True
                for each in range(ids.size):
                    token = ids[each]
                    if not here[each] or token < 0 or token >= packed.size:
                        wanted, run, plain = np.int64(0), np.int64(0), False
                        continue
                    spelled = packed[token]
                    if wanted == 0 and spelled < SLOW:
                        total += spelled
                        digits = (spelled >> (WIDTH * DIGIT)) & MASK
                        if digits == 0:
                            run = np.int64(0) if spelled else run
                            continue
                        plain = False
                        if run == 0:
                            run_position = first + each
                        if run + summary[token, HEAD] > best:
                            best, best_position = run + summary[token, HEAD], run_position
                        if summary[token, BEST] > best:
                            best, best_position = np.int64(summary[token, BEST]), first + each
                        if spelled == digits << (WIDTH * DIGIT):
                            run += digits
                        else:
                            run, run_position = np.int64(summary[token, TAIL]), first + each
                        continue
                    plain = False
                    if token < special.size and special[token]:
                        wanted, run = np.int64(0), np.int64(0)
                        continue
                    for byte in range(starts[token], starts[token + 1]):
                        character, code, wanted, lowest = next_state(np.int64(data[byte]), code, wanted, lowest)
                        if data[byte] & 0xC0 != 0x80:
                            begun = first + each
                        if character < 0:
                            continue
                        kind = classes[character]
                        numbers[kind, row] += 1
                        if kind == DIGIT:
                            if run == 0:
                                run_position = begun
                            run += 1
                            if run > best:
                                best, best_position = run, run_position
                        else:
                            run = np.int64(0)
            for kind in range(5):
                numbers[kind, row] += (total >> (WIDTH * kind)) & MASK
        numbers[5, row], numbers[6, row] = best, best_position
