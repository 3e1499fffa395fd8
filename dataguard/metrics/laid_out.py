"""A row's text, laid out byte by byte: the way to count characters where most of them cross ids.

Whether bytes make a character does not depend on what stands before them: it begins at every byte that can lead one and is
followed by as many as that one asks for. So nothing need be carried from id to id.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dataguard.metrics.base import kernel
from dataguard.shards.batch import frozen
from dataguard.vocabulary.characters import DIGIT
from dataguard.vocabulary.model import CharacterTable

APART, NO_LEAD = 0xFF, 0xFE
"""Bytes that no character has: what stands for an id that ends what was before it, and what for APART in an id."""
MOST_BYTES = 7
"""Bytes of an id that are packed into one number."""
LENGTH, LONG = 56, 0xFF
"""Bit at which an id's length begins there, and what stands for a length that is not packed."""
ROOM = 8
"""Bytes of text for each id of a row, at most."""
MOST_IDS, LEAST_IDS = 1 << 16, 32
"""Ids of a row that is laid out, at most and at least."""
SAMPLED = 16
"""One id in so many is looked at to see whether laying out a row pays."""


@lru_cache(maxsize=4)
def spellings(table: CharacterTable, special: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    """Return the bytes of each id in one number, the first one lowest, and LENGTH above them.

    Shape (size + 1,), uint64. Special ids, and the last one, which stands for unknown and unattended ids, are APART.
    """
    lengths = np.diff(table.offsets)
    data = np.append(np.where(table.data == APART, NO_LEAD, table.data), 0).astype(np.uint64)
    packed = np.zeros(len(table) + 1, np.uint64)
    for byte in range(MOST_BYTES):
        there = np.where(byte < lengths, table.offsets[:-1] + byte, len(data) - 1)
        packed[:-1] |= data[there] << np.uint64(8 * byte)
    packed[:-1] |= np.where(lengths > MOST_BYTES, LONG, lengths).astype(np.uint64) << np.uint64(LENGTH)
    apart = [*(token for token in special if token < len(table)), len(table)]
    packed[apart] = np.uint64(APART | 1 << LENGTH)
    return frozen(packed)


@kernel
def text_pays(own, spelling):  # type: ignore[no-untyped-def]
    """Whether to lay out a row of LEAST_IDS or more: ids of few bytes each (below 1.6) cost twice as much one by one."""
    if own.size > MOST_IDS:
        return False
    length, outside = np.int64(0), np.uint64(spelling.size - 1)
    for place in range(0, own.size, SAMPLED):
        token = np.uint64(own[place])
        token = min(outside, token)
        length += np.int64(spelling[token] >> np.uint64(LENGTH))
    return length * SAMPLED * 5 < own.size * 8


@kernel
def lay_out(own, seen, spelling, data, starts, text):  # type: ignore[no-untyped-def]
    """Write a row's text, and APART behind it; return its bytes, -1 where there is no room for them.

    text, uint8: room for ROOM bytes an id, and as many more.
    """
    outside, filled, one = np.uint64(spelling.size - 1), np.uint64(0), np.uint64(1)
    room = np.uint64(text.size - ROOM)
    for place in range(own.size):
        token = np.uint64(own[place])
        token = token if (token < outside) & (seen[place] != 0) else outside
        spelled = spelling[token]
        length = spelled >> np.uint64(LENGTH)
        if length == np.uint64(LONG):
            start, stop = np.uint64(starts[token]), np.uint64(starts[token + one])
            if filled + (stop - start) > room:
                return -1
            for byte in range(start, stop):
                text[filled] = NO_LEAD if data[byte] == APART else data[byte]
                filled += one
        else:
            if filled > room:
                return -1
            for byte in range(ROOM):
                text[filled + np.uint64(byte)] = np.uint8(spelled >> np.uint64(8 * byte))
            filled += length
    if filled > room:
        return -1
    text[filled : filled + np.uint64(ROOM)] = APART
    return np.int64(filled)


@kernel
def count_text(text, size, classes, numbers):  # type: ignore[no-untyped-def]
    """Count the characters of a row's text by class; return the longest run of digits, and the byte that it begins at.

    numbers, shape (7,), of which the classes are counted. Of bytes that make no character the first is passed over: those
    behind it lead none, or one of their own.
    """
    at, end, one, two, three = np.uint64(0), np.uint64(size), np.uint64(1), np.uint64(2), np.uint64(3)
    six, low = np.uint32(6), np.uint32(0x3F)
    run, best, run_at, best_at = np.int64(0), np.int64(0), np.uint64(0), np.uint64(0)
    while at < end:
        lead, here = np.uint32(text[at]), at
        if lead < 0x80:
            code, lowest = lead, np.uint32(0)
            at += one
        elif lead < 0xC0 or lead >= 0xF8:
            run = np.int64(0) if lead == APART else run
            at += one
            continue
        else:
            second, third, fourth = np.uint32(text[at + one]), np.uint32(text[at + two]), np.uint32(text[at + three])
            at += one
            if second & 0xC0 != 0x80:
                continue
            if lead < 0xE0:
                code, lowest = (lead & np.uint32(0x1F)) << six | second & low, np.uint32(0x80)
                at += one
            elif third & 0xC0 != 0x80:
                continue
            elif lead < 0xF0:
                code = ((lead & np.uint32(0x0F)) << six | second & low) << six | third & low
                lowest = np.uint32(0x800)
                at += two
            elif fourth & 0xC0 != 0x80:
                continue
            else:
                code = (((lead & np.uint32(0x07)) << six | second & low) << six | third & low) << six | fourth & low
                lowest = np.uint32(0x10000)
                at += three
            if code < lowest or code > 0x10FFFF or (code >= 0xD800 and code <= 0xDFFF):
                continue
        kind = classes[code]
        numbers[kind] += 1
        if kind == DIGIT:
            run_at = here if run == 0 else run_at
            run += 1
            if run > best:
                best, best_at = run, run_at
        else:
            run = np.int64(0)
    return best, np.int64(best_at)


@kernel
def token_at(own, seen, spelling, starts, byte):  # type: ignore[no-untyped-def]
    """Return the token that a byte of a row's text is of."""
    outside, one, behind = np.uint64(spelling.size - 1), np.uint64(1), np.int64(0)
    for place in range(own.size):
        token = np.uint64(own[place])
        token = token if (token < outside) & (seen[place] != 0) else outside
        length = np.int64(spelling[token] >> np.uint64(LENGTH))
        behind += starts[token + one] - starts[token] if length == LONG else length
        if behind > byte:
            return place
    return -1
