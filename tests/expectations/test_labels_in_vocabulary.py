"""expect_labels_to_be_in_vocabulary."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dataguard.errors import SuiteError
from tests.builders import found, judged, table_of

LABELS = "expect_labels_to_be_in_vocabulary"
SIZE = {"size": 100}


def rows(labels: list[list[int] | None], kind: pa.DataType | None = None) -> pa.Table:
    ids: list[list[int]] = [[1] * len(each or []) for each in labels]
    return table_of(types={"labels": kind or pa.int64()}, input_ids=ids, labels=labels)


def test_names_supervised_labels_outside():
    result = judged(LABELS, rows([[-100, 5], [-100, -1], [100, 99], [-1, 100]]), vocabulary=SIZE)
    assert found(result) == [(1, "negative"), (2, "beyond_limit"), (3, "negative")]
    assert [(each.position, each.value) for each in result.findings] == [(1, -1), (0, 100), (0, -1)]


def test_the_ignore_index_and_the_limit_may_be_told():
    assert judged(LABELS, rows([[-1, 5]]), vocabulary=SIZE, ignore_index=-1).success
    assert found(judged(LABELS, rows([[7]]), limit=7)) == [(0, "beyond_limit")]


def test_a_limit_past_64_bits_is_refused():
    with pytest.raises(SuiteError, match="limit"):
        judged(LABELS, rows([[7]]), limit=1 << 63)


def test_hints_at_another_ignore_index():
    result = judged(LABELS, rows([[-1, -1, 9], [-1, 8, 8], [-100, 7, 7]]), vocabulary=SIZE)
    (hint,) = result.details["hints"]
    assert hint.startswith("other_ignore_index: -1 ")
    assert "2 rows" in hint


def test_several_negative_labels_are_no_ignore_index():
    assert "hints" not in judged(LABELS, rows([[-1, -2]]), vocabulary=SIZE).details


@pytest.mark.parametrize(("kind", "bits"), [(pa.uint8(), 8), (pa.uint16(), 16), (pa.uint32(), 32), (pa.uint64(), 64)])
def test_hints_at_an_ignore_index_that_became_positive(kind: pa.DataType, bits: int):
    result = judged(LABELS, rows([[2**bits - 100, 9]], kind), vocabulary=SIZE)
    assert found(result) == [(0, "beyond_limit")]
    (hint,) = result.details["hints"]
    assert hint.startswith("unsigned_ignore_index: ")
    assert f"{bits} bits" in hint


def test_null_and_empty_labels_are_missing_whatever_the_ids_are():
    table = table_of(input_ids=[[1], [1], None], labels=[None, [], [500]])
    result = judged(LABELS, table, vocabulary=SIZE)
    assert (found(result), result.missing_count) == ([(2, "beyond_limit")], 2)


def test_a_prefix_brings_its_own_labels():
    table = table_of(chosen_input_ids=[[1]], chosen_labels=[[500]], labels=[[5]])
    assert found(judged(LABELS, table, vocabulary=SIZE, column="chosen_input_ids")) == [(0, "beyond_limit")]


def test_without_a_limit_negative_labels_are_named_and_it_is_no_pass():
    result = judged(LABELS, rows([[-5], [9]]))
    assert found(result) == [(0, "negative")]
    assert result.unjudged is not None
    assert not judged(LABELS, rows([[9]])).success


def test_without_labels_it_cannot_be_judged():
    result = judged(LABELS, {"input_ids": [[1]]}, vocabulary=SIZE)
    assert result.unjudged is not None
    assert "labels" in result.unjudged.missing
