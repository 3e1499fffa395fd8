"""Ids by range, against the plainest loop."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.token_use import EDGES, NAMES, TokenUse
from tests.builders import batch_of, numbers
from tests.metrics.strategies import EXTREMES, Given, attended, batches, quick

STARTS = (0, *EDGES)


def ids(kind: pa.DataType) -> st.SearchStrategy[int]:
    """Return ids around the borders of the ranges, as far as the type goes."""
    near = [edge + step for edge in EDGES for step in (-1, 0, 1)]
    here = [each for each in near if each <= max(EXTREMES[kind])]
    return st.one_of(st.integers(0, 127), st.sampled_from(here), st.sampled_from(EXTREMES[kind]))


def by_hand(row: list[int], seen: list[bool]) -> dict[str, int]:
    counts = dict.fromkeys(NAMES, 0)
    for token, is_seen in zip(row, seen, strict=True):
        start = max((each for each in STARTS if each <= token), default=0)
        counts[f"ids_from_{start}"] += is_seen
    return counts


@quick
@given(batches(companion="attention_mask", values=ids), st.sampled_from([None, 0, 64]))
def test_agrees_with_the_plain_loop(rows: Given, pad: int | None):
    expected = [
        by_hand(row or [], [False] * len(row or []) if seen is None else seen)
        for row, seen in zip(rows.rows, attended(rows, pad), strict=True)
    ]
    assert numbers(TokenUse(Attention("input_ids", pad)), rows.batch) == expected


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.uint64()])
def test_ranges_are_the_same_in_every_type(kind: pa.DataType):
    (row,) = numbers(TokenUse(Attention("input_ids")), batch_of(input_ids=[[0, 63, 64, 127]], kind=kind))
    assert (row["ids_from_0"], row["ids_from_64"], sum(row.values())) == (2, 2, 4)


def test_an_id_past_every_range_is_in_the_last_and_a_negative_one_in_the_first():
    batch = batch_of(input_ids=[[-5, 2**18 - 1, 2**18, 2**62]], kind=pa.int64())
    (row,) = numbers(TokenUse(Attention("input_ids")), batch)
    assert (row["ids_from_0"], row["ids_from_131072"], row["ids_from_262144"]) == (1, 1, 2)
