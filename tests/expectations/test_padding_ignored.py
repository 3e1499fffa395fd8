"""expect_padding_to_be_ignored_in_labels."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import found, judged

IGNORED = "expect_padding_to_be_ignored_in_labels"
OWN = {"size": 100, "pad": 0, "bos": 1, "eos": 2}
PAD_IS_EOS = {"size": 100, "pad": 2, "bos": 1, "eos": 2}
GPT2 = {"size": 100, "pad": 9, "bos": 9, "eos": 9, "unk": 9}
X = -100


def places(
    ids: list[int],
    labels: list[int],
    mask: list[int] | None = None,
    vocabulary: dict[str, int] | None = None,
    **more: Any,
) -> list[tuple[Any, Any]]:
    """Return position and value of the findings on one row."""
    rows = {"input_ids": [ids], "labels": [labels]} | ({} if mask is None else {"attention_mask": [mask]})
    result = judged(IGNORED, rows, vocabulary=OWN if vocabulary is None else vocabulary, **more)
    assert result.success == (not result.findings)
    return [(each.position, each.value) for each in result.findings]


@pytest.mark.parametrize(
    ("ids", "labels", "mask", "unexpected"),
    [
        ([1, 5, 2, 0], [X, 5, 2, X], [1, 1, 1, 0], []),
        ([1, 5, 2, 0, 0], [X, 5, 2, 0, 0], [1, 1, 1, 0, 0], [(3, 2)]),
        ([1, 5, 2, 0, 0], [X, 5, 2, 0, 0], None, [(3, 2)]),
        ([1, 5, 2, 0, 0], [X, 5, 2, 0, X], [1, 1, 1, 1, 1], [(3, 1)]),
        ([1, 5, 2, 0], [X, 5, 2, 0], None, [(3, 1)]),
        ([0, 0, 1, 5], [0, X, 1, 5], [0, 0, 1, 1], [(0, 1)]),
        ([0, 0, 1, 5], [0, X, 1, 5], None, [(0, 1)]),
        ([1, 5, 6, 7], [X, 5, 6, X], [1, 1, 0, 1], [(2, 1)]),
        ([1, 5, 2, 0], [5, 2, X, X], [1, 1, 1, 0], []),
        ([1, 5, 2, 0], [5, 2, 0, X], [1, 1, 1, 0], [(2, 1)]),
    ],
)
def test_a_pad_of_its_own(ids: list[int], labels: list[int], mask: list[int] | None, unexpected: list[Any]):
    assert places(ids, labels, mask) == unexpected


def test_an_attended_eos_is_no_pad_where_pad_is_eos():
    row, labels = [1, 5, 2, 2, 2], [X, 5, 2, X, X]
    assert places(row, labels, [1, 1, 1, 0, 0], PAD_IS_EOS) == []
    assert places(row, labels, None, PAD_IS_EOS) == []
    assert places(row, [X, 5, 2, 2, X], [1, 1, 1, 0, 0], PAD_IS_EOS) == [(3, 1)]


def test_an_attended_bos_is_none_either():
    assert places([9, 5, 6, 9], [9, 5, 6, 9], [1, 1, 1, 1], GPT2) == []


def test_without_a_pad_id_the_mask_alone_tells():
    assert places([5, 0, 0], [5, 0, X], [1, 0, 0], {"size": 100}) == [(1, 1)]
    assert places([5, 0, 0], [5, 0, X], None, {"size": 100}) == []


def test_a_pad_that_divides_documents_is_a_real_token():
    pack, ends_so = [5, 6, 0, 7], [5, 6, 7, 0]
    rows = {"input_ids": [pack, ends_so], "labels": [pack, ends_so]}
    assert judged(IGNORED, rows, vocabulary=OWN).success
    padded = [5, 6, 0, 0]
    rows = {"input_ids": [pack, padded], "labels": [pack, padded]}
    assert found(judged(IGNORED, rows, vocabulary=OWN)) == [(1, "supervised_padding")]


def test_one_such_row_in_many_is_padding_that_was_joined():
    clean = [5, 6, 7, 2]
    rows = [clean] * 150 + [[5, 0, 6, 2]]
    assert found(judged(IGNORED, {"input_ids": rows, "labels": rows}, vocabulary=OWN)) == [(150, "supervised_padding")]


def test_another_ignore_index():
    assert places([5, 0], [5, -1], [1, 0], ignore_index=-1) == []
    assert places([5, 0], [5, -1], [1, 0]) == [(1, 1)]


def test_null_and_unequal_rows_are_missing():
    rows = {
        "input_ids": [None, [], [5, 0], [5, 0], [5, 0], [5, 0]],
        "labels": [[], [], [5], None, [5, 0], [5, X]],
        "attention_mask": [[], [], [1, 0], [1, 0], [1], [1, 0]],
    }
    result = judged(IGNORED, rows, vocabulary=OWN)
    assert (result.success, result.element_count, result.missing_count) == (True, 6, 5)


def test_without_labels_it_cannot_be_judged():
    assert judged(IGNORED, {"input_ids": [[5]]}, vocabulary=OWN).unjudged is not None


def test_a_pair_is_judged_side_by_side():
    rows = {
        "chosen_input_ids": [[5, 0]],
        "chosen_attention_mask": [[1, 0]],
        "chosen_labels": [[5, X]],
        "rejected_input_ids": [[5, 6]],
        "rejected_attention_mask": [[1, 0]],
        "rejected_labels": [[5, 6]],
    }
    assert judged(IGNORED, rows, vocabulary=OWN, column="chosen_input_ids").success
    assert found(judged(IGNORED, rows, vocabulary=OWN, column="rejected_input_ids")) == [(0, "supervised_padding")]


def test_roles_may_have_other_names():
    rows = {"tokens": [[5, 6]], "targets": [[5, 6]], "seen": [[1, 0]]}
    columns = {"input_ids": "tokens", "labels": "targets", "attention_mask": "seen"}
    assert found(judged(IGNORED, rows, vocabulary=OWN, columns=columns)) == [(0, "supervised_padding")]
