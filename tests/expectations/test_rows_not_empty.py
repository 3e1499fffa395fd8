"""expect_rows_not_to_be_empty."""

from __future__ import annotations

import pytest

from tests.builders import byte_tokenizer, found, ids_of, judged, reasons

EMPTY = "expect_rows_not_to_be_empty"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2, "unk": 3}


def test_every_reason():
    rows = {
        "input_ids": [[], [5, 6], [1, 2], [0, 0], [5, 6], [1, 0]],
        "attention_mask": [[], [0, 0], [1, 1], [1, 1], [1, 0], [1, 0]],
    }
    result = judged(EMPTY, rows, vocabulary=VOCABULARY)
    assert found(result) == [
        (0, "no_tokens"),
        (1, "nothing_attended"),
        (2, "only_special_tokens"),
        (3, "only_special_tokens"),
        (5, "only_special_tokens"),
    ]
    assert reasons(result) == {"no_tokens": 1, "nothing_attended": 1, "only_special_tokens": 3}
    assert (result.element_count, result.unexpected_count, result.missing_count) == (6, 5, 0)


def test_a_row_of_nothing_but_pads_attends_nothing_without_a_mask():
    assert found(judged(EMPTY, {"input_ids": [[0, 0], [0, 5]]}, vocabulary=VOCABULARY)) == [(0, "nothing_attended")]


def test_pads_that_are_eos_too_are_special_tokens_without_a_mask():
    result = judged(EMPTY, {"input_ids": [[2, 2], [5, 2]]}, vocabulary={"size": 100, "pad": 2, "eos": 2})
    assert found(result) == [(0, "only_special_tokens")]


def test_unk_is_content():
    assert judged(EMPTY, {"input_ids": [[3, 3], [1, 3, 2]]}, vocabulary=VOCABULARY).success


def test_further_special_tokens_are_no_content():
    vocabulary = {**VOCABULARY, "special": {"<|im_start|>": 7}}
    assert found(judged(EMPTY, {"input_ids": [[7, 7], [7, 8]]}, vocabulary=vocabulary)) == [(0, "only_special_tokens")]


def test_special_tokens_count_where_they_are_not_ignored():
    rows = {"input_ids": [[1, 2], [], [0, 0]]}
    result = judged(EMPTY, rows, vocabulary=VOCABULARY, ignore_special=False)
    assert found(result) == [(1, "no_tokens"), (2, "nothing_attended")]


def test_white_space_alone_is_blank_text():
    rows = {"input_ids": [[1, *ids_of(" \n\u3000"), 2], ids_of(" x "), ids_of("\u200b")]}
    assert found(judged(EMPTY, rows, tokenizer=byte_tokenizer())) == [(0, "blank_text")]


def test_without_any_vocabulary_every_token_is_content():
    assert found(judged(EMPTY, {"input_ids": [[0, 0], []]})) == [(1, "no_tokens")]


@pytest.mark.parametrize(
    ("ids", "mask"), [(None, [1]), ([5, None], [1, 1]), ([5, 6], [1]), ([5, 6], None), ([5, 6], [1, None])]
)
def test_nulls_and_rows_of_unequal_length_are_missing(ids: list[int] | None, mask: list[int] | None):
    result = judged(EMPTY, {"input_ids": [ids, [5]], "attention_mask": [mask, [1]]}, vocabulary=VOCABULARY)
    assert result.success
    assert (result.element_count, result.unexpected_count, result.missing_count) == (2, 0, 1)


def test_a_row_of_no_tokens_is_empty_whatever_its_mask():
    rows = {"input_ids": [[], []], "attention_mask": [[1], None]}
    assert found(judged(EMPTY, rows, vocabulary=VOCABULARY)) == [(0, "no_tokens"), (1, "no_tokens")]


def test_a_prefixed_column_brings_its_own_mask():
    rows = {"chosen_input_ids": [[5, 6]], "chosen_attention_mask": [[0, 0]], "attention_mask": [[1, 1]]}
    result = judged(EMPTY, rows, vocabulary=VOCABULARY, column="chosen_input_ids")
    assert [(each.row, each.column, each.reason) for each in result.findings] == [
        (0, "chosen_input_ids", "nothing_attended")
    ]
