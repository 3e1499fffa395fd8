"""expect_columns_to_have_equal_lengths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.builders import found, judged, list_array, reasons, table_of

EQUAL = "expect_columns_to_have_equal_lengths"


@pytest.mark.parametrize("role", ["attention_mask", "labels", "position_ids", "document_ids", "loss_mask"])
def test_names_the_role_of_another_length(role: str):
    result = judged(EQUAL, {"input_ids": [[5, 6], [5]], role: [[1], [1]]})
    assert not result.success
    assert found(result) == [(0, f"{role}_length")]
    assert result.findings[0].value == 1
    assert (result.element_count, result.unexpected_count, result.missing_count) == (2, 1, 0)


def test_holds_where_no_other_column_is_there():
    assert judged(EQUAL, {"input_ids": [[5, 6], []]}).success


def test_the_first_role_in_the_order_of_the_catalogue_is_told():
    rows = {"input_ids": [[5, 6]], "labels": [[1]], "attention_mask": [[1, 1, 1]]}
    result = judged(EQUAL, rows)
    assert found(result) == [(0, "attention_mask_length")]
    assert result.findings[0].value == 3


def test_a_null_row_is_missing_and_a_null_companion_is_left_out():
    rows = {"input_ids": [None, [5, 6], [5, 6]], "labels": [[1], None, [1, None]]}
    result = judged(EQUAL, rows)
    assert result.success
    assert result.missing_count == 1


def test_a_row_of_no_tokens_with_labels_is_unequal():
    assert found(judged(EQUAL, {"input_ids": [[], []], "labels": [[1], []]})) == [(0, "labels_length")]


def test_other_types_and_layouts_are_compared_by_length():
    rows = pa.table(
        {
            "input_ids": list_array([[5, 6], [5, 6]], pa.uint16(), "fixed"),
            "attention_mask": list_array([[True, True], [True]], pa.bool_(), "large_list"),
        }
    )
    assert found(judged(EQUAL, rows)) == [(1, "attention_mask_length")]


def test_columns_may_be_told():
    rows = {"input_ids": [[5, 6]], "labels": [[1]], "attention_mask": [[1, 1]]}
    assert judged(EQUAL, rows, columns_=["input_ids", "attention_mask"]).success
    assert reasons(judged(EQUAL, rows, columns_=["input_ids", "labels"])) == {"labels_length": 1}
    assert reasons(judged(EQUAL, rows, columns_=["attention_mask", "labels"])) == {"labels_length": 1}


def test_a_told_column_without_a_role_is_named_as_it_stands():
    rows = {"input_ids": [[5, 6]], "token_type_ids": [[0]]}
    assert reasons(judged(EQUAL, rows, columns_=["input_ids", "token_type_ids"])) == {"token_type_ids_length": 1}


def test_a_told_column_that_is_not_there_cannot_be_judged():
    result = judged(EQUAL, {"input_ids": [[5, 6]]}, columns_=["input_ids", "labels"])
    assert not result.success
    assert result.unjudged is not None
    assert "labels" in result.unjudged.missing


def test_a_prefixed_column_goes_with_its_own_companions():
    rows = {"chosen_input_ids": [[5, 6]], "chosen_labels": [[5]], "labels": [[5, 6]]}
    result = judged(EQUAL, rows, column="chosen_input_ids")
    assert found(result) == [(0, "labels_length")]
    assert result.findings[0].column == "chosen_input_ids"


def test_a_shard_without_the_column_is_not_unequal(tmp_path: Path):
    pq.write_table(table_of(input_ids=[[5, 6]], labels=[[5]]), tmp_path / "a.parquet")
    pq.write_table(table_of(input_ids=[[5, 6]]), tmp_path / "b.parquet")
    result = judged(EQUAL, tmp_path)
    assert [(each.shard, each.reason) for each in result.findings] == [("a.parquet", "labels_length")]
    assert result.unjudged is None


def test_mostly_and_by_source():
    rows = {"input_ids": [[5, 6]] * 4, "labels": [[1]] + [[1, 2]] * 3, "source": ["web", "web", "code", None]}
    assert judged(EQUAL, rows, mostly=0.75).success
    assert judged(EQUAL, rows).details["by_source"] == {"web": 1}


@pytest.mark.parametrize("by_source", [{}, {"web": {}}])
def test_a_shard_without_a_mask_has_none_to_compare(by_source: dict[str, Any], tmp_path: Path):
    rows = table_of(input_ids=[[5, 6]], attention_mask=[[1]], source=["web"])
    pq.write_table(rows, tmp_path / "a.parquet")
    pq.write_table(rows.drop_columns(["attention_mask"]), tmp_path / "b.parquet")
    result = judged(EQUAL, tmp_path, by_source=by_source)
    assert result.unjudged is None
    assert [(each.shard, each.reason) for each in result.findings] == [("a.parquet", "attention_mask_length")]
