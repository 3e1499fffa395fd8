"""Words of a text, against Python's own split."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.words import UNSPACED, Words
from tests.builders import batch_of, numbers, table_of_characters
from tests.metrics.strategies import quick
from tests.metrics.texts import (
    LAYOUTS,
    PIECES,
    SPECIAL,
    as_layout,
    batch_of_bytes,
    batch_of_texts,
    of_text,
    small_pieces,
)


def is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] in "LM"


def by_hand(text: str) -> dict[str, Any]:
    words = text.split()
    ends = re.compile(r"[\s" + "".join(f"{chr(start)}-{chr(stop - 1)}" for start, stop in UNSPACED) + "]")
    longest, at, begin = 0, -1, 0
    for place in range(len(text) + 1):
        if place == len(text) or ends.match(text[place]):
            if place - begin > longest:
                longest, at = place - begin, begin
            begin = place + 1
    letters = sum(any(is_letter(each) for each in word) for word in words)
    return {"present": True, "words": len(words), "with_letter": letters, "longest": longest, "longest_at": at}


TEXTS = st.one_of(
    st.text("ab1- \n\t\xa0\u3000\u2028é中ไ。😀\u0301ア하", max_size=40),
    st.text(st.characters(codec="utf-8"), max_size=12),
)


@quick
@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(LAYOUTS), PIECES)
def test_agrees_with_pythons_split(rows: list[str], layout: str, size: int):
    with small_pieces(size):
        found = numbers(of_text(Words), batch_of_texts(rows, layout))
    assert found == [as_layout(by_hand(row), row, layout, Words.positions) for row in rows]


@quick
@given(
    st.lists(st.lists(st.sampled_from([b"a", b" ", b"\xe4\xb8", b"\xff", b"1 ", "é".encode()])), min_size=1, max_size=3)
)
def test_bytes_that_make_no_character_are_none(rows: list[list[bytes]]):
    raw = [b"".join(row) for row in rows]
    found = numbers(of_text(Words), batch_of_bytes(*raw))
    names = ("words", "with_letter", "longest")
    expected = [by_hand(each.decode("utf-8", "ignore")) for each in raw]
    assert [[row[name] for name in names] for row in found] == [[row[name] for name in names] for row in expected]


@pytest.mark.parametrize(
    ("text", "longest"),
    [
        ("中文" * 200, 0),
        ("ภาษาไทย" * 99, 0),
        ("ខ្មែរ" * 99, 0),
        ("ພາສາລາວ" * 99, 0),
        ("မြန်မာ" * 99, 0),
        ("かなカナ" * 99, 0),
        ("한국어" * 99, 297),
        ("中文abc。" * 9, 3),
        ("བོད་སྐད་" * 99, 0),
    ],
)
def test_scripts_without_white_space_have_no_long_words(text: str, longest: int):
    assert numbers(of_text(Words), batch_of_texts([text]))[0]["longest"] == longest


def test_a_special_token_ends_a_word():
    (row,) = numbers(of_text(Words), batch_of(input_ids=[[97, 98, SPECIAL, 49, SPECIAL, 99, 100, 101]]))
    assert row == {"present": True, "words": 3, "with_letter": 2, "longest": 3, "longest_at": 5}


def test_signs_are_no_words_where_a_vocabulary_tells_nothing_of_white_space():
    wordpiece = table_of_characters(b" a", b" (", b" 5", b"b", b" .", b"5", b"!")
    rows = [[1, 0, 3, 4], [1, 2, 4, 0], [1, 6, 4], [1, 5, 6]]
    found = numbers(of_text(Words, wordpiece), batch_of(input_ids=rows))
    assert [(row["words"], row["with_letter"]) for row in found] == [(1, 1), (2, 1), (0, 0), (1, 0)]
    byte_level = table_of_characters(b" a", b" (", b" 5", b"b", b" .", b"5", b"!", b" ")
    found = numbers(of_text(Words, byte_level), batch_of(input_ids=rows))
    assert [(row["words"], row["with_letter"]) for row in found] == [(3, 1), (4, 1), (2, 0), (1, 0)]
