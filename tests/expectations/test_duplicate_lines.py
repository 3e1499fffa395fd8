"""expect_duplicate_line_fraction_to_be_below."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import found, reasons
from tests.examples import examples
from tests.expectations.texts import each_kind, judge_texts

LINES = "expect_duplicate_line_fraction_to_be_below"


@each_kind
def test_more_than_three_lines_in_ten_are_too_many(kind: str):
    many = "\n".join(["a menu", *"bcdefg", "a menu", "a menu", "a menu"])
    few = "\n".join(["a menu", *"bcdefgh", "a menu", "a menu"]) + "\n" + "x" * 99
    result = judge_texts(LINES, many, few, kind=kind)
    assert found(result) == [(0, "duplicate_lines")]
    assert result.findings[0].value == pytest.approx(18 / 39, abs=1e-6)


@each_kind
def test_a_finding_tells_where_the_first_copy_stands(kind: str):
    (each,) = judge_texts(LINES, "é one\ntwo\né one\ntwo", kind=kind).findings
    assert each.position == (11 if kind == "ids" else 10)
    assert each.value == 0.5
    assert each.detail == "2 of 4 lines stood there before"


def test_three_lines_in_ten_and_two_characters_in_ten_hold():
    lines = ["a", "a", "a", "a", *"bcdefg"]
    assert judge_texts(LINES, "\n".join(lines), max_character_fraction=1).success
    assert not judge_texts(LINES, "\n".join(lines), max_character_fraction=1, max_fraction=0.29).success
    text = "abc\nabc\n" + "x" * 7  # 3 of 15 characters
    assert judge_texts(LINES, text, max_fraction=1).success
    assert not judge_texts(LINES, text, max_fraction=1, max_character_fraction=0.199).success


def test_long_copies_count_by_their_characters():
    text = "\n".join(["long line " * 20, *"bcdefghijkl", "long line " * 20])
    (each,) = judge_texts(LINES, text).findings
    assert each.value == pytest.approx(200 / 423, abs=1e-6)


@each_kind
@pytest.mark.parametrize("blank", ["", " ", "\t", "\r", "\xa0", "  \r"])
def test_blank_lines_do_not_count(blank: str, kind: str):
    text = f"\n{blank}\n".join(["first line", "second line", "third line", "fourth line", ""])
    assert judge_texts(LINES, text, kind=kind, max_fraction=0, max_character_fraction=0).success


@pytest.mark.parametrize("text", ["", "\n\n\n", "one line", "a\nb\nc"])
def test_texts_of_few_lines_hold(text: str):
    assert judge_texts(LINES, text, max_fraction=0, max_character_fraction=0).success


def test_an_equal_line_in_another_row_is_no_copy():
    assert judge_texts(LINES, "a\nb", "a\nb", "b\na", max_fraction=0, max_character_fraction=0).success


def by_hand(text: str, max_fraction: float, max_character_fraction: float) -> bool:
    """Judge as datatrove does, without the blank lines."""
    lines = [line for line in re.split(r"\n+", text) if line.strip()]
    copies = [line for place, line in enumerate(lines) if line in lines[:place]]
    if not copies:
        return True
    return len(copies) / len(lines) <= max_fraction and sum(map(len, copies)) / len(text) <= max_character_fraction


@examples(30)
@given(st.lists(st.lists(st.sampled_from(["a", "b", "é longer", "", " ", "x"]), max_size=8).map("\n".join), min_size=1))
def test_agrees_with_a_plain_judge(texts: list[str]):
    result = judge_texts(LINES, *texts, max_fraction=0.25, max_character_fraction=0.3)
    assert {each.row for each in result.findings} == {
        row for row, text in enumerate(texts) if not by_hand(text, 0.25, 0.3)
    }
    assert reasons(result).get("duplicate_lines", 0) == len(result.findings)
