"""expect_no_control_characters."""

from __future__ import annotations

import unicodedata

import pytest

from tests.builders import byte_tokenizer, found, ids_of, judged
from tests.expectations.texts import each_kind, judge_texts

CONTROL = "expect_no_control_characters"
CONTROLS = [chr(code) for code in range(0x100) if unicodedata.category(chr(code)) == "Cc" and chr(code) not in "\t\r\n"]


@each_kind
def test_every_control_character_but_tab_and_line_ends_is_flagged(kind: str):
    texts = [f"ab{each}cd" for each in CONTROLS]
    result = judge_texts(CONTROL, *texts, "col1\tcol2\r\nx\ty\n", kind=kind)
    assert found(result) == [(row, "control_character") for row in range(len(CONTROLS))]
    assert {each.position for each in result.findings} == {2}
    assert result.findings[0].detail == "the first is code point 0"


@each_kind
@pytest.mark.parametrize("text", ["plain", "\u200b\u2028\u00ad\ufeff\u202e", "é中😀", "", "\xa0" * 40])
def test_other_invisible_characters_hold(text: str, kind: str):
    assert judge_texts(CONTROL, text, kind=kind).success


def test_all_are_counted():
    (each,) = judge_texts(CONTROL, "x" * 64 + "bell\x07 esc\x1b[0m").findings
    assert (each.value, each.position) == (2, 68)


def test_hidden_and_special_tokens_are_not_text():
    hidden = [*ids_of("ab"), *ids_of("\x00")]
    rows = {"input_ids": [hidden, hidden], "attention_mask": [[1, 1, 0], [1, 1, 1]]}
    assert found(judged(CONTROL, rows, tokenizer=byte_tokenizer())) == [(1, "control_character")]
    assert judged(CONTROL, {"input_ids": [[1, 5 + 60, 2, 0, 0]]}, tokenizer=byte_tokenizer()).success
