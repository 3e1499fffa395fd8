"""expect_symbol_fraction_to_be_below."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import SPECIAL, byte_tokenizer, found, ids_of, judged

SYMBOLS = "expect_symbol_fraction_to_be_below"


def judge(*texts: str, **arguments: Any):
    return judged(SYMBOLS, {"input_ids": [ids_of(text) for text in texts]}, tokenizer=byte_tokenizer(), **arguments)


def test_more_than_half_is_too_much_and_half_holds():
    result = judge("ab#$%^&*()ab", "abcdef#$%^&*", "+++++++++a ")
    assert found(result) == [(0, "symbol_heavy"), (2, "symbol_heavy")]
    assert [each.value for each in result.findings] == [pytest.approx(8 / 12, abs=1e-6), 0.9]


def test_the_fraction_may_be_told():
    assert judge("ab#$%^&*()ab", max_fraction=0.7).success
    assert not judge("abcdefghij-", max_fraction=0.05).success
    assert judge("!" * 20, max_fraction=1.0).success
    assert not judge("abcdefghij-", max_fraction=0).success


def test_rows_of_few_tokens_hold():
    assert judge("#" * 9).success
    assert not judge("#" * 10).success
    assert not judge("#" * 9, min_tokens=9).success
    assert not judge("#", min_tokens=0).success


def test_special_tokens_are_not_counted_among_the_few():
    rows = {"input_ids": [[1, *ids_of("#" * 9), 2]]}
    assert judged(SYMBOLS, rows, tokenizer=byte_tokenizer()).success


def test_white_space_is_in_no_share():
    assert not judge("#" * 10 + " " * 500).success
    assert judge("a" * 10 + " " * 500).success


@pytest.mark.parametrize("text", ["、。「」\uff01\uff1f" * 5, "€£¥" * 5, "😀" * 5, "→≠∑" * 5])
def test_symbols_of_every_script_that_cross_ids(text: str):
    assert found(judge(text)) == [(0, "symbol_heavy")]


@pytest.mark.parametrize("text", ["床前明月光" * 5, "हिन्दी भाषा " * 5, "Ελληνικά " * 3, "e\u0301a\u0300" * 9])
def test_letters_of_every_script_hold(text: str):
    assert judge(text, max_fraction=0).success


def test_bytes_that_make_no_character_do_not_count():
    broken = [len(SPECIAL) + byte for byte in b"abcdefghij" + b"\xff\xe4\xb8" * 30]
    assert judged(SYMBOLS, {"input_ids": [broken]}, tokenizer=byte_tokenizer(), max_fraction=0).success
    assert judged(SYMBOLS, {"input_ids": [broken[10:]]}, tokenizer=byte_tokenizer(), max_fraction=0).success


def test_padding_and_masked_tokens_are_not_text():
    text, hidden = ids_of("abcdefghij"), ids_of("#" * 20)
    rows = {"input_ids": [text + hidden], "attention_mask": [[1] * len(text) + [0] * len(hidden)]}
    assert judged(SYMBOLS, rows, tokenizer=byte_tokenizer()).success


def test_null_empty_blank_and_unpaired_rows_are_missing():
    rows = {
        "input_ids": [None, [], [1, 2], ids_of("    "), ids_of("#" * 20)],
        "attention_mask": [[1], [], [1, 1], [1] * 4, [1]],
    }
    result = judged(SYMBOLS, rows, tokenizer=byte_tokenizer())
    assert result.success
    assert (result.element_count, result.missing_count) == (5, 5)


def test_without_characters_it_cannot_be_judged():
    result = judged(SYMBOLS, {"input_ids": [[5, 6]]}, vocabulary={"size": 100})
    assert not result.success
    assert result.unjudged is not None
    assert "--tokenizer" in result.unjudged.fix


def test_by_source_allows_a_source_more():
    heavy = ids_of("#" * 20)
    rows = {"input_ids": [heavy, heavy], "source": ["code", "web"]}
    result = judged(SYMBOLS, rows, tokenizer=byte_tokenizer(), by_source={"code": {"max_fraction": 1.0}})
    assert found(result) == [(1, "symbol_heavy")]
    assert result.details["by_source"] == {"web": 1}


def test_mostly_at_its_limit():
    texts = ["#" * 20, *["a" * 20] * 999]
    assert judge(*texts, mostly=0.999).success
    assert not judge(*texts[:999], mostly=0.999).success
