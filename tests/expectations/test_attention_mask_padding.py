"""expect_attention_mask_to_match_padding."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tests.builders import byte_tokenizer, found, judged, list_array, reasons, table_of

MATCH = "expect_attention_mask_to_match_padding"
OWN = {"size": 100, "pad": 0, "bos": 1, "eos": 2, "unk": 3}
PAD_IS_EOS = {"size": 100, "pad": 2, "bos": 1, "eos": 2}
GPT2 = {"size": 100, "pad": 9, "bos": 9, "eos": 9, "unk": 9}


def places(
    ids: list[int], mask: list[int] | None, vocabulary: dict[str, int], **arguments: Any
) -> list[tuple[str, int]]:
    """Return reason and position of the findings on one row."""
    rows = {"input_ids": [ids]} | ({} if mask is None else {"attention_mask": [mask]})
    result = judged(MATCH, rows, vocabulary=vocabulary, **arguments)
    assert result.success == (not result.findings)
    return [(each.reason, each.position) for each in result.findings]


@pytest.mark.parametrize(
    ("ids", "mask", "unexpected"),
    [
        ([5, 6, 0, 0], [1, 1, 0, 0], []),
        ([0, 0, 5, 6], [0, 0, 1, 1], []),
        ([0, 5, 6, 0], [0, 1, 1, 0], []),
        ([5, 6, 7, 8], [1, 1, 1, 1], []),
        ([5, 6, 0, 0], [1, 1, 1, 1], [("attended_padding", 2)]),
        ([5, 6, 0, 0], [1, 1, 1, 0], [("attended_padding", 2)]),
        ([0, 0, 5, 6], [1, 1, 1, 1], [("attended_padding", 0)]),
        ([0, 0, 5, 6], [0, 1, 1, 1], [("attended_padding", 1)]),
        ([5, 6, 7, 0], [1, 1, 0, 0], [("masked_token", 2)]),
        ([5, 6, 7, 0], [0, 1, 1, 0], [("masked_token", 0)]),
        ([5, 6, 0, 7], [1, 1, 0, 0], [("masked_token", 3)]),
        ([5, 6, 2, 0], [1, 1, 0, 0], [("masked_token", 2)]),
        ([0, 5, 6, 0], [1, 1, 1, 0], []),  # the padded end is the other one
        ([0, 5, 6, 0], [0, 1, 1, 1], []),
    ],
)
def test_a_pad_of_its_own(ids: list[int], mask: list[int], unexpected: list[tuple[str, int]]):
    assert places(ids, mask, OWN) == unexpected


@pytest.mark.parametrize(
    ("ids", "mask", "unexpected"),
    [
        ([5, 6, 2, 2, 2], [1, 1, 1, 0, 0], []),
        ([5, 6, 2, 2, 2], [1, 1, 0, 0, 0], []),
        ([5, 6, 2, 2, 2], [1, 1, 1, 1, 0], [("attended_padding", 3)]),
        ([5, 6, 2, 2, 2], [1, 1, 1, 1, 1], [("attended_padding", 3)]),
        ([5, 6, 7, 2], [1, 1, 1, 1], []),
        ([5, 6, 7, 2], [1, 1, 0, 0], [("masked_token", 2)]),
        ([2, 2, 5, 2], [0, 0, 1, 1], []),
        ([2, 2, 5, 6], [0, 1, 1, 1], [("attended_padding", 1)]),
    ],
)
@pytest.mark.parametrize("pad_shared", ["auto", False])
def test_the_first_trailing_eos_may_be_attended_where_pad_is_eos(
    ids: list[int], mask: list[int], unexpected: list[tuple[str, int]], pad_shared: Any
):
    assert places(ids, mask, PAD_IS_EOS, pad_shared=pad_shared) == unexpected


@pytest.mark.parametrize(
    ("ids", "mask", "unexpected"),
    [
        ([9, 5, 6, 9], [1, 1, 1, 1], []),
        ([9, 9, 9, 5, 6], [0, 0, 1, 1, 1], []),
        ([9, 9, 9, 5, 6], [0, 1, 1, 1, 1], [("attended_padding", 1)]),
        ([9, 5, 9, 9, 9], [1, 1, 1, 0, 0], []),
        ([5, 9, 6, 9, 7, 9], [1, 1, 1, 1, 1, 1], []),
    ],
)
def test_one_id_for_every_special_token(ids: list[int], mask: list[int], unexpected: list[tuple[str, int]]):
    assert places(ids, mask, GPT2) == unexpected


@pytest.mark.parametrize(
    ("ids", "vocabulary", "unexpected"),
    [
        ([5, 6, 2], PAD_IS_EOS, []),
        ([5, 6, 2, 2], PAD_IS_EOS, [("mask_not_inferable", 2)]),
        ([5, 6, 2, 2, 2], PAD_IS_EOS, [("mask_not_inferable", 2)]),
        ([2, 2, 5, 2], PAD_IS_EOS, []),
        ([9, 5, 6, 9, 9], GPT2, [("mask_not_inferable", 3)]),
        ([5, 6, 0, 0], OWN, []),
        ([0, 5, 0, 6], OWN, []),
        ([5, 2, 2], OWN, []),
    ],
)
def test_without_a_mask(ids: list[int], vocabulary: dict[str, int], unexpected: list[tuple[str, int]]):
    assert places(ids, None, vocabulary) == unexpected


def test_a_pad_in_the_middle_is_noted_and_holds():
    rows = {"input_ids": [[5, 0, 6], [5, 6, 7]], "attention_mask": [[1, 1, 1], [1, 1, 1]]}
    result = judged(MATCH, rows, vocabulary=OWN, pad_shared=False)
    assert result.success
    (note,) = result.details["notes"]
    assert note.startswith("1 rows")


def test_a_shared_pad_in_the_middle_is_a_real_token_without_a_note():
    rows = {"input_ids": [[5, 0, 6, 0]], "attention_mask": [[1, 1, 1, 1]]}
    result = judged(MATCH, rows, vocabulary=OWN, pad_shared=True)
    assert result.success
    assert "notes" not in result.details


def test_of_a_shared_pad_one_may_end_a_row():
    assert places([5, 0, 6, 0], [1, 1, 1, 1], OWN, pad_shared=True) == []
    assert places([5, 6, 0, 0], [1, 1, 1, 1], OWN, pad_shared=True) == [("attended_padding", 3)]
    assert places([5, 6, 0, 0], [1, 1, 1, 0], OWN, pad_shared=True) == []


def test_auto_takes_separators_in_one_row_of_a_hundred_for_real_tokens():
    full, ended, separated = [5, 6, 7, 8], [5, 6, 7, 0], [5, 0, 7, 8]
    packed = {"input_ids": [separated, ended, *[full] * 98], "attention_mask": [[1] * 4] * 100}
    assert judged(MATCH, packed, vocabulary=OWN).success
    assert found(judged(MATCH, packed, vocabulary=OWN, pad_shared=False)) == [(1, "attended_padding")]
    fewer = {"input_ids": [separated, ended, *[full] * 99], "attention_mask": [[1] * 4] * 101}
    assert found(judged(MATCH, fewer, vocabulary=OWN)) == [(1, "attended_padding")]


def test_counts_of_rows_and_reasons():
    rows = {
        "input_ids": [[5, 0], [5, 6], [5, 6], None, [], [0, 0], [5, 6]],
        "attention_mask": [[1, 1], [1, 0], [1, 1], [1], [], [0, 0], [1]],
    }
    result = judged(MATCH, rows, vocabulary=OWN)
    assert found(result) == [(0, "attended_padding"), (1, "masked_token")]
    assert reasons(result) == {"attended_padding": 1, "masked_token": 1}
    assert (result.element_count, result.unexpected_count, result.missing_count) == (7, 2, 4)


def test_a_row_of_nothing_but_attended_pads_is_empty_and_not_this_ones():
    assert places([0, 0], [1, 1], OWN) == []


@pytest.mark.parametrize("kind", [pa.bool_(), pa.int8(), pa.int64()])
def test_every_type_of_mask(kind: pa.DataType):
    rows = table_of(input_ids=[[5, 0], [5, 0]], attention_mask=list_array([[1, 1], [1, 0]], kind))
    assert found(judged(MATCH, rows, vocabulary=OWN)) == [(0, "attended_padding")]


def test_without_a_pad_it_cannot_be_judged():
    result = judged(MATCH, {"input_ids": [[5, 6]]}, vocabulary={"size": 100})
    assert not result.success
    assert result.unjudged is not None
    assert "pad" in result.unjudged.missing


def test_a_tokenizer_without_pad_and_eos_is_not_asked_for_again():
    tokenizer = byte_tokenizer(("<s>",), ("bos",))
    result = judged(MATCH, {"input_ids": [[5, 6]]}, tokenizer=tokenizer)
    assert result.unjudged is not None
    assert "pad" in result.unjudged.missing


def test_where_no_pad_is_named_eos_is_taken_for_it():
    rows = {
        "input_ids": [[5, 6, 2, 2, 2], [5, 6, 2, 2, 2], [5, 6, 7, 2, 2], [5, 6, 0, 0, 0]],
        "attention_mask": [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0]],
    }
    result = judged(MATCH, rows, vocabulary={"size": 10, "eos": 2})
    assert found(result) == [(0, "attended_padding")]
    assert any("eos, 2, is taken" in note for note in result.details["notes"])


def test_one_pad_at_the_end_of_many_rows_is_an_eos_of_the_same_id():
    rows = {"input_ids": [[5, 6, 0]] * 9 + [[5, 0, 0]], "attention_mask": [[1, 1, 1]] * 10}
    assert found(judged(MATCH, rows, vocabulary={"size": 10, "pad": 0})) == [(9, "attended_padding")]
    assert judged(MATCH, rows, vocabulary={"size": 10, "pad": 0}, pad_shared=False).unexpected_count == 10


def test_a_prefixed_column_brings_its_own_mask():
    rows = {"chosen_input_ids": [[5, 0]], "chosen_attention_mask": [[1, 1]], "attention_mask": [[1, 0]]}
    result = judged(MATCH, rows, vocabulary=OWN, column="chosen_input_ids")
    assert [(each.column, each.reason) for each in result.findings] == [("chosen_input_ids", "attended_padding")]
