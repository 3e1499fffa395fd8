"""expect_rows_not_to_be_null."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.builders import found, judged, list_array, reasons, table_of

NULL = "expect_rows_not_to_be_null"


def test_tells_null_rows_from_null_elements():
    result = judged(NULL, {"input_ids": [[1], None, [2, None, 3], []]})
    assert not result.success
    assert found(result) == [(1, "null_row"), (2, "null_element")]
    assert (result.element_count, result.unexpected_count, result.missing_count) == (4, 2, 0)
    assert reasons(result) == {"null_element": 1, "null_row": 1}


@pytest.mark.parametrize("layout", ["list", "large_list", "list_view", "fixed"])
@pytest.mark.parametrize("skip", [0, 2])
def test_holds_in_every_layout_and_slice(layout: str, skip: int):
    rows = pa.table({"input_ids": list_array([[1, 2], None, [3, None]], layout=layout, skip=skip)})
    assert found(judged(NULL, rows)) == [(1, "null_row"), (2, "null_element")]


def test_a_list_of_nothing_but_nulls():
    assert found(judged(NULL, pa.table({"input_ids": pa.array([[None], None, []], pa.list_(pa.null()))}))) == [
        (0, "null_element"),
        (1, "null_row"),
    ]


def test_a_null_row_that_hides_values_is_null():
    hiding = pa.ListArray.from_arrays(
        pa.array([0, 2, 4]), pa.array([1, 2, 3, 4], pa.int32()), mask=pa.array([True, False])
    )
    assert found(judged(NULL, pa.table({"input_ids": hiding}))) == [(0, "null_row")]


def test_judges_the_column_that_it_is_given():
    rows = {"input_ids": [[1], None], "labels": [None, [2]]}
    result = judged(NULL, rows, column="labels")
    assert found(result) == [(0, "null_row")]
    assert result.findings[0].column == "labels"


def test_mostly_tolerates_a_share():
    rows = {"input_ids": [None, [1], [2], [3]]}
    assert judged(NULL, rows, mostly=0.75).success
    assert not judged(NULL, rows, mostly=0.76).success


def test_rows_are_counted_from_0_in_each_shard(tmp_path: Path):
    pq.write_table(table_of(input_ids=[[1], None, [2]]), tmp_path / "a.parquet", row_group_size=1)
    pq.write_table(table_of(input_ids=[None]), tmp_path / "b.parquet")
    places = [(each.shard, each.row) for each in judged(NULL, tmp_path).findings]
    assert places == [("a.parquet", 1), ("b.parquet", 0)]
