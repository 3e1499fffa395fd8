"""expect_digit_runs_to_be_below."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import SPECIAL, byte_tokenizer, found, ids_of, judged, reasons

DIGITS = "expect_digit_runs_to_be_below"


def judge(*texts: str, **arguments: Any):
    return judged(DIGITS, {"input_ids": [ids_of(text) for text in texts]}, tokenizer=byte_tokenizer(), **arguments)


def test_a_run_of_129_digits_is_one_too_many():
    result = judge("pi " + "1" * 128, "pi " + "1" * 129 + " " + "2" * 40)
    (finding,) = result.findings
    assert (finding.row, finding.reason, finding.position, finding.value) == (1, "long_digit_run", 3, 129)


def test_the_run_may_be_told():
    assert judge("12345", max_run=5).success
    assert not judge("12345", max_run=4).success


@pytest.mark.parametrize("text", ["123 456", "123.456", "123a456", "123\n456", "12,345,6"])
def test_anything_else_breaks_a_run(text: str):
    assert judge(text, max_run=3).success


def test_a_special_or_masked_token_breaks_a_run():
    digits = ids_of("1" * 100)
    assert judged(DIGITS, {"input_ids": [[*digits, 2, *digits]]}, tokenizer=byte_tokenizer()).success
    rows = {"input_ids": [digits * 2], "attention_mask": [[1] * 99 + [0] + [1] * 100]}
    assert judged(DIGITS, rows, tokenizer=byte_tokenizer()).success


def test_digits_of_every_script_that_cross_ids():
    assert not judge("٣" * 129).success
    assert not judge("1٣" * 65).success
    assert not judge("\uff11" * 129).success


def test_without_max_fraction_many_digits_hold():
    assert judge("12 " * 100).success


@pytest.mark.parametrize(
    ("text", "reason"), [("ab 12", None), ("a 12", "digit_heavy"), ("1" * 129, "long_digit_run"), ("x" * 9 + "1", None)]
)
def test_max_fraction_of_visible_characters(text: str, reason: str | None):
    assert reasons(judge(text, max_fraction=0.5)) == ({} if reason is None else {reason: 1})


def test_bytes_that_make_no_character_have_no_share():
    rows = {"input_ids": [[len(SPECIAL) + 0xFF] * 9]}
    assert judged(DIGITS, rows, tokenizer=byte_tokenizer(), max_fraction=0.5).success


def test_tells_the_share_that_is_too_high():
    (finding,) = judge("a 12", max_fraction=0.5).findings
    assert finding.value == pytest.approx(2 / 3, abs=1e-6)


def test_null_empty_blank_and_unpaired_rows_are_missing():
    digits = ids_of("1" * 200)
    rows = {
        "input_ids": [None, [], [1, 2], ids_of("    "), digits],
        "attention_mask": [[1], [], [1, 1], [1] * 4, [1]],
    }
    result = judged(DIGITS, rows, tokenizer=byte_tokenizer())
    assert result.success
    assert (result.element_count, result.missing_count) == (5, 5)


def test_without_characters_it_cannot_be_judged():
    result = judged(DIGITS, {"input_ids": [[5, 6]]}, vocabulary={"size": 100})
    assert not result.success
    assert result.unjudged is not None


def test_by_source_with_and_without_a_fraction():
    rows = {"input_ids": [ids_of("12 34"), ids_of("12 34"), ids_of("1" * 129)], "source": ["maths", "web", "maths"]}
    result = judged(DIGITS, rows, tokenizer=byte_tokenizer(), by_source={"web": {"max_fraction": 0.5}})
    assert found(result) == [(1, "digit_heavy"), (2, "long_digit_run")]
    assert [each.value for each in result.findings] == [1, 129]
