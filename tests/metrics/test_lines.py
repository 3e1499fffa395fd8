"""Repeated lines of a text, against datatrove's loop."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.lines import Lines
from dataguard.shards.batch import Batch
from tests.builders import batch_of, numbers
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


def by_hand(text: str) -> dict[str, Any]:
    lines = [(match.start(), match[0]) for match in re.finditer(r"[^\n]+", text) if not match[0].isspace()]
    seen: set[str] = set()
    repeated, characters, first = 0, 0, -1
    for at, line in lines:
        if line in seen:
            repeated, characters = repeated + 1, characters + len(line)
            first = at if first < 0 else first
        seen.add(line)
    return {
        "present": True,
        "lines": len(lines),
        "repeated": repeated,
        "characters": len(text),
        "repeated_characters": characters,
        "repeated_at": first,
    }


LINES = st.one_of(
    st.sampled_from(
        [
            "a",
            "b",
            "ab",
            "",
            " ",
            "\t\r",
            "\xa0",
            "\u3000",
            "eight by",
            "nine byte",
            "a line of many bytes",
            "a line of many bytez",
        ]
    ),
    st.text("ab é中\x00\r", max_size=20),
)
TEXTS = st.lists(LINES, max_size=9).map("\n".join)


@quick
@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(LAYOUTS), PIECES)
def test_agrees_with_the_plain_loop(rows: list[str], layout: str, size: int):
    with small_pieces(size):
        found = numbers(of_text(Lines), batch_of_texts(rows, layout))
    assert found == [as_layout(by_hand(row), row, layout, Lines.positions) for row in rows]


@quick
@given(st.text("ab\x00\x01é", max_size=40), st.text("ab\x00\x01é", max_size=40))
def test_other_lines_are_no_copies(one: str, other: str):
    (row,) = numbers(of_text(Lines), batch_of_texts([f"{one}\n{other}"]))
    assert row["repeated"] == (one == other and one != "")


def test_a_tail_of_nul_bytes_and_a_length_are_not_mixed_up():
    start = "x" * 32
    (row,) = numbers(of_text(Lines), batch_of_texts([f'{start}"\n{start}!\x00\n{start}\n{start}\x00']))
    assert (row["lines"], row["repeated"]) == (4, 0)


def test_bytes_that_make_no_character_are_compared_and_not_counted():
    (row,) = numbers(of_text(Lines), batch_of_bytes(b"a\xff\na\xe4\xb8\na\xff\n\xff"))
    assert row == {
        "present": True,
        "lines": 3,
        "repeated": 1,
        "characters": 6,
        "repeated_characters": 1,
        "repeated_at": 7,
    }


def test_a_special_token_ends_a_line():
    (row,) = numbers(of_text(Lines), batch_of(input_ids=[[97, SPECIAL, 97, 10, 98, SPECIAL, 98, 97]]))
    assert (row["lines"], row["repeated"], row["characters"], row["repeated_at"]) == (4, 1, 6, 2)


def test_each_row_has_lines_of_its_own():
    found = numbers(of_text(Lines), batch_of_texts(["a\nb\na"] * 3000))
    assert {(row["lines"], row["repeated"]) for row in found} == {(3, 1)}


@pytest.mark.parametrize("distinct", [1, 50_000])
def test_a_row_of_very_many_lines(distinct: int):
    lines = [f"line {number % distinct}" for number in range(100_000)]
    (row,) = numbers(of_text(Lines), batch_of_texts(["\n".join(lines)]))
    assert (row["lines"], row["repeated"]) == (100_000, 100_000 - distinct)


def test_a_row_of_many_tokens_takes_no_more_than_a_buffer_at_once():
    ids = np.tile(np.frombuffer(b"one\ntwo\nsix\n", np.uint8), 40_000).astype(np.int32)
    offsets = pa.array([0, len(ids)], pa.int32())
    batch = Batch({"input_ids": pa.ListArray.from_arrays(offsets, pa.array(ids))}, 1)
    with small_pieces(10_000):
        (row,) = numbers(of_text(Lines), batch)
    assert (row["lines"], row["repeated"], row["repeated_at"]) == (120_000, 119_997, 12)
