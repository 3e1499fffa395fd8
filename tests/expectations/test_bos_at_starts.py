"""expect_bos_at_document_starts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import found, judged

BOS = "expect_bos_at_document_starts"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2, "unk": 3}


def places(
    ids: list[int], policy: str, vocabulary: dict[str, int] | None = None, **columns: Any
) -> list[tuple[Any, Any]]:
    """Return reason and position of the findings on one row."""
    rows = {"input_ids": [ids], **{name: [cells] for name, cells in columns.items()}}
    result = judged(BOS, rows, vocabulary=vocabulary or VOCABULARY, policy=policy)
    return [(each.reason, each.position) for each in result.findings]


@pytest.mark.parametrize(
    ("ids", "optional", "required", "forbidden"),
    [
        ([1, 5, 6, 2], [], [], [("unexpected_bos", 0)]),
        ([5, 6, 2], [], [("missing_bos", 0)], []),
        ([1, 1, 5, 2], [("doubled_bos", 1)], [("doubled_bos", 1)], [("unexpected_bos", 0)]),
        ([5, 1, 6], [], [("missing_bos", 0)], [("unexpected_bos", 1)]),
        ([1, 5, 1, 6], [], [], [("unexpected_bos", 0)]),
        ([0, 1, 5, 0], [], [], [("unexpected_bos", 1)]),
        ([5, 1, 1, 6], [("doubled_bos", 2)], [("missing_bos", 0)], [("unexpected_bos", 1)]),
        ([1, 5, 2, 6, 2], [], [("missing_bos", 3)], [("unexpected_bos", 0)]),
        ([1, 5, 2, 1, 6, 2], [], [], [("unexpected_bos", 0)]),
    ],
)
def test_each_policy(ids: list[int], optional: list[Any], required: list[Any], forbidden: list[Any]):
    assert places(ids, "optional") == optional
    assert places(ids, "required") == required
    assert places(ids, "forbidden") == forbidden


def test_every_document_of_a_pack_begins_with_it():
    pack = [1, 5, 6, 1, 7]
    assert places(pack, "required", document_ids=[0, 0, 0, 1, 1]) == []
    assert places(pack, "required", cu_seqlens=[0, 2, 5]) == [("missing_bos", 2)]
    assert places(pack, "required", seq_lengths=[3, 2]) == []
    assert places(pack, "required", attention_mask=[1, 1, 2, 2, 2]) == [("missing_bos", 2)]


def test_padding_is_no_document():
    assert places([1, 5, 0, 0], "required", document_ids=[0, 0, 1, 1]) == []


def test_where_bos_and_eos_are_one_id_two_in_a_row_are_no_fault():
    gpt2 = {"size": 100, "bos": 9, "eos": 9, "unk": 9}
    assert places([9, 5, 9, 9, 6], "optional", gpt2) == []
    assert places([9, 5, 9, 6], "required", gpt2) == []
    assert places([5, 9, 6], "required", gpt2) == [("missing_bos", 0)]
    assert places([5, 9, 6, 9], "forbidden", gpt2) == []


def test_bos_inside_a_document_is_noted():
    result = judged(BOS, {"input_ids": [[1, 5, 1, 6], [1, 5]]}, vocabulary=VOCABULARY)
    assert result.success
    assert result.details["notes"] == [
        "1 rows hold bos inside a document: text that spells it, or documents joined by bos"
    ]
    assert "notes" not in judged(BOS, {"input_ids": [[1, 5]]}, vocabulary=VOCABULARY).details


def test_says_where_eos_alone_told_documents():
    result = judged(BOS, {"input_ids": [[1, 5, 2, 1, 6, 2]]}, vocabulary=VOCABULARY, policy="required")
    assert "by eos alone" in result.details["notes"][0]


def test_without_bos_it_cannot_be_judged():
    result = judged(BOS, {"input_ids": [[1, 5]]}, vocabulary={"size": 100})
    assert not result.success
    assert result.unjudged is not None
    assert "bos" in result.unjudged.missing


def test_empty_and_unpaired_rows_are_missing():
    rows = {
        "input_ids": [None, [], [1, 2], [5, 6], [5, 6], [1, 5]],
        "attention_mask": [[], [], [1, 1], [1], [1, 1], [1, 1]],
        "document_ids": [[], [], [0, 0], [0, 0], [0], [0, 0]],
    }
    result = judged(BOS, rows, vocabulary=VOCABULARY, policy="required")
    assert (result.success, result.element_count, result.missing_count) == (True, 6, 5)


def test_a_pair_is_judged_side_by_side():
    rows = {"chosen_input_ids": [[1, 5]], "rejected_input_ids": [[1, 1, 5]], "rejected_attention_mask": [[1, 1, 1]]}
    assert judged(BOS, rows, vocabulary=VOCABULARY, column="chosen_input_ids").success
    assert found(judged(BOS, rows, vocabulary=VOCABULARY, column="rejected_input_ids")) == [(0, "doubled_bos")]
