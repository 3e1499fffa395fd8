"""expect_labels_not_to_cross_documents."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import found, judged

CROSS = "expect_labels_not_to_cross_documents"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2}
X = -100


def places(ids: list[int], labels: list[int], shift: int, **told: Any) -> list[tuple[Any, Any]]:
    """Return position and label of the findings on one row."""
    rows = {"input_ids": [ids], "labels": [labels], **{name: [cells] for name, cells in told.items()}}
    result = judged(CROSS, rows, vocabulary=VOCABULARY, shift=shift)
    assert result.success == (not result.findings)
    return [(each.position, each.value) for each in result.findings]


@pytest.mark.parametrize(
    "told",
    [
        {"document_ids": [0, 0, 1, 1]},
        {"cu_seqlens": [0, 2, 4]},
        {"seq_lengths": [2, 2]},
        {"attention_mask": [1, 1, 2, 2]},
    ],
)
def test_the_border_of_two_documents(told: dict[str, list[int]]):
    pack = [5, 6, 7, 8]
    assert places(pack, pack, 0, **told) == [(2, 7)]
    assert places(pack, [X, 6, X, 8], 0, **told) == []
    assert places(pack, [6, 7, 8, 9], 1, **told) == [(1, 7)]
    assert places(pack, [6, X, 8, 9], 1, **told) == []


@pytest.mark.parametrize(
    ("ids", "labels", "shift", "unexpected"),
    [
        ([5, 2, 6, 2], [5, 2, 6, 2], 0, [(2, 6)]),
        ([5, 2, 6, 2], [5, 2, X, 2], 0, []),
        ([5, 2, 6, 2], [2, 6, 2, X], 1, [(1, 6)]),
        ([5, 2, 6, 2], [2, X, 2, 11], 1, [(3, 11)]),
        ([5, 6, 7, 8], [6, 7, 8, 9], 1, []),
        ([5, 2, 0, 0], [2, 11, X, X], 1, [(1, 11)]),
        ([5, 2, 0, 0], [2, 0, X, X], 1, []),
    ],
)
def test_eos_tells_where_nothing_else_does(ids: list[int], labels: list[int], shift: int, unexpected: list[Any]):
    assert places(ids, labels, shift) == unexpected


def test_eos_says_nothing_where_a_column_does():
    told = {"document_ids": [0, 0, 0, 0]}
    assert places([5, 2, 6, 2], [5, 2, 6, 2], 0, **told) == []
    assert places([5, 2, 6, 2], [2, 6, 2, 11], 1, **told) == []


def test_says_that_eos_alone_told():
    rows = {"input_ids": [[5, 2, 6]], "labels": [[X, 2, X]]}
    result = judged(CROSS, rows, vocabulary=VOCABULARY, shift=0)
    assert result.success
    assert "by eos alone" in result.details["notes"][0]


def test_the_first_document_has_none_before_it_and_padding_is_none():
    left = {"document_ids": [9, 0, 0, 0], "attention_mask": [0, 1, 1, 1]}
    assert places([0, 5, 6, 7], [X, 5, 6, 7], 0, **left) == []
    right = {"document_ids": [0, 0, 1, 1], "attention_mask": [1, 1, 0, 0]}
    assert places([5, 6, 0, 0], [6, 0, X, X], 1, **right) == []


def test_allowed_targets_hold():
    rows = {"input_ids": [[5, 2, 6]], "labels": [[5, 2, 6]]}
    assert judged(CROSS, rows, vocabulary=VOCABULARY, shift=0, allow=True).success


def test_another_ignore_index():
    rows = {"input_ids": [[5, 2, 6]], "labels": [[5, 2, -1]]}
    assert judged(CROSS, rows, vocabulary=VOCABULARY, shift=0, ignore_index=-1).success
    assert not judged(CROSS, rows, vocabulary=VOCABULARY, shift=0).success


def test_null_and_unequal_rows_are_missing():
    rows = {
        "input_ids": [None, [], [5, 2, 6], [5, 2, 6], [5, 6]],
        "labels": [[], [], [5], [5, 2, 6], [5, 6]],
        "document_ids": [[], [], [0, 0, 1], [0], [0, 0]],
    }
    result = judged(CROSS, rows, vocabulary=VOCABULARY, shift=0)
    assert (result.success, result.element_count, result.missing_count) == (True, 5, 4)


def test_without_labels_it_cannot_be_judged():
    assert judged(CROSS, {"input_ids": [[5]]}, vocabulary=VOCABULARY).unjudged is not None


def test_a_prefix_brings_its_own_columns():
    rows = {
        "chosen_input_ids": [[5, 6]],
        "chosen_labels": [[5, 6]],
        "chosen_document_ids": [[0, 0]],
        "rejected_input_ids": [[5, 6]],
        "rejected_labels": [[5, 6]],
        "rejected_document_ids": [[0, 1]],
    }
    assert judged(CROSS, rows, vocabulary=VOCABULARY, shift=0, column="chosen_input_ids").success
    result = judged(CROSS, rows, vocabulary=VOCABULARY, shift=0, column="rejected_input_ids")
    assert found(result) == [(0, "boundary_target")]
