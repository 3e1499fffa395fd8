"""expect_prompt_to_be_prefix."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tests.builders import found, judged, list_array, table_of

PREFIX = "expect_prompt_to_be_prefix"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2}
INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


def judge(prompt: list[int], ids: list[int], mask: list[int] | None = None, **arguments: Any) -> list[Any]:
    """Return position, id and detail of the findings on one row."""
    rows = {"input_ids": [ids], "prompt_ids": [prompt]} | ({} if mask is None else {"attention_mask": [mask]})
    result = judged(PREFIX, rows, **arguments)
    assert result.success == (not result.findings)
    assert all(each.reason == "not_prefix" for each in result.findings)
    return [(each.position, each.value, each.detail) for each in result.findings]


def test_pieces_that_merge_at_the_border():
    assert judge([1, 5, 6, 7], [1, 5, 6, 41, 10, 2]) == [(3, 41, "the prompt has 7 there")]
    assert judge([1, 5, 6], [1, 5, 6, 9, 2]) == []


def test_a_prompt_without_bos_or_with_eos_is_no_prefix():
    assert judge([5, 6], [1, 5, 6, 9]) == [(0, 1, "the prompt has 5 there")]
    assert judge([1, 5, 2], [1, 5, 9, 2]) == [(2, 9, "the prompt has 2 there")]


def test_the_whole_row_or_nothing_is_a_prefix():
    assert judge([1, 5, 6], [1, 5, 6]) == []
    assert judge([], [1, 5, 6]) == []


def test_of_a_row_cut_inside_its_prompt_what_is_left_is_compared():
    assert judge([1, 5, 6, 7], [1, 5, 6]) == []
    assert judge([1, 5, 6, 7], [1, 5, 6, 0, 0], [1, 1, 1, 0, 0]) == []
    assert judge([1, 5, 6, 7], [1, 5, 9]) == [(2, 9, "the prompt has 6 there")]


@pytest.mark.parametrize("told", [{"mask": [0, 0, 1, 1, 1]}, {"vocabulary": VOCABULARY}])
def test_padding_on_the_left_stands_before_the_prompt(told: dict[str, Any]):
    row = [0, 0, 1, 5, 9]
    assert judge([1, 5], row, **told) == []
    assert judge([0, 0, 1, 5], row, **told) == []
    assert judge([1, 6], row, **told) == [(3, 5, "the prompt has 6 there")]


def test_a_prompt_may_be_padded_itself():
    assert judge([1, 5, 0, 0], [1, 5, 9, 2], vocabulary=VOCABULARY) == []
    assert judge([0, 1, 5], [1, 5, 9, 2], vocabulary=VOCABULARY) == []
    assert judge([1, 5, 0, 0], [1, 5, 9, 2]) == [(2, 9, "the prompt has 0 there")]


def test_null_and_empty_rows_are_missing():
    rows = {
        "input_ids": [None, [], [5], [5, None], [5], [0, 0], [5, 6]],
        "prompt_ids": [[5], [5], None, [5], [None], [5], [5]],
    }
    result = judged(PREFIX, rows, vocabulary=VOCABULARY)
    assert (result.success, result.missing_count) == (True, 6)
    masked = {"input_ids": [[5, 6]] * 3, "prompt_ids": [[9]] * 3, "attention_mask": [[1], None, [0, 0]]}
    assert judged(PREFIX, masked).missing_count == 3


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("layout", ["list", "large_list", "list_view", "fixed"])
def test_every_type_and_layout(kind: pa.DataType, layout: str):
    prompts = list_array([[1, 5], [1, 6]], kind, layout, skip=1)
    rows = table_of(input_ids=[[1, 5, 9], [1, 5, 9]], prompt_ids=prompts)
    assert found(judged(PREFIX, rows)) == [(1, "not_prefix")]


def test_ids_beyond_32_bits_are_compared_whole():
    prompts = list_array([[2**32 + 5], [5]], pa.int64())
    assert found(judged(PREFIX, table_of(input_ids=[[5], [5]], prompt_ids=prompts))) == [(0, "not_prefix")]


def test_the_sides_of_a_pair_share_a_prompt_or_have_their_own():
    rows = {"chosen_input_ids": [[5, 6]], "rejected_input_ids": [[7, 6]], "prompt_ids": [[5]]}
    assert judged(PREFIX, rows, column="chosen_input_ids").success
    (finding,) = judged(PREFIX, rows, column="rejected_input_ids").findings
    assert (finding.row, finding.column) == (0, "rejected_input_ids")
    own = rows | {"rejected_prompt_ids": [[7]]}
    assert judged(PREFIX, own, column="rejected_input_ids").success


def test_without_a_prompt_it_cannot_be_judged():
    for rows in ({"input_ids": [[5]]}, {"input_ids": [[5]], "prompt_length": [1]}):
        result = judged(PREFIX, rows)
        assert not result.success
        assert result.unjudged is not None
        assert "no column prompt_ids" in result.unjudged.missing
