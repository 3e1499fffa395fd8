"""The values of masks, against the plainest loop."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.masks import MaskValues
from dataguard.shards.batch import NOT_WHOLE, Batch
from tests.builders import list_array, numbers
from tests.metrics.strategies import Given, batches, quick

MASK = MaskValues("attention_mask", "input_ids", 0)


def by_hand(mask: list[int]) -> dict[str, object]:
    odd = [place for place, each in enumerate(mask) if each not in (0, 1)]
    negative = [place for place, each in enumerate(mask) if each < 0]
    return {
        "position": min(odd, default=-1),
        "value": mask[min(odd)] if odd else 0,
        "no_segment": min(negative, default=-1),
        "no_segment_value": mask[min(negative)] if negative else 0,
        "additive": any(mask) and all(each == 0 or each <= -1000 for each in mask),
    }


@quick
@given(batches(companion="attention_mask", beside=st.sampled_from([0, 0, 1, 1, 2, -1])))
def test_agrees_with_the_plain_loop(rows: Given):
    if rows.beside is None:
        return
    for row, mask, own in zip(rows.rows, rows.beside, numbers(MASK, rows.batch), strict=True):
        expected = by_hand(mask or [])
        assert {name: own[name] for name in expected} == expected
        both = list(zip(row or [], mask or [], strict=False)) if len(row or []) == len(mask or []) else []
        pads = {token == 0 for token, seen in both if seen}
        hidden = any(token != 0 for token, seen in both if not seen)
        assert own["inverted"] == (pads == {True} and hidden)


@pytest.mark.parametrize("hidden", [-math.inf, -1e4, -1e9, -3.4e38])
@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_floats_that_are_added(hidden: float, kind: pa.DataType):
    mask = pa.array([[0.0, hidden], [0.0, 0.0]], pa.list_(pa.float64())).cast(pa.list_(kind))
    first, second = numbers(MASK, Batch({"attention_mask": mask}, 2))
    assert (first["additive"], first["position"]) == (True, 1)
    assert (second["additive"], second["position"]) == (False, -1)


def test_whole_floats_are_numbers_and_the_rest_is_none():
    rows: list[list[Any]] = [[0.0, 1.0], [1.0, 0.5], [math.nan], [None, 1.0], [2.0, -0.5]]
    found = numbers(MASK, Batch({"attention_mask": pa.array(rows, pa.list_(pa.float32()))}, 5))
    assert [(row["position"], row["value"]) for row in found] == [
        (-1, 0),
        (1, NOT_WHOLE),
        (0, NOT_WHOLE),
        (-1, 0),
        (0, 2),
    ]
    assert [row["no_segment"] for row in found] == [-1, 1, 0, -1, 1]
    assert [row["nulls"] for row in found] == [0, 0, 0, 2, 0]


def test_only_the_mask_may_hold_floats():
    floats, ids = pa.list_(pa.float32()), pa.list_(pa.int32())
    assert MASK.can_compute({"attention_mask": floats, "input_ids": ids})
    assert not MASK.can_compute({"attention_mask": ids, "input_ids": floats})
    assert not MASK.can_compute({"attention_mask": pa.list_(pa.string())})
    assert not MASK.can_compute({"attention_mask": pa.float32()})


def test_booleans_and_another_length_than_the_ids():
    mask = list_array([[1, 0], [1]], pa.bool_())
    found = numbers(MASK, Batch({"attention_mask": mask, "input_ids": list_array([[0, 5], [0, 5]])}, 2))
    assert [(row["position"], row["inverted"]) for row in found] == [(-1, True), (-1, False)]


@pytest.mark.parametrize("kind", [pa.int32(), pa.uint32(), pa.int64(), pa.uint64()])
def test_the_number_that_stands_for_a_fraction_is_a_number_among_whole_ones(kind: pa.DataType):
    mask = list_array([[1, NOT_WHOLE]], kind)
    (row,) = numbers(MASK, Batch({"attention_mask": mask}, 1))
    assert (row["position"], row["value"], row["no_segment"]) == (1, NOT_WHOLE, -1)
