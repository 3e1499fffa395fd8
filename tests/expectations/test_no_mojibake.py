"""expect_no_mojibake. What is told from real words: tests/metrics/test_mojibake.py."""

from __future__ import annotations

import pytest

from tests.builders import byte_tokenizer, found, ids_of, judged
from tests.expectations.texts import each_kind, judge_texts

MOJIBAKE = "expect_no_mojibake"


@each_kind
def test_utf_8_read_as_another_encoding_is_flagged(kind: str):
    text = "un café à l’été"
    wrong = [text.encode().decode("latin-1"), text.encode().decode("cp1252"), "Привет".encode().decode("latin-1")]
    result = judge_texts(MOJIBAKE, text, *wrong, "Привет", kind=kind)
    assert found(result) == [(1, "mojibake"), (2, "mojibake"), (3, "mojibake")]
    assert [each.position for each in result.findings] == [6, 6, 0]
    assert [each.value for each in result.findings] == [5, 5, 6]


@each_kind
@pytest.mark.parametrize("text", ["SÃO PAULO", "MAÇÔ", "CHÂTEAU", "5 Å²", "„Spaß“", "«été»…", "Úžasný", "é’”"])
def test_real_words_hold(text: str, kind: str):
    assert judge_texts(MOJIBAKE, text, kind=kind).success


def test_characters_that_cross_rows_are_none():
    assert judge_texts(MOJIBAKE, "Ã", "©").success


def test_a_special_token_parts_them():
    lead, follower = ids_of("aÃ"), ids_of("©a")
    rows = {"input_ids": [[*lead, 2, *follower], [*lead, *follower]]}
    assert found(judged(MOJIBAKE, rows, tokenizer=byte_tokenizer())) == [(1, "mojibake")]
