"""expect_position_ids_to_be_consistent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.builders import found, judged, table_of

POSITIONS = "expect_position_ids_to_be_consistent"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2}


def fault(positions: list[int], documents: list[int] | None = None, mask: list[int] | None = None, **more: Any) -> Any:
    """Return reason, position and value of the finding on one row without eos; None where it holds."""
    rows: dict[str, Any] = {"input_ids": [[5] * len(positions)], "position_ids": [positions]}
    rows |= {} if documents is None else {"document_ids": [documents]}
    rows |= {} if mask is None else {"attention_mask": [mask]}
    result = judged(POSITIONS, rows, vocabulary=VOCABULARY, **more)
    assert result.success == (not result.findings)
    return next(((each.reason, each.position, each.value) for each in result.findings), None)


@pytest.mark.parametrize(
    ("positions", "documents", "unexpected"),
    [
        ([0, 1, 2, 3], None, None),
        ([0, 1, 0, 1], [0, 0, 1, 1], None),
        ([0, 1, 2, 3], [0, 0, 1, 1], ("not_restarted", 2, 2)),
        ([0, 1, 1, 2], [0, 0, 1, 1], ("not_restarted", 2, 1)),
        ([0, 1, 0, 1], None, ("not_consecutive", 2, 0)),
        ([0, 1, 3, 4], None, ("not_consecutive", 2, 3)),
        ([0, 0, 0, 0], None, ("not_consecutive", 1, 0)),
        ([1, 2, 3, 4], None, ("wrong_start", 0, 1)),
        ([1, 2, 0, 1], [0, 0, 1, 1], ("wrong_start", 0, 1)),
        ([0, 2, 5, 6], [0, 0, 1, 1], ("not_restarted", 2, 5)),
        ([5, -1, 0, 1], [0, 0, 1, 1], ("negative", 1, -1)),
    ],
)
def test_with_each_document(positions: list[int], documents: list[int] | None, unexpected: Any):
    assert fault(positions, documents) == unexpected


@pytest.mark.parametrize(
    ("positions", "start", "unexpected"),
    [
        ([2, 3, 2, 3], 2, None),
        ([0, 1, 0, 1], 2, ("wrong_start", 0, 0)),
        ([7, 8, 0, 1], "any", None),
        ([7, 8, 9, 10], "any", ("not_restarted", 2, 9)),
        ([7, 9, 0, 1], "any", ("not_consecutive", 1, 9)),
    ],
)
def test_start(positions: list[int], start: Any, unexpected: Any):
    assert fault(positions, [0, 0, 1, 1], start=start) == unexpected


def test_restart_with_each_row_looks_past_documents():
    assert fault([0, 1, 2, 3], [0, 0, 1, 1], restart="row") is None
    assert fault([0, 1, 0, 1], [0, 0, 1, 1], restart="row") == ("not_consecutive", 2, 0)


def test_padding_is_free():
    assert fault([1, 1, 0, 1, 7], mask=[0, 0, 1, 1, 0]) is None
    rows = {"input_ids": [[5, 6, 0, 0]], "position_ids": [[0, 1, -7, 1]], "document_ids": [[0, 0, 1, 1]]}
    assert judged(POSITIONS, rows, vocabulary=VOCABULARY).success


def test_documents_may_be_told_by_lengths_boundaries_or_segments():
    rows: dict[str, Any] = {"input_ids": [[5, 6, 7, 8]], "position_ids": [[0, 1, 0, 1]]}
    for told in ({"seq_lengths": [[2, 2]]}, {"cu_seqlens": [[0, 2, 4]]}, {"attention_mask": [[1, 1, 2, 2]]}):
        assert judged(POSITIONS, {**rows, **told}, vocabulary=VOCABULARY).success
    for told in ({"seq_lengths": [[3, 1]]}, {"cu_seqlens": [[0, 3, 4]]}, {"attention_mask": [[1, 1, 1, 2]]}):
        assert not judged(POSITIONS, {**rows, **told}, vocabulary=VOCABULARY).success


def test_without_them_eos_tells_and_that_is_noted():
    rows = {"input_ids": [[5, 2, 6, 2]], "position_ids": [[0, 1, 0, 1]]}
    result = judged(POSITIONS, rows, vocabulary=VOCABULARY)
    assert result.success
    assert result.details["notes"] == [
        "1 rows are divided into documents by eos alone: no column says where documents begin"
    ]
    rows["position_ids"] = [[0, 1, 2, 3]]
    assert found(judged(POSITIONS, rows, vocabulary=VOCABULARY)) == [(0, "not_restarted")]
    assert judged(POSITIONS, rows, vocabulary=VOCABULARY, restart="row").success


def across(positions: list[Any], documents: list[Any], **more: Any) -> list[tuple[int | None, str]]:
    ids = [None if each is None else [5] * len(each) for each in positions]
    rows = {"input_ids": ids, "position_ids": positions, "document_ids": documents}
    return found(judged(POSITIONS, rows, vocabulary=VOCABULARY, across_rows=True, **more))


def test_a_document_that_goes_on_in_the_next_row_goes_on_counting():
    assert across([[0, 1], [2, 3], [0, 1]], [[0, 0], [0, 0], [1, 1]]) == []
    assert across([[0, 1], [0, 1], [0, 1]], [[0, 0], [0, 0], [1, 1]]) == [(1, "wrong_start")]
    assert across([[0, 1], [2, 3], [4, 5]], [[0, 0], [0, 0], [1, 1]]) == [(2, "wrong_start")]
    assert across([[0, 0], [1, 2]], [[0, 1], [1, 1]]) == []
    assert across([[7, 8], [9, 5]], [[0, 0], [0, 1]], start="any") == []
    assert across([[7, 8], [7, 8]], [[0, 0], [0, 0]], start="any") == [(1, "wrong_start")]


def test_padding_at_a_rows_end_does_not_part_it_from_the_next():
    rows = {
        "input_ids": [[5, 6, 0], [7, 8, 0]],
        "position_ids": [[0, 1, 0], [2, 3, 0]],
        "document_ids": [[0, 0, 9], [0, 0, 9]],
    }
    assert judged(POSITIONS, rows, vocabulary=VOCABULARY, across_rows=True).success


def test_a_row_behind_one_that_is_missing_begins_anew():
    assert across([[0, 1], None, [0, 1]], [[0, 0], None, [0, 0]]) == []


def test_never_restarting_goes_on_from_row_to_row():
    rows: dict[str, Any] = {"input_ids": [[5, 2], [6, 7]], "position_ids": [[0, 1], [2, 3]]}
    assert judged(POSITIONS, rows, vocabulary=VOCABULARY, restart="never").success
    rows["position_ids"] = [[0, 1], [0, 1]]
    assert found(judged(POSITIONS, rows, vocabulary=VOCABULARY, restart="never")) == [(1, "wrong_start")]
    rows["position_ids"] = [[1, 2], [3, 4]]
    assert found(judged(POSITIONS, rows, vocabulary=VOCABULARY, restart="never")) == [(0, "wrong_start")]
    assert judged(POSITIONS, rows, vocabulary=VOCABULARY, restart="never", start="any").success
    rows["input_ids"][1] = None
    rows["position_ids"][0] = [0, 1]
    assert judged(POSITIONS, rows, vocabulary=VOCABULARY, restart="never").success


@pytest.mark.parametrize("second", [[2, 3], [0, 1]])
def test_after_the_border_of_two_shards_both_are_right(tmp_path: Path, second: list[int]):
    for name, positions in (("a.arrow", [0, 1]), ("b.arrow", second)):
        table = table_of(input_ids=[[5, 6]], document_ids=[[0, 0]], position_ids=[positions])
        with pa.ipc.new_stream(str(tmp_path / name), table.schema) as writer:
            writer.write_table(table)
    assert judged(POSITIONS, tmp_path, vocabulary=VOCABULARY, across_rows=True).success
    assert judged(POSITIONS, tmp_path, vocabulary=VOCABULARY, restart="never").success


def test_null_and_unequal_rows_are_missing():
    rows = {
        "input_ids": [None, [], [5, 6], [5, 6], [5, 6], [0, 0]],
        "position_ids": [[], [], [0], None, [0, 1], [5, 5]],
        "document_ids": [[], [], [0, 0], [0, 0], [0], [0, 0]],
    }
    result = judged(POSITIONS, rows, vocabulary=VOCABULARY)
    assert (result.success, result.element_count, result.missing_count) == (True, 6, 6)


def test_what_it_lacks():
    rows: dict[str, Any] = {"input_ids": [[5]]}
    assert judged(POSITIONS, rows, vocabulary=VOCABULARY).unjudged is not None
    rows["position_ids"] = [[0]]
    lacking = judged(POSITIONS, rows, vocabulary=VOCABULARY, across_rows=True).unjudged
    assert lacking is not None
    assert "document_ids" in lacking.missing


def test_a_prefix_brings_its_own_columns():
    rows = {
        "chosen_input_ids": [[5, 6]],
        "chosen_position_ids": [[0, 0]],
        "chosen_document_ids": [[0, 1]],
        "position_ids": [[0, 1]],
        "rejected_input_ids": [[5, 6]],
        "rejected_position_ids": [[0, 1]],
        "rejected_document_ids": [[0, 1]],
    }
    assert judged(POSITIONS, rows, vocabulary=VOCABULARY, column="chosen_input_ids").success
    assert found(judged(POSITIONS, rows, vocabulary=VOCABULARY, column="rejected_input_ids")) == [(0, "not_restarted")]


def test_roles_may_have_other_names():
    rows = {"tokens": [[5, 6]], "where": [[0, 1]], "seq_idx": [[0, 1]]}
    columns = {"input_ids": "tokens", "position_ids": "where", "document_ids": "seq_idx"}
    assert found(judged(POSITIONS, rows, vocabulary=VOCABULARY, columns=columns)) == [(0, "not_restarted")]
