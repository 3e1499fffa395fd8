"""expect_prompt_to_be_ignored_in_labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dataguard
from tests.builders import found, judged, list_array, reasons, table_of

IGNORED = "expect_prompt_to_be_ignored_in_labels"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2}
X = -100
IDS = [1, 5, 6, 9, 10]
INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


def judge(ids: list[int], labels: list[int], prompt: int | None, **arguments: Any) -> list[tuple[Any, Any, Any]]:
    """Return reason, position and label of the findings on one row."""
    mask = arguments.pop("mask", None)
    rows = {"input_ids": [ids], "labels": [labels], "prompt_length": [prompt]}
    result = judged(IGNORED, rows | ({} if mask is None else {"attention_mask": [mask]}), **arguments)
    assert result.success == (not result.findings)
    return [(each.reason, each.position, each.value) for each in result.findings]


@pytest.mark.parametrize(
    ("labels", "shift", "reason"),
    [
        ([X, X, X, 9, 10], 0, None),
        ([X, X, 6, 9, 10], 0, ("prompt_supervised", 2, 6)),
        ([1, 5, 6, 9, 10], 0, ("prompt_supervised", 0, 1)),
        ([X, X, X, X, 10], 0, ("first_target_masked", 3, None)),
        ([X, X, X, X, X], 0, ("first_target_masked", 3, None)),
        ([X, 5, X, X, 10], 0, ("prompt_supervised", 1, 5)),
        ([X, X, 9, 10, 2], 1, None),
        ([X, 6, 9, 10, 2], 1, ("prompt_supervised", 1, 6)),
        ([X, X, X, 10, 2], 1, ("first_target_masked", 2, None)),
    ],
)
def test_both_conventions(labels: list[int], shift: int, reason: tuple[Any, ...] | None):
    assert judge(IDS, labels, 3, shift=shift) == ([] if reason is None else [reason])
    rows = {"input_ids": [IDS], "labels": [labels], "prompt_ids": [[1, 5, 6]]}
    assert found(judged(IGNORED, rows, shift=shift)) == ([] if reason is None else [(0, reason[0])])


def test_a_prompt_that_is_learned_too_must_not_hide_the_answer():
    assert judge(IDS, IDS, 3, train_on_prompt=True) == []
    assert judge(IDS, [1, 5, 6, X, 10], 3, train_on_prompt=True) == [("first_target_masked", 3, None)]


@pytest.mark.parametrize(("prompt", "shift"), [(5, 0), (5, 1), (9, 0), (9, 1), (2**62, 1)])
def test_a_row_that_was_cut_inside_its_prompt_has_nothing_behind_it(prompt: int, shift: int):
    assert judge(IDS, [X] * 5, prompt, shift=shift) == []
    (finding,) = judge(IDS, [X, X, X, 9, X], prompt, shift=shift)
    assert finding == ("prompt_supervised", 3, 9)


def test_with_shift_1_the_last_label_belongs_to_a_token_behind_the_row():
    assert judge(IDS, [X, X, X, X, 2], 5, shift=1) == []
    assert judge(IDS, [X, X, X, X, 2], 6, shift=1) == [("prompt_supervised", 4, 2)]


@pytest.mark.parametrize("shift", [0, 1])
def test_no_prompt_at_all(shift: int):
    labels = [[X, 5, 6, 9, 10], [5, 6, 9, 10, X]][shift]
    assert judge(IDS, labels, 0, shift=shift) == []
    assert judge(IDS, [X] * 5, 0, shift=shift) == [("first_target_masked", 1 - shift, None)]


@pytest.mark.parametrize("shift", [0, 1])
def test_a_prompt_is_counted_from_the_first_attended_token(shift: int):
    ids, mask = [0, 0, 1, 5, 9, 2, 0], [0, 0, 1, 1, 1, 1, 0]
    labels = [[X, X, X, X, 9, 2, X], [X, X, X, 9, 2, X, X]][shift]
    too_far = [[X, X, X, X, X, 2, X], [X, X, X, X, 2, X, X]][shift]
    for told in ({"mask": mask}, {"vocabulary": VOCABULARY}):
        assert judge(ids, labels, 2, shift=shift, **told) == []
        assert judge(ids, too_far, 2, shift=shift, **told) == [("first_target_masked", 4 - shift, None)]
        # As if the prompt had been masked before the row was padded on its left.
        assert judge(ids, [X, X, 1, 5, 9, 2, X], 2, shift=shift, **told)[0][:2] == ("prompt_supervised", 2)


def test_padding_is_another_expectations_fault():
    assert judge([0, 1, 5, 9], [0, X, X, 9], 2, vocabulary=VOCABULARY) == []


@pytest.mark.parametrize("prompt", [[1, 5, 0, 0], [0, 1, 5, 0]])
def test_a_prompt_may_be_padded_itself(prompt: list[int]):
    rows = {"input_ids": [[1, 5, 9, 2]], "labels": [[X, X, 9, 2]], "prompt_ids": [prompt]}
    assert judged(IGNORED, rows, vocabulary=VOCABULARY).success
    assert reasons(judged(IGNORED, rows)) == {"prompt_supervised": 1}


def test_a_length_is_taken_before_ids_and_ids_where_it_is_null():
    rows = {
        "input_ids": [IDS, IDS],
        "labels": [[X, X, 6, 9, 10]] * 2,
        "prompt_length": [2, None],
        "prompt_ids": [[1, 5, 6], [1, 5, 6]],
    }
    assert found(judged(IGNORED, rows)) == [(1, "prompt_supervised")]


def test_a_length_that_is_null_or_negative_is_left_out_and_noted():
    rows = {"input_ids": [IDS] * 3, "labels": [IDS] * 3, "prompt_length": [None, -1, 1]}
    result = judged(IGNORED, rows)
    assert (found(result), result.missing_count) == ([(2, "prompt_supervised")], 2)
    assert result.details["notes"] == ["2 rows tell no length of their prompt (null or negative)"]


def test_null_empty_and_unequal_rows_are_missing():
    rows = {
        "input_ids": [None, [], [5, 6], [5, 6], [5, None], [5, 6], [0, 0], [5, 6]],
        "labels": [[5], [], [5], None, [5, 6], [5, None], [5, 5], [X, 6]],
        "prompt_length": [1] * 8,
    }
    result = judged(IGNORED, rows, vocabulary=VOCABULARY)
    assert result.success
    assert (result.element_count, result.missing_count) == (8, 7)


def test_prompt_ids_with_a_null_are_no_length():
    rows = {"input_ids": [[5, 6]] * 2, "labels": [[5, 6]] * 2, "prompt_ids": [[5, None], None]}
    assert judged(IGNORED, rows).missing_count == 2


@pytest.mark.parametrize("kind", INTEGERS)
def test_lengths_and_prompts_of_every_type(kind: pa.DataType):
    labels = list_array([[X, 6, 9]], pa.int64())
    lengths = table_of(input_ids=[[5, 6, 9]], labels=labels, prompt_length=pa.array([2], kind))
    prompts = table_of(input_ids=list_array([[5, 6, 9]], kind), labels=labels, prompt_ids=list_array([[5, 6]], kind))
    assert found(judged(IGNORED, lengths)) == found(judged(IGNORED, prompts)) == [(0, "prompt_supervised")]


def test_another_ignore_index():
    rows = {"input_ids": [[5, 6]], "labels": [[-1, 6]], "prompt_length": [1]}
    assert judged(IGNORED, rows, ignore_index=-1).success
    assert not judged(IGNORED, rows).success


def test_the_sides_of_a_pair_share_a_prompt_or_have_their_own():
    rows = {
        "chosen_input_ids": [[5, 6]],
        "chosen_labels": [[X, 6]],
        "rejected_input_ids": [[5, 7]],
        "rejected_labels": [[5, 7]],
        "prompt_length": [1],
    }
    assert judged(IGNORED, rows, column="chosen_input_ids").success
    (finding,) = judged(IGNORED, rows, column="rejected_input_ids").findings
    assert (finding.row, finding.column, finding.reason) == (0, "rejected_input_ids", "prompt_supervised")
    own = rows | {"rejected_prompt_length": [0], "chosen_prompt_ids": [[5, 6]]}
    assert judged(IGNORED, own, column="rejected_input_ids").success
    assert found(judged(IGNORED, own, column="chosen_input_ids")) == [(0, "prompt_supervised")]
    named = {"input_ids": "rejected_input_ids"}
    assert found(judged(IGNORED, rows, columns=named)) == [(0, "prompt_supervised")]
    assert judged(IGNORED, own, columns=named).success


def test_without_a_prompt_or_labels_it_cannot_be_judged():
    for rows, absent in (
        ({"input_ids": [[5]], "labels": [[5]], "prompt": ["a"]}, "prompt_length or prompt_ids"),
        ({"input_ids": [[5]], "prompt_length": [1]}, "no column labels"),
        ({"input_ids": [[5]], "labels": [[5]], "prompt_length": [1.0]}, "column prompt_length is double"),
    ):
        result = judged(IGNORED, rows)
        assert not result.success
        assert result.unjudged is not None
        assert absent in result.unjudged.missing


@pytest.mark.parametrize("when", [None, ["prompt"], ["prompt_length"]])
def test_a_shard_without_a_prompt_is_no_pass_unless_that_is_declared(when: list[str] | None, tmp_path: Path):
    rows = table_of(input_ids=[[5, 6]], labels=[[X, 6]], prompt_length=[1])
    pq.write_table(rows, tmp_path / "a.parquet")
    pq.write_table(rows.drop_columns(["prompt_length"]), tmp_path / "b.parquet")
    pq.write_table(table_of(input_ids=[[5, 6]], labels=[[5, 6]], prompt_ids=[[5]]), tmp_path / "c.parquet")
    entry: dict[str, Any] = {"type": IGNORED}
    if when is not None:
        entry["meta"] = {"dataguard": {"when": when}}
    (result,) = dataguard.validate(tmp_path, suite={"expectations": [entry]}, jobs=1).results
    assert [(each.shard, each.reason) for each in result.findings] == [("c.parquet", "prompt_supervised")]
    text = "no column prompt_length or prompt_ids"
    if when == ["prompt"]:
        assert result.unjudged is None
        assert result.details["notes"] == [f"1 of 3 shards are left out: {text}"]
    else:
        assert result.unjudged is not None
        assert result.unjudged.missing == f"1 of 3 shards cannot be judged: b.parquet ({text})"


def test_by_source_gives_a_source_its_own_convention():
    rows = {
        "input_ids": [IDS, IDS],
        "labels": [[X, X, 9, 10, 2], IDS],
        "prompt_length": [3, 3],
        "source": ["old", "new"],
    }
    assert judged(IGNORED, rows, by_source={"old": {"shift": 1}, "new": {"train_on_prompt": True}}).success
    assert found(judged(IGNORED, rows, by_source={"old": {"shift": 1}})) == [(1, "prompt_supervised")]
    assert judged(IGNORED, rows, by_source={"old": {"shift": 1}}, mostly=0.5).success
