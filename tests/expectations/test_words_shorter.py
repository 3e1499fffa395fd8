"""expect_words_to_be_shorter_than."""

from __future__ import annotations

import pytest

from tests.builders import found
from tests.expectations.texts import each_kind, judge_texts

LONG = "expect_words_to_be_shorter_than"


@each_kind
def test_more_than_two_hundred_characters_are_too_long(kind: str):
    result = judge_texts(LONG, "é " + "é" * 201 + " b", "x" * 200, "y" * 201, kind=kind)
    assert found(result) == [(0, "long_word"), (2, "long_word")]
    assert [each.value for each in result.findings] == [201, 201]
    assert result.findings[0].position == (3 if kind == "ids" else 2)


@each_kind
@pytest.mark.parametrize(
    "text", ["中文字" * 99, "ภาษาไทย" * 99, "日本語かなカナ、" * 99, "word " * 99, "", "2023年" * 99]
)
def test_scripts_without_white_space_hold(text: str, kind: str):
    assert judge_texts(LONG, text, kind=kind).success


def test_the_longest_may_be_told():
    assert judge_texts(LONG, "five5 six666", max_characters=6).success
    assert not judge_texts(LONG, "five5 six666", max_characters=5).success
