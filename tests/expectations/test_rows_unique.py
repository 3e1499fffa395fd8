"""expect_rows_to_be_unique."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from dataguard.errors import SuiteError
from dataguard.expectations.rows_unique import copies_of_earlier_rows
from tests.builders import found, judged, scratch_in, table_of

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


def by_hand(cells: list[tuple[int, int]]) -> list[tuple[int, int, int | None, int]]:
    """Return what is found in rows of digests, seven rows a shard: shard, row, source, place of the first."""
    firsts: dict[tuple[int, int], int] = {}
    found = []
    for place, cell in enumerate(cells):
        first = firsts.setdefault(cell, place)
        if first < place:
            found.append((place // 7, place % 7, None if place % 3 == 0 else place % 3, (first // 7 << 40) + first % 7))
    return found


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), max_size=60), st.integers(1, 70), st.booleans())
@example([(3, 0)] * 40 + [(3, 1)] * 20, 2, False)
@example([(place, 0) for place in range(60)] * 2, 1, True)
def test_parts_find_what_a_plain_loop_finds(cells: list[tuple[int, int]], part_rows: int, shuffled: bool):
    places = range(len(cells))
    rows = pl.DataFrame(
        {
            "shard": pl.Series([place // 7 for place in places], dtype=pl.UInt32),
            "row": pl.Series([place % 7 for place in places], dtype=pl.Int64),
            "source": pl.Series([None if place % 3 == 0 else place % 3 for place in places], dtype=pl.Int32),
            "low": pl.Series([low for low, _ in cells], dtype=pl.UInt64),
            "high": pl.Series([high for _, high in cells], dtype=pl.UInt64),
        }
    )
    rows = rows.sample(fraction=1, shuffle=True, seed=1) if shuffled else rows
    digests = [pl.col("low"), pl.col("high")]
    with tempfile.TemporaryDirectory() as folder:
        scratch = scratch_in(Path(folder))
        found = copies_of_earlier_rows(rows.lazy(), digests, rows.height, scratch, part_rows).collect()
        together = copies_of_earlier_rows(rows.lazy(), digests, rows.height, None, part_rows).collect()
    assert found.rows() == by_hand(cells)
    assert_frame_equal(found, together)


def test_one_row_copied_more_often_than_a_part_holds_is_searched_piece_by_piece(tmp_path: Path):
    rows = pl.LazyFrame(
        {
            "shard": pl.Series([0] * 1000, dtype=pl.UInt32),
            "row": range(1000),
            "source": pl.Series([None] * 1000, dtype=pl.Int32),
            "low": pl.Series([0] * 990 + list(range(10)), dtype=pl.UInt64),
        }
    )
    found = copies_of_earlier_rows(rows, [pl.col("low")], 1000, scratch_in(tmp_path), 100).collect()
    assert found["row"].to_list() == list(range(1, 991))
    assert found["first_copy"].unique().to_list() == [0]


def test_what_the_search_wrote_is_gone_but_for_the_copies(tmp_path: Path):
    columns = {
        "shard": pl.Series([0] * 9, dtype=pl.UInt32),
        "row": range(9),
        "source": pl.Series([0] * 9, dtype=pl.Int32),
    }
    rows = pl.LazyFrame({**columns, "low": pl.Series([1] * 9, dtype=pl.UInt64)})
    copies = copies_of_earlier_rows(rows, [pl.col("low")], 9, scratch_in(tmp_path), 2)
    assert {path.suffix for path in tmp_path.rglob("*") if path.is_file()} == {".parquet"}
    assert copies.collect().height == 8
