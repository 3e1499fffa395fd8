"""expect_alphabetic_word_fraction_to_be_above."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import found
from tests.examples import examples
from tests.expectations.texts import each_kind, judge_texts

FEW = "expect_alphabetic_word_fraction_to_be_above"


@each_kind
def test_four_words_in_five_are_enough(kind: str):
    result = judge_texts(FEW, "a b c d 5", "a b c 4 5", "1 2 3", "x1 2x _a_ b- --c", kind=kind)
    assert found(result) == [(1, "few_letters"), (2, "few_letters")]
    assert [each.value for each in result.findings] == [0.6, 0.0]


@each_kind
@pytest.mark.parametrize("text", ["床前 明月", "हिन्दी भाषा", "ไทย", "مرحبا", "Ελλάδα", "\u0301", "", "   \n"])
def test_letters_of_every_script_and_texts_without_words_hold(text: str, kind: str):
    assert judge_texts(FEW, text, kind=kind, min_fraction=1).success


@examples(25)
@given(st.lists(st.text("a1 é-\n", max_size=30), min_size=1, max_size=4), st.sampled_from([0, 0.1, 0.5, 0.7, 0.8, 1]))
def test_agrees_with_a_plain_judge(texts: list[str], fraction: float):
    words = [text.split() for text in texts]
    few = [
        row
        for row, each in enumerate(words)
        if each and sum(any(c.isalpha() for c in word) for word in each) / len(each) < fraction
    ]
    assert [each.row for each in judge_texts(FEW, *texts, min_fraction=fraction).findings] == few
