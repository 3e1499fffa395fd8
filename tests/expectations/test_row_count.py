"""expect_row_count_to_be_between."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.builders import judged, reasons, table_of

COUNT = "expect_row_count_to_be_between"
THREE = {"input_ids": [[1], [2], None]}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, None),
        ({"min_value": 3, "max_value": 3}, None),
        ({"min_value": 4}, "too_few_rows"),
        ({"max_value": 2}, "too_many_rows"),
        ({"min_value": None, "max_value": 2}, "too_many_rows"),
        ({"min_value": 0, "max_value": None}, None),
    ],
)
def test_counts_all_rows_and_the_limits_hold(arguments: dict[str, int | None], reason: str | None):
    result = judged(COUNT, THREE, **arguments)
    assert result.success == (reason is None)
    assert result.observed_value == 3
    assert reasons(result) == ({reason: 1} if reason else {})


def test_no_rows_at_all_are_too_few():
    assert reasons(judged(COUNT, {"input_ids": []})) == {"too_few_rows": 1}


def test_adds_up_all_shards_and_lists_the_empty_ones(tmp_path: Path):
    pq.write_table(table_of(input_ids=[[1], [2]]), tmp_path / "a.parquet")
    pq.write_table(table_of(input_ids=[]), tmp_path / "b.parquet")
    pq.write_table(table_of(input_ids=[[1]]), tmp_path / "c.parquet")
    result = judged(COUNT, tmp_path, min_value=3)
    assert result.success
    assert result.observed_value == 3
    assert result.details["empty_shards"] == ["b.parquet"]


def test_rows_of_a_shard_that_is_not_intact_do_not_count(tmp_path: Path):
    pq.write_table(table_of(input_ids=[[1], [2]]), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-1])
    assert judged(COUNT, tmp_path).observed_value == 2
