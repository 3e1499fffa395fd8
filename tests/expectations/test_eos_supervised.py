"""expect_eos_to_be_supervised."""

from __future__ import annotations

import pytest

from tests.builders import judged, reasons

EOS = "expect_eos_to_be_supervised"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2}
X = -100


def test_eos_that_is_never_supervised():
    rows = {"input_ids": [[5, 6, 2], [5, 6, 7, 2]], "labels": [[X, 6, X], [X, X, 7, X]]}
    result = judged(EOS, rows, vocabulary=VOCABULARY)
    assert not result.success
    assert reasons(result) == {"eos_never_supervised": 2}
    assert result.observed_value == {"rows": 2, "supervised": 0, "fraction": 0.0}


def test_a_supervised_one_in_a_hundred_is_enough_unless_more_are_asked_for():
    rows = {"input_ids": [[5, 2]] * 100, "labels": [[5, 2]] + [[5, X]] * 99}
    assert judged(EOS, rows, vocabulary=VOCABULARY).success
    assert reasons(judged(EOS, rows, vocabulary=VOCABULARY, min_fraction=0.02)) == {"eos_never_supervised": 99}


def test_rows_that_end_otherwise_have_no_say():
    rows = {"input_ids": [[5, 2], [5, 6]], "labels": [[5, 2], [5, X]]}
    result = judged(EOS, rows, vocabulary=VOCABULARY, min_fraction=1.0)
    assert (result.success, result.element_count, result.missing_count) == (True, 2, 1)


def test_where_no_row_ends_with_eos_there_is_nothing_to_judge():
    result = judged(EOS, {"input_ids": [[5, 6]], "labels": [[5, X]]}, vocabulary=VOCABULARY)
    assert result.success
    assert "no row ends with 2" in result.details["notes"][0]


@pytest.mark.parametrize(
    ("ids", "labels", "mask", "supervised"),
    [
        ([5, 2, 0], [5, 2, X], [1, 1, 0], True),
        ([5, 2, 0], [5, X, X], [1, 1, 0], False),
        ([5, 2, 0], [5, 2, X], None, True),
        ([5, 6, 2], [6, 2, X], None, True),
        ([5, 6, 2], [6, X, X], None, False),
    ],
)
def test_the_last_attended_token_counts(ids: list[int], labels: list[int], mask: list[int] | None, supervised: bool):
    rows = {"input_ids": [ids], "labels": [labels]} | ({} if mask is None else {"attention_mask": [mask]})
    assert judged(EOS, rows, vocabulary=VOCABULARY).success == supervised


def test_of_eos_that_is_pad_too_the_first_is_the_real_one():
    shared = VOCABULARY | {"pad": 2}
    row = [5, 2, 2, 2]
    assert judged(EOS, {"input_ids": [row], "labels": [[5, 2, X, X]]}, vocabulary=shared).success
    assert not judged(EOS, {"input_ids": [row], "labels": [[5, X, X, X]]}, vocabulary=shared).success


def test_other_stop_ids():
    rows = {"input_ids": [[5, 7], [5, 8], [5, 2]], "labels": [[5, 7], [5, X], [5, X]]}
    result = judged(EOS, rows, vocabulary={"size": 100}, stop_ids=[7, 8], min_fraction=1.0)
    assert result.observed_value == {"rows": 2, "supervised": 1, "fraction": 0.5}
    assert not result.success


def test_another_ignore_index():
    rows = {"input_ids": [[5, 2]], "labels": [[5, -1]]}
    assert judged(EOS, rows, vocabulary=VOCABULARY).success
    assert not judged(EOS, rows, vocabulary=VOCABULARY, ignore_index=-1).success


def test_without_labels_or_eos_it_cannot_be_judged():
    assert judged(EOS, {"input_ids": [[5, 2]]}, vocabulary=VOCABULARY).unjudged is not None
    assert judged(EOS, {"input_ids": [[5, 2]], "labels": [[5, 2]]}, vocabulary={"size": 100}).unjudged is not None


def test_null_and_unequal_rows_are_left_out():
    rows = {"input_ids": [None, [], [5, 2], [5, 2]], "labels": [[], [], [5], [5, 2]]}
    result = judged(EOS, rows, vocabulary=VOCABULARY)
    assert (result.success, result.missing_count) == (True, 3)


def test_a_prefix_brings_its_own_labels():
    rows = {
        "rejected_input_ids": [[5, 2, 6]],
        "rejected_attention_mask": [[1, 1, 0]],
        "rejected_labels": [[5, X, X]],
        "labels": [[5, 2, 6]],
    }
    result = judged(EOS, rows, vocabulary=VOCABULARY, column="rejected_input_ids")
    assert reasons(result) == {"eos_never_supervised": 1}
