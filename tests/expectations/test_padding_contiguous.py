"""expect_padding_to_be_contiguous."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.builders import found, judged, list_array, reasons, table_of

CONTIGUOUS = "expect_padding_to_be_contiguous"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2}


def test_padding_at_the_ends_holds():
    rows = {
        "input_ids": [[5, 6, 0], [0, 5, 6], [0, 5, 0], [5, 6, 7]],
        "attention_mask": [[1, 1, 0], [0, 1, 1], [0, 1, 0], [1, 1, 1]],
    }
    assert judged(CONTIGUOUS, rows, vocabulary=VOCABULARY).success


def test_a_hole_is_told_with_its_place_and_size():
    rows = {"input_ids": [[0, 5, 0, 6, 0, 0, 7, 0]], "attention_mask": [[0, 1, 0, 1, 0, 0, 1, 0]]}
    result = judged(CONTIGUOUS, rows, vocabulary=VOCABULARY)
    assert found(result) == [(0, "inner_padding")]
    assert (result.findings[0].position, result.findings[0].value) == (2, 3)
    assert reasons(result) == {"inner_padding": 1}


def test_a_masked_token_in_the_middle_is_a_hole_whatever_it_is():
    assert not judged(CONTIGUOUS, {"input_ids": [[5, 6, 7]], "attention_mask": [[1, 0, 1]]}).success


@pytest.mark.parametrize("kind", [pa.bool_(), pa.int8(), pa.uint8(), pa.int64()])
def test_every_type_of_mask(kind: pa.DataType):
    rows = table_of(input_ids=[[5, 6, 7], [5, 6, 7]], attention_mask=list_array([[1, 0, 1], [1, 1, 0]], kind))
    assert found(judged(CONTIGUOUS, rows)) == [(0, "inner_padding")]


def test_segment_numbers_are_attended():
    assert judged(CONTIGUOUS, {"input_ids": [[5, 6, 7, 0]], "attention_mask": [[1, 2, 3, 0]]}).success


def test_pads_between_tokens_are_no_padding_without_a_mask():
    assert judged(CONTIGUOUS, {"input_ids": [[5, 0, 6, 0]]}, vocabulary=VOCABULARY).success


def test_null_empty_and_unpaired_rows_are_missing():
    rows = {"input_ids": [None, [], [0, 0, 0], [5, 6, 7]], "attention_mask": [[1], [], [0, 0, 0], [1, 0]]}
    result = judged(CONTIGUOUS, rows, vocabulary=VOCABULARY)
    assert result.success
    assert (result.element_count, result.missing_count) == (4, 4)


def test_mostly():
    rows = {"input_ids": [[5, 6, 7]] * 4, "attention_mask": [[1, 0, 1]] + [[1, 1, 1]] * 3}
    assert judged(CONTIGUOUS, rows, mostly=0.75).success
    assert not judged(CONTIGUOUS, rows, mostly=0.8).success


def test_a_mask_of_fractions_cannot_be_judged():
    rows = table_of(input_ids=[[5, 6]], attention_mask=pa.array([[0.0, -1e9]], pa.list_(pa.float32())))
    result = judged(CONTIGUOUS, rows)
    assert not result.success
    assert result.unjudged is not None
    assert "attention_mask" in result.unjudged.missing
