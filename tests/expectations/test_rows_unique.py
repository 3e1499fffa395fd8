"""expect_rows_to_be_unique."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.errors import SuiteError
from dataguard.expectations.rows_unique import copies_of_earlier_rows
from tests.builders import found, judged, table_of

UNIQUE = "expect_rows_to_be_unique"


def test_names_every_copy_after_the_first():
    result = judged(UNIQUE, {"input_ids": [[5, 6], [6, 5], [5, 6], [5], [5, 6], [5, 0]]})
    assert found(result) == [(2, "duplicate"), (4, "duplicate")]
    assert result.severity == "warning"
    assert result.unexpected_count == 2


def test_looks_over_all_shards_in_the_order_of_data_and_names_the_first_copy(tmp_path: Path):
    for name, rows in {"b": [[1], [7], [7]], "a": [[5], [7]], "c": [[5]]}.items():
        pq.write_table(table_of(input_ids=rows), tmp_path / f"{name}.parquet")
    result = judged(UNIQUE, tmp_path)
    assert [(each.shard, each.row, each.detail) for each in result.findings] == [
        ("b.parquet", 1, "the same as row 1 of a.parquet"),
        ("b.parquet", 2, "the same as row 1 of a.parquet"),
        ("c.parquet", 0, "the same as row 0 of a.parquet"),
    ]


def test_padding_makes_no_difference():
    rows = {"input_ids": [[5, 6, 0], [0, 5, 6], [5, 6]], "attention_mask": [[1, 1, 0], [0, 1, 1], [1, 1]]}
    assert found(judged(UNIQUE, rows)) == [(1, "duplicate"), (2, "duplicate")]
    ids: dict[str, Any] = {"input_ids": rows["input_ids"]}
    assert judged(UNIQUE, ids).success
    assert found(judged(UNIQUE, ids, vocabulary={"size": 9, "pad": 0})) == [(1, "duplicate"), (2, "duplicate")]


def test_the_type_of_a_column_makes_no_difference(tmp_path: Path):
    import pyarrow as pa

    for name, kind in {"a": pa.uint16(), "b": pa.int64()}.items():
        pq.write_table(table_of(types={"input_ids": kind}, input_ids=[[5, 6]]), tmp_path / f"{name}.parquet")
    assert [each.shard for each in judged(UNIQUE, tmp_path).findings] == ["b.parquet"]


def test_several_columns_must_all_be_the_same():
    rows = {"input_ids": [[5, 6], [5, 6], [5, 6]], "labels": [[5, 6], [-100, 6], [5, 6]]}
    assert found(judged(UNIQUE, rows)) == [(1, "duplicate"), (2, "duplicate")]
    assert found(judged(UNIQUE, rows, columns_=["input_ids", "labels"])) == [(2, "duplicate")]
    assert found(judged(UNIQUE, rows, columns_=["labels"])) == [(2, "duplicate")]


def test_columns_of_another_kind_are_compared_whole():
    rows = {"input_ids": [[1], [2], [3]], "prompt_ids": [[5, 6], [5], [5, 6]]}
    assert found(judged(UNIQUE, rows, columns_=["prompt_ids"])) == [(2, "duplicate")]


def test_the_column_stands_for_the_columns_where_they_are_not_told():
    rows = {"chosen_input_ids": [[5], [5]], "rejected_input_ids": [[6], [7]], "input_ids": [[1], [2]]}
    assert found(judged(UNIQUE, rows, column="chosen_input_ids")) == [(1, "duplicate")]
    assert judged(UNIQUE, rows, columns_=["chosen_input_ids", "rejected_input_ids"]).success


def test_rows_that_hold_nothing_are_no_copies():
    rows = {"input_ids": [[], [], None, None, [5], [5]], "attention_mask": [[], [], None, None, [0], [0]]}
    result = judged(UNIQUE, rows)
    assert (found(result), result.missing_count) == ([], 6)


def test_copies_are_tolerated_as_told_and_counted_by_source():
    rows = {"input_ids": [[5], [5], [6], [7]], "source": ["web", "code", "web", "web"]}
    result = judged(UNIQUE, rows, mostly=0.75)
    assert result.success
    assert result.details["by_source"] == {"code": 1}


def test_by_source_is_refused():
    with pytest.raises(SuiteError, match="over all sources"):
        judged(UNIQUE, {"input_ids": [[5]]}, by_source={"web": {"columns": ["labels"]}})


@given(st.lists(st.integers(0, 5), max_size=40), st.integers(1, 50))
def test_parts_find_what_one_look_finds(cells: list[int], part_rows: int):
    rows = pl.DataFrame(
        {
            "shard": pl.Series([place // 7 for place in range(len(cells))], dtype=pl.UInt32),
            "row": pl.Series([place % 7 for place in range(len(cells))], dtype=pl.Int64),
            "low": pl.Series(cells, dtype=pl.UInt64),
            "high": pl.Series(cells, dtype=pl.UInt64),
        }
    )
    shuffled = rows.sample(fraction=1, shuffle=True, seed=1)
    digests = [pl.col("low"), pl.col("high")]
    found = copies_of_earlier_rows(shuffled.lazy(), digests, part_rows).sort("shard", "row")
    expected = [
        (place // 7, place % 7, (first // 7 << 40) + first % 7)
        for place, cell in enumerate(cells)
        if (first := cells.index(cell)) < place
    ]
    assert found.rows() == expected
