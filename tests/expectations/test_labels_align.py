"""expect_labels_to_align_with_input_ids."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.builders import found, judged, list_array, reasons, table_of

ALIGN = "expect_labels_to_align_with_input_ids"
IDS = [5, 6, 7, 8]
X = -100


@pytest.mark.parametrize(
    ("labels", "unshifted", "shifted"),
    [
        ([5, 6, 7, 8], None, "unshifted"),
        ([X, X, 7, 8], None, "unshifted"),
        ([X, X, X, X], None, None),
        ([6, 7, 8, X], "shifted", None),
        ([X, 7, 8, X], "shifted", None),
        ([6, 7, 8, 2], "shifted", None),
        ([X, X, X, 2], "mismatch", None),
        ([X, X, X, 8], None, None),
        ([9, X, X, X], "mismatch", "mismatch"),
        ([5, 7, X, X], "mismatch", "mismatch"),
        ([5, 6, 7, 9], "mismatch", "mismatch"),
        ([X, X, 9, 8], "mismatch", "mismatch"),
    ],
)
def test_both_conventions(labels: list[int], unshifted: str | None, shifted: str | None):
    rows = {"input_ids": [IDS], "labels": [labels]}
    for shift, reason in ((0, unshifted), (1, shifted)):
        result = judged(ALIGN, rows, shift=shift)
        assert reasons(result) == ({} if reason is None else {reason: 1})
        assert result.success == (reason is None)


@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("labels", [[5, 5, 5], [X, 5, 5], [5, 5, X]])
def test_a_constant_row_fits_both(labels: list[int], shift: int):
    assert judged(ALIGN, {"input_ids": [[5, 5, 5]], "labels": [labels]}, shift=shift).success


def test_tells_the_first_label_that_differs():
    result = judged(ALIGN, {"input_ids": [IDS], "labels": [[X, 6, 9, 4]]})
    assert [(each.row, each.position, each.value) for each in result.findings] == [(0, 2, 9)]
    result = judged(ALIGN, {"input_ids": [IDS], "labels": [[X, 7, 9, 4]]}, shift=1)
    assert [(each.row, each.position, each.value) for each in result.findings] == [(0, 2, 9)]


def test_with_shift_1_the_last_position_is_free():
    assert judged(ALIGN, {"input_ids": [[5], [5, 6]], "labels": [[99], [6, 99]]}, shift=1).success
    assert reasons(judged(ALIGN, {"input_ids": [[5]], "labels": [[99]]})) == {"mismatch": 1}


def test_a_doubled_token_does_not_hide_that_a_row_is_shifted():
    assert reasons(judged(ALIGN, {"input_ids": [[5, 6, 6, 7]], "labels": [[6, 6, 7, X]]})) == {"shifted": 1}
    assert reasons(judged(ALIGN, {"input_ids": [[5, 6, 6, 7]], "labels": [[5, 6, 6, 7]]}, shift=1)) == {"unshifted": 1}


def test_a_row_that_fits_its_own_convention_in_one_place_is_a_mismatch():
    assert reasons(judged(ALIGN, {"input_ids": [[5, 6, 7, 8]], "labels": [[6, 7, 8, 8]]})) == {"mismatch": 1}


def test_null_and_unequal_rows_are_missing():
    rows = {
        "input_ids": [None, [], [5, 6], [5, 6], [5, None], [5, 6], [5, 6]],
        "labels": [[5], [], [5], None, [5, 6], [5, None], [5, 6]],
    }
    result = judged(ALIGN, rows)
    assert result.success
    assert (result.element_count, result.missing_count) == (7, 6)


def test_a_row_of_special_tokens_is_judged_too():
    rows = {"input_ids": [[1, 2]], "labels": [[1, 9]]}
    assert not judged(ALIGN, rows, vocabulary={"size": 100, "bos": 1, "eos": 2}).success


def test_another_ignore_index():
    rows = {"input_ids": [IDS], "labels": [[-1, -1, 7, 8]]}
    assert judged(ALIGN, rows, ignore_index=-1).success
    assert not judged(ALIGN, rows).success


@pytest.mark.parametrize("kind", [pa.uint8(), pa.int16(), pa.uint32(), pa.int64(), pa.uint64()])
def test_types_of_ids_and_labels_may_differ(kind: pa.DataType):
    rows = table_of(
        input_ids=list_array([[5, 200]], kind),
        labels=[[X, 200]],
    )
    assert judged(ALIGN, rows).success


def test_an_ignore_index_that_wrapped_around_is_no_ignore_index():
    rows = table_of(input_ids=[[5, 6]], labels=list_array([[65436, 6]], pa.uint16()))
    result = judged(ALIGN, rows)
    assert [(each.reason, each.position, each.value) for each in result.findings] == [("mismatch", 0, 65436)]


def test_without_labels_it_cannot_be_judged():
    result = judged(ALIGN, {"input_ids": [[5, 6]]})
    assert not result.success
    assert result.unjudged is not None
    assert "labels" in result.unjudged.missing


def test_a_pair_is_judged_side_by_side():
    rows = {
        "chosen_input_ids": [[5, 6]],
        "chosen_labels": [[5, 6]],
        "rejected_input_ids": [[5, 7]],
        "rejected_labels": [[5, 9]],
    }
    assert judged(ALIGN, rows, column="chosen_input_ids").success
    (finding,) = judged(ALIGN, rows, column="rejected_input_ids").findings
    assert (finding.row, finding.column, finding.reason) == (0, "rejected_input_ids", "mismatch")


def test_roles_may_have_other_names():
    rows = {"tokens": [[5, 6]], "targets": [[5, 9]]}
    assert found(judged(ALIGN, rows, columns={"input_ids": "tokens", "labels": "targets"})) == [(0, "mismatch")]


def test_by_source_gives_a_source_its_own_convention():
    rows = {"input_ids": [IDS, IDS], "labels": [[6, 7, 8, X], IDS], "source": ["old", "new"]}
    assert judged(ALIGN, rows, by_source={"old": {"shift": 1}}).success
    assert judged(ALIGN, rows, mostly=0.5).success
