"""Ids without a token, against the plainest loop."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.assigned import Unassigned, ranges_of
from tests.builders import batch_of, numbers
from tests.metrics.strategies import Given, batches, quick

SETS = st.frozensets(st.integers(0, 6), max_size=4)


def by_hand(row: list[int], size: int, limit: int, holes: frozenset[int], reserved: frozenset[int]) -> dict[str, Any]:
    inside = [(place, token) for place, token in enumerate(row) if 0 <= token < limit]
    untrained = [each for each in inside if each[1] in reserved]
    missing = [each for each in inside if each[1] not in reserved and (each[1] in holes or each[1] >= size)]
    position, value = (missing or untrained or [(-1, 0)])[0]
    return {"unassigned": len(missing), "reserved": len(untrained), "position": position, "value": value}


@quick
@given(batches(), st.integers(0, 7), st.integers(0, 2**32), SETS, SETS)
def test_agrees_with_the_plain_loop(
    rows: Given, size: int, limit: int, holes: frozenset[int], reserved: frozenset[int]
):
    metric = Unassigned("input_ids", size, limit, ranges_of(holes), ranges_of(reserved))
    expected = [by_hand(row or [], size, limit, holes, reserved) for row in rows.rows]
    assert numbers(metric, rows.batch) == expected


@given(st.frozensets(st.integers(0, 30)))
def test_ranges_hold_the_ids_and_no_others(ids: frozenset[int]):
    ranges = ranges_of(ids)
    assert {each for start, stop in ranges for each in range(start, stop)} == ids
    assert all(stop < start for (_, stop), (start, _) in pairwise(ranges))


def test_a_huge_vocabulary_costs_no_table():
    metric = Unassigned("input_ids", 2**60, 2**62, (), ranges_of([2**61]))
    (row,) = numbers(metric, batch_of(input_ids=[[5]]))
    assert (row["unassigned"], row["reserved"]) == (0, 0)
