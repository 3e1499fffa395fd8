"""Ids outside the vocabulary, against the plainest loop."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.ids import MOST_DISTINCT, IdsOutside
from tests.builders import batch_of, numbers
from tests.metrics.strategies import Given, batches, quick


def by_hand(row: list[int], limit: int | None, sentinels: tuple[int, ...]) -> dict[str, object]:
    asked = [(position, token) for position, token in enumerate(row) if token not in sentinels]
    negative = [(position, token) for position, token in asked if token < 0]
    beyond = [(position, token) for position, token in asked if limit is not None and token >= limit]
    position, value = (negative or beyond or [(-1, 0)])[0]
    return {
        "negative": len(negative),
        "beyond": len(beyond),
        "position": position,
        "value": value,
        "lowest": min((token for _, token in asked), default=0),
        "highest": max((token for _, token in asked), default=-1),
        "distinct": sorted({token for _, token in negative + beyond})[:MOST_DISTINCT],
    }


LIMITS = st.one_of(st.integers(1, 7), st.sampled_from([2**15, 2**31 - 1, 2**31, 2**32]))


@quick
@given(batches(), LIMITS, st.sampled_from([(), (-100,), (-1, 3)]))
def test_agrees_with_the_plain_loop(rows: Given, limit: int, sentinels: tuple[int, ...]):
    metric = IdsOutside("input_ids", limit, sentinels)
    assert numbers(metric, rows.batch) == [by_hand(row or [], limit, sentinels) for row in rows.rows]


@quick
@given(st.lists(st.lists(st.integers(-(2**62), 2**62), max_size=6), max_size=4))
def test_without_a_limit_only_negative_ids_are_outside(rows: list[list[int]]):
    batch = batch_of(input_ids=rows, kind=pa.int64())
    assert numbers(IdsOutside("input_ids", None), batch) == [by_hand(row, None, ()) for row in rows]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.uint64()])
def test_the_limit_itself_is_outside_in_every_type(kind: pa.DataType):
    (row,) = numbers(IdsOutside("input_ids", 100), batch_of(input_ids=[[99, 100]], kind=kind))
    assert (row["beyond"], row["position"], row["value"]) == (1, 1, 100)


def test_an_unsigned_id_past_int64_is_beyond_and_not_negative():
    (row,) = numbers(IdsOutside("input_ids", 100), batch_of(input_ids=[[5, 2**64 - 1]], kind=pa.uint64()))
    assert (row["negative"], row["beyond"], row["position"], row["value"]) == (0, 1, 1, 2**63 - 1)


def test_position_and_value_are_those_of_a_negative_id_where_there_is_one():
    (row,) = numbers(IdsOutside("input_ids", 100), batch_of(input_ids=[[300, 7, -5, -6]]))
    assert (row["negative"], row["beyond"], row["position"], row["value"]) == (2, 1, 2, -5)


def test_keeps_the_lowest_fifty_ids_of_a_row():
    (row,) = numbers(IdsOutside("input_ids", 100), batch_of(input_ids=[list(range(400, 100, -1)) * 2]))
    assert row["distinct"] == list(range(101, 151))


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
@pytest.mark.parametrize("sentinels", [(), (-100,), (1, 2)])
def test_without_a_limit_even_the_highest_number_is_not_beyond(kind: pa.DataType, sentinels: tuple[int, ...]):
    rows = batch_of(input_ids=[[5, 2**63 - 1]], kind=kind)
    (row,) = numbers(IdsOutside("input_ids", None, sentinels), rows)
    assert (row["beyond"], row["position"], row["highest"], row["distinct"]) == (0, -1, 2**63 - 1, [])
    (row,) = numbers(IdsOutside("input_ids", 2**63 - 1, sentinels), rows)
    assert (row["beyond"], row["position"]) == (1, 1)
