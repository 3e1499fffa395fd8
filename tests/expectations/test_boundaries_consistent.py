"""expect_document_boundaries_to_be_consistent."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import found, judged, reasons

BOUNDARIES = "expect_document_boundaries_to_be_consistent"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2}
PADDED = {"input_ids": [[5, 6, 7, 0, 0]], "attention_mask": [[1, 1, 1, 0, 0]]}


def reason_of(columns: dict[str, Any], vocabulary: dict[str, int] | None = None, **told: Any) -> str | None:
    rows = {**columns, **{name: [cells] for name, cells in told.items()}}
    result = judged(BOUNDARIES, rows, vocabulary=vocabulary or VOCABULARY)
    assert result.success == (not result.findings)
    assert result.missing_count == 0
    return result.findings[0].reason if result.findings else None


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        ([0, 1, 3], None),
        ([0, 1, 3, 5], None),
        ([0, 3], None),
        ([0, 1, 5], "missing_boundary"),
        ([0, 1, 4], "missing_boundary"),
        ([0, 1], "missing_boundary"),
        ([1, 3], "missing_boundary"),
        ([0], "missing_boundary"),
        ([], "missing_boundary"),
        ([0, 1, 1, 3], "not_rising"),
        ([0, 2, 1, 3], "not_rising"),
        ([-1, 3], "not_rising"),
        ([0, 6], "beyond_row"),
        ([0, 6, 3], "beyond_row"),
        ([0, 2**31 - 1], "beyond_row"),
    ],
)
def test_cu_seqlens(bounds: list[int], reason: str | None):
    assert reason_of(PADDED, cu_seqlens=bounds) == reason


@pytest.mark.parametrize(
    ("lengths", "reason"),
    [
        ([1, 2], None),
        ([3], None),
        ([1, 2, 2], None),
        ([5], "missing_boundary"),
        ([1, 4], "missing_boundary"),
        ([1, 1], "wrong_sum"),
        ([1, 3], "wrong_sum"),
        ([4, 4], "wrong_sum"),
        ([], "wrong_sum"),
        ([1, 0, 2], "not_rising"),
        ([4, -1], "not_rising"),
    ],
)
def test_seq_lengths(lengths: list[int], reason: str | None):
    assert reason_of(PADDED, seq_lengths=lengths) == reason


def test_padding_may_be_told_by_the_pad_id():
    row = {"input_ids": [[5, 6, 7, 0, 0]]}
    assert reason_of(row, cu_seqlens=[0, 3]) is None
    assert reason_of(row, cu_seqlens=[0, 3, 5]) is None
    shared = VOCABULARY | {"pad": 2}
    row = {"input_ids": [[5, 6, 2, 2, 2]]}
    assert reason_of(row, shared, cu_seqlens=[0, 3]) is None
    assert reason_of(row, shared, cu_seqlens=[0, 5]) is None
    assert reason_of(row, shared, cu_seqlens=[0, 1]) == "missing_boundary"


def test_left_padding():
    row = {"input_ids": [[0, 0, 5, 6, 7]], "attention_mask": [[0, 0, 1, 1, 1]]}
    assert reason_of(row, cu_seqlens=[0, 1, 3]) is None
    assert reason_of(row, cu_seqlens=[0, 2, 5]) is None
    assert reason_of(row, cu_seqlens=[0, 3, 5]) == "missing_boundary"


@pytest.mark.parametrize(
    ("told", "position"),
    [
        ({"document_ids": [0, 1, 1, 2, 2], "cu_seqlens": [0, 1, 3, 5]}, None),
        ({"document_ids": [0, 1, 1, 1, 1], "cu_seqlens": [0, 1, 3]}, None),
        ({"document_ids": [0, 0, 1, 1, 1], "cu_seqlens": [0, 1, 3]}, 1),
        ({"document_ids": [0, 0, 0, 0, 0], "seq_lengths": [1, 2]}, 1),
        ({"document_ids": [0, 1, 2, 2, 2], "seq_lengths": [1, 2]}, 2),
        ({"cu_seqlens": [0, 1, 3], "seq_lengths": [1, 2]}, None),
        ({"cu_seqlens": [0, 1, 3], "seq_lengths": [2, 1]}, 1),
    ],
)
def test_columns_agree(told: dict[str, list[int]], position: int | None):
    result = judged(BOUNDARIES, {**PADDED, **{name: [cells] for name, cells in told.items()}}, vocabulary=VOCABULARY)
    expected = [] if position is None else [("missing_boundary", position)]
    assert [(each.reason, each.position) for each in result.findings] == expected


def test_the_worse_of_two_columns_is_told():
    rows = {**PADDED, "cu_seqlens": [[0, 9]], "seq_lengths": [[1, 1]]}
    result = judged(BOUNDARIES, rows, vocabulary=VOCABULARY)
    assert [(each.reason, each.value) for each in result.findings] == [("beyond_row", 9)]


def test_rows_that_tell_nothing_are_missing():
    rows = {
        "input_ids": [None, [], [5, 6], [5, 6], [5, 6]],
        "attention_mask": [[], [], [1, 1], [1], [1, 1]],
        "cu_seqlens": [[0], [0], None, [0, 9], [0, 2]],
    }
    result = judged(BOUNDARIES, rows, vocabulary=VOCABULARY)
    assert (result.success, result.missing_count) == (True, 4)


def test_without_boundaries_it_cannot_be_judged():
    result = judged(BOUNDARIES, {"input_ids": [[5]], "document_ids": [[0]]}, vocabulary=VOCABULARY)
    assert result.unjudged is not None
    assert "cu_seqlens or seq_lengths" in result.unjudged.missing
    rows = {"chosen_input_ids": [[5]], "cu_seqlens": [[0, 1]]}
    assert judged(BOUNDARIES, rows, vocabulary=VOCABULARY, column="chosen_input_ids").unjudged is not None


def test_a_pair_is_judged_side_by_side():
    rows = {
        "chosen_input_ids": [[5, 6]],
        "chosen_cu_seqlens": [[0, 2]],
        "rejected_input_ids": [[5, 6]],
        "rejected_cu_seqlens": [[0, 1]],
    }
    assert judged(BOUNDARIES, rows, vocabulary=VOCABULARY, column="chosen_input_ids").success
    assert found(judged(BOUNDARIES, rows, vocabulary=VOCABULARY, column="rejected_input_ids")) == [
        (0, "missing_boundary")
    ]


def test_roles_may_have_other_names():
    rows = {"tokens": [[5, 6]], "lens": [[1]]}
    columns = {"input_ids": "tokens", "seq_lengths": "lens"}
    assert reasons(judged(BOUNDARIES, rows, vocabulary=VOCABULARY, columns=columns)) == {"wrong_sum": 1}
