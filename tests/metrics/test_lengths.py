"""Lengths and nulls, as they are stored."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.lengths import Lengths
from dataguard.shards.batch import Batch
from tests.builders import batch_of, list_array, numbers
from tests.metrics.strategies import Given, batches, quick


@quick
@given(batches())
def test_agrees_with_len(rows: Given):
    expected = [{"length": len(row or []), "nulls": int(row is None)} for row in rows.rows]
    assert numbers(Lengths("input_ids"), rows.batch) == expected


@pytest.mark.parametrize("layout", ["list", "large_list", "list_view", "fixed"])
@pytest.mark.parametrize("skip", [0, 3])
def test_tells_a_null_element_from_a_null_row(layout: str, skip: int):
    batch = batch_of(input_ids=[[1, 2], None, [None, 3], [None, None]], layout=layout, skip=skip)
    assert [each["nulls"] for each in numbers(Lengths("input_ids"), batch)] == [0, 1, 2, 2]


def test_a_null_row_may_hide_values():
    hiding = pa.ListArray.from_arrays(
        pa.array([0, 2, 4]), pa.array([1, 2, 3, 4], pa.int32()), mask=pa.array([True, False])
    )
    assert numbers(Lengths("input_ids"), Batch({"input_ids": hiding}, 2)) == [
        {"length": 0, "nulls": 1},
        {"length": 2, "nulls": 0},
    ]


def test_reads_a_column_of_nothing_but_nulls():
    nothing = list_array([[], None, [None]], pa.null())
    assert numbers(Lengths("labels"), Batch({"labels": nothing}, 3)) == [
        {"length": 0, "nulls": 0},
        {"length": 0, "nulls": 1},
        {"length": 1, "nulls": 2},
    ]


@quick
@given(st.integers(0, 5))
def test_an_empty_batch_gives_no_numbers(skip: int):
    assert numbers(Lengths("input_ids"), batch_of(input_ids=[], skip=skip)) == []
