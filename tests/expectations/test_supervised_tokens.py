"""expect_supervised_tokens_to_be_between."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import found, judged, reasons

SUPERVISED = "expect_supervised_tokens_to_be_between"
X = -100
IDS = [5, 6, 7, 8]


@pytest.mark.parametrize(
    ("labels", "arguments", "reason", "targets"),
    [
        ([X, X, X, 8], {}, None, 1),
        ([X, X, X, X], {}, "no_target", 0),
        ([5, X, X, X], {}, "no_target", 0),
        ([5, X, X, X], {"shift": 1}, None, 1),
        ([X, X, X, 8], {"shift": 1}, None, 1),
        ([X, X, X, 8], {"min_value": 2}, "too_few", 1),
        ([5, X, 7, 8], {"min_value": 2}, None, 2),
        ([5, X, 7, 8], {"min_value": 3}, "too_few", 2),
        ([5, X, 7, 8], {"min_value": 3, "shift": 1}, None, 3),
        ([5, X, 7, 8], {"max_value": 2}, None, 2),
        ([5, X, 7, 8], {"max_value": 1}, "too_many", 2),
        ([X, X, X, X], {"min_value": 0}, None, 0),
        ([X, X, X, X], {"min_value": None, "max_value": 1}, None, 0),
        ([X, X, X, X], {"max_length": 4}, "no_target_truncated", 0),
        ([X, X, X, X], {"max_length": 3}, "no_target_truncated", 0),
        ([X, X, X, X], {"max_length": 5}, "no_target", 0),
        ([X, X, X, X], {"min_value": 3}, "no_target", 0),
        ([X, X, X, 8], {"min_value": 2, "max_length": 4}, "too_few", 1),
        ([0, 0, 7, 0], {"ignore_index": 0, "min_value": 2}, "too_few", 1),
    ],
)
def test_counts_targets(labels: list[int], arguments: dict[str, Any], reason: str | None, targets: int):
    result = judged(SUPERVISED, {"input_ids": [IDS], "labels": [labels]}, **arguments)
    assert reasons(result) == ({} if reason is None else {reason: 1})
    assert [each.value for each in result.findings] == ([] if reason is None else [targets])
    assert result.success == (reason is None)


def test_a_padded_row_is_as_long_as_what_is_attended():
    rows = {"input_ids": [IDS], "labels": [[X] * 4], "attention_mask": [[1, 1, 1, 0]]}
    assert reasons(judged(SUPERVISED, rows, max_length=4)) == {"no_target": 1}


def test_null_empty_and_unequal_rows_are_missing():
    rows = {
        "input_ids": [None, [], [0, 0], [5, 6], [5, 6], [5, 6], [5, 6]],
        "labels": [[X], [], [X, X], [X], None, [X, None], [X, X]],
        "attention_mask": [[1], [], [0, 0], [1, 1], [1, 1], [1, 1], [1]],
    }
    result = judged(SUPERVISED, rows, vocabulary={"size": 100, "pad": 0})
    assert result.success
    assert (result.element_count, result.missing_count) == (7, 7)


def test_without_labels_it_cannot_be_judged():
    result = judged(SUPERVISED, {"input_ids": [[5, 6]]})
    assert not result.success
    assert result.unjudged is not None


def test_mostly_and_by_source():
    rows = {"input_ids": [IDS] * 2, "labels": [[X] * 4, IDS], "source": ["web", "chat"]}
    assert judged(SUPERVISED, rows, mostly=0.5).success
    assert judged(SUPERVISED, rows, by_source={"web": {"min_value": 0}}).success
    assert found(judged(SUPERVISED, rows, by_source={"chat": {"max_value": 2}})) == [(0, "no_target"), (1, "too_many")]


def test_a_prefixed_column_brings_its_own_labels():
    rows = {"chosen_input_ids": [IDS], "chosen_labels": [[X] * 4], "labels": [IDS]}
    result = judged(SUPERVISED, rows, column="chosen_input_ids")
    assert [(each.column, each.reason) for each in result.findings] == [("chosen_input_ids", "no_target")]
