"""Signs of how ids were stored, against the plainest loop."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.encoding import NO_VOCABULARY, EncodingSigns
from tests.builders import batch_of, numbers
from tests.metrics.strategies import EXTREMES, Given, batches, quick

INT64_MAX = 2**63 - 1
IGNORED = (65436, 4294967196, INT64_MAX)
ODD_ONES = (4, 255, 256, 257, 1023, 1024, 40000, 65435, 65535, 65536, 2816, 3 * 65536 + 5, 11 + (12 << 16), 20 << 24)
WRAPPED = (-100, -1024, -1025, -20000, -32768, -65530)


def stored(kind: pa.DataType) -> st.SearchStrategy[int]:
    """Return ids as they are and as faults make them, as far as a type holds them."""
    top = 2 ** (kind.bit_width - pa.types.is_signed_integer(kind)) - 1
    least = -top - 1 if pa.types.is_signed_integer(kind) else 0
    wide = (4294967196, 11 + (12 << 32), (5 << 48) + (6 << 32) + (7 << 16) + 8, 300 << 40)
    fitting = [each for each in (*ODD_ONES, *WRAPPED, *IGNORED, *wide, *EXTREMES[kind]) if least <= each <= top]
    return st.one_of(st.just(0), st.integers(0, 12), st.sampled_from(fitting))


def trimmed(row: list[int]) -> list[int]:
    while len(row) > 1 and row[-1] == row[-2]:
        row = row[:-1]
    while len(row) > 1 and row[0] == row[1]:
        row = row[1:]
    return row


def turned(token: int) -> int:
    width = 2 if -(2**15) <= token < 2**16 else 4 if -(2**31) <= token < 2**32 else 8
    return int.from_bytes((token % 2 ** (8 * width)).to_bytes(width, "little"), "big")


def packed(token: int, limit: int) -> bool:
    bits = token % 2**64
    halves = [bits % 2**32, bits >> 32]
    if halves[1] and max(halves) < limit:
        return True
    quarters = [(bits >> shift) % 2**16 for shift in (0, 16, 32, 48)]
    if limit > 2**16 or max(quarters) >= limit:
        return False
    least = 4 if limit > 2**14 else 1
    return quarters[3] >= least or (quarters[2:] == [0, 0] and quarters[1] >= least)


def bit(token: int) -> int:
    place = (token % 2**64 * 0x9E3779B97F4A7C15 % 2**64) >> 58
    return 1 << place if place < 63 else -(1 << 63)


def bits(tokens: list[int]) -> int:
    seen = 0
    for token in tokens:
        seen |= bit(token)
    return seen


def by_hand(row: list[int], told: int | None, min_tokens: int) -> dict[str, Any]:
    own, limit = trimmed(row), NO_VOCABULARY if told is None else told
    found = dict.fromkeys(EncodingSigns.gives, 0)
    found["tokens"] = len(own)
    outside = [each for each in own if not 0 <= each < limit]
    small = [each for each in own if each & 0xFC == 0]
    found["outside"] = len(outside)
    found["swapped"] = sum(turned(each) < limit for each in outside if not -1024 <= each < 0)
    found["packed"] = sum(each >= 0 and packed(each, limit) for each in outside)
    found["wrapped"] = sum(each < -1024 and 0 <= each + 65536 < limit for each in outside)
    found["negative"] = sum(each < 0 for each in outside)
    found["ignored"] = sum(each in IGNORED for each in outside)
    found["outside_values"] = bits(outside)
    if len(row) < min_tokens or not (outside or len(small) * 8 >= len(own)):
        return found
    half = (*range((3 if told is None else limit - 1 >> 16) + 1), -1, 65535)

    places = [place for place, each in enumerate(own) if each not in half]
    if len({own[place] for place in places}) > 1:
        span = own[places[0] : places[-1] + 1]
        found["span"] = len(span)
        found["odd_halves"] = sum(each in half for each in span[1::2])
        found["even_halves"] = sum(each in half for each in span[::2])
    low = [each for each in small if each != 0]
    found["low"], found["low_values"] = len(low), bits(low)
    found["high"] = sum(0 < each < 1024 for each in own)
    return found


@quick
@given(
    batches(values=stored),
    st.sampled_from([1, 5, 100, 20_000, 50_257, 65_536, 70_000, None]),
    st.integers(1, 7),
)
def test_agrees_with_the_plain_loop(rows: Given, limit: int | None, min_tokens: int):
    metric = EncodingSigns("input_ids", limit, min_tokens)
    assert numbers(metric, rows.batch) == [by_hand(row or [], limit, min_tokens) for row in _without_nulls(rows)]


def _without_nulls(rows: Given) -> list[list[int] | None]:
    return [None if row is None else [0 if each is None else each for each in row] for row in rows.rows]


@pytest.mark.parametrize(
    ("row", "span", "odd", "even"),
    [
        ([11, 0, 12, 0, 13, 0], 5, 2, 0),
        ([0, 11, 0, 12, 0, 13], 5, 2, 0),
        ([11, 0, 0, 0, 12, 0, 0, 0], 5, 2, 1),
        ([5, 6, 7, 0, 0, 0, 0, 0], 3, 0, 0),
        ([5, 0, 5, 0, 5, 0], 0, 0, 0),
        ([0, 0, 0, 0, 0, 0], 0, 0, 0),
        ([11, -1, 12, 0, 13, -1], 5, 2, 0),
    ],
)
def test_high_halves_are_counted_between_the_first_and_the_last_id(row: list[int], span: int, odd: int, even: int):
    (found,) = numbers(EncodingSigns("input_ids", 100, 6), batch_of(input_ids=[row]))
    assert (found["span"], found["odd_halves"], found["even_halves"]) == (span, odd, even)


def test_a_vocabulary_unknown_is_taken_to_have_a_million_ids():
    (found,) = numbers(EncodingSigns("input_ids", None, 6), batch_of(input_ids=[[1, NO_VOCABULARY - 1, NO_VOCABULARY]]))
    assert found["outside"] == 1
