"""expect_columns_to_exist."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from tests.builders import judged, reasons, table_of

EXIST = "expect_columns_to_exist"
ROWS = {"input_ids": [[1, 2]], "labels": [[1, 2]]}


def test_columns_that_are_there_hold():
    result = judged(EXIST, ROWS, columns_=["input_ids", "labels"])
    assert result.success
    assert (result.element_count, result.unexpected_count) == (1, 0)


def test_a_column_that_is_not_there_is_a_finding_on_the_shard():
    result = judged(EXIST, ROWS, columns_=["input_ids", "text", "attention_mask"])
    assert not result.success
    found = [(each.shard, each.row, each.column, each.reason) for each in result.findings]
    assert found == [
        ("table", None, "text", "missing_column"),
        ("table", None, "attention_mask", "missing_column"),
    ]
    assert (result.unexpected_count, reasons(result)) == (1, {"missing_column": 2})


def test_names_the_one_shard_that_lacks_it(tmp_path: Path):
    pq.write_table(table_of(**ROWS), tmp_path / "a.parquet")
    pq.write_table(table_of(input_ids=[[1, 2]]), tmp_path / "b.parquet")
    result = judged(EXIST, tmp_path, columns_=["labels"])
    assert [each.shard for each in result.findings] == ["b.parquet"]
    assert (result.element_count, result.unexpected_count) == (2, 1)


def test_a_shard_without_rows_has_columns_too(tmp_path: Path):
    pq.write_table(table_of(**ROWS), tmp_path / "a.parquet")
    pq.write_table(table_of(input_ids=[]), tmp_path / "b.parquet")
    assert not judged(EXIST, tmp_path, columns_=["labels"]).success


def test_a_role_may_have_another_name():
    assert judged(EXIST, {"tokens": [[1]]}, columns={"input_ids": "tokens"}, columns_=["input_ids"]).success
    assert judged(EXIST, {"tokens": [[1]]}, columns={"input_ids": "tokens"}, columns_=["tokens"]).success


def test_a_role_whose_column_is_gone_does_not_exist_whatever_else_has_its_name(tmp_path: Path):
    pq.write_table(table_of(tokens=[[1]], input_ids=[[1]]), tmp_path / "a.parquet")
    pq.write_table(table_of(input_ids=[[1]]), tmp_path / "b.parquet")
    result = judged(EXIST, tmp_path, columns={"input_ids": "tokens"}, columns_=["input_ids"])
    assert [each.shard for each in result.findings] == ["b.parquet"]


def test_a_shard_that_is_not_intact_is_not_judged(tmp_path: Path):
    pq.write_table(table_of(**ROWS), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"")
    result = judged(EXIST, tmp_path, columns_=["labels"])
    assert result.success
    assert result.element_count == 1
