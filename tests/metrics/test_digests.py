"""Digests: equal for equal rows, whatever they are stored as, and for no others."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.digests import BLOCK, KEYS, Digest
from dataguard.shards.batch import Batch
from tests.builders import batch_of, list_array, numbers
from tests.metrics.strategies import Given, attended, batches, quick

OWN = Digest("input_ids", Attention("input_ids"))
MASK = 2**64 - 1


def stirred(state: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        state = ((state ^ state >> 33) * factor) & MASK
    return state ^ state >> 33


def by_hand(tokens: list[int], half: int) -> int:
    state = 0
    for place, token in enumerate(tokens):
        bits = token & MASK
        state = (state + int(KEYS[half, place % BLOCK]) * (bits ^ bits >> 32)) & MASK
        if place % BLOCK == BLOCK - 1:
            state = stirred(state)
    return stirred((stirred(state) + len(tokens)) & MASK)


def digests(metric: Digest, batch: Batch) -> list[tuple[int, int]]:
    return [(row["low"], row["high"]) for row in numbers(metric, batch)]


@quick
@given(batches(companion="attention_mask"), st.one_of(st.none(), st.integers(0, 3)))
def test_agrees_with_the_plain_loop(rows: Given, pad: int | None):
    measured = numbers(Digest("input_ids", Attention("input_ids", pad)), rows.batch)
    for row, seen, own in zip(rows.rows, attended(rows, pad), measured, strict=True):
        assert own["paired"] == (row is not None and seen is not None)
        if own["paired"]:
            visible = [token for token, see in zip(row or [], seen or [], strict=True) if see]
            assert (own["low"], own["high"]) == (by_hand(visible, 0), by_hand(visible, 1))


@pytest.mark.parametrize("length", [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_long_rows_go_on_in_the_next_block(length: int):
    row = random.Random(length).choices(range(50_000), k=length)
    padded = {"input_ids": [row, [*row, 0]], "attention_mask": [[1] * length, [1] * length + [0]]}
    assert digests(OWN, batch_of(**padded)) == [(by_hand(row, 0), by_hand(row, 1))] * 2


def test_what_differs_in_order_length_or_number_differs():
    rows = [[], [0], [0, 0], [5], [5, 0], [0, 5], [5, 6], [6, 5], [-1], [2**31 - 1], *([each] for each in range(7, 99))]
    found = digests(OWN, batch_of(input_ids=rows))
    assert len({low for low, _ in found}) == len({high for _, high in found}) == len(rows)


def test_high_bits_are_not_lost():
    rows = [[1 << 62, 1 << 62], [1 << 61, 1 << 61], [1 << 60, 3 << 60], [-(1 << 63), 0], [0, -(1 << 63)], [0, 0]]
    assert len(set(digests(OWN, batch_of(input_ids=rows, kind=pa.int64())))) == len(rows)


def test_the_type_of_the_column_is_no_difference():
    arrays = [list_array([[5, 6]], kind) for kind in (pa.int32(), pa.int64(), pa.uint16(), pa.uint32())]
    assert len({tuple(digests(OWN, Batch({"input_ids": array}, 1))) for array in arrays}) == 1


def test_a_companion_is_taken_at_the_attended_positions():
    metric = Digest("labels", Attention("input_ids"))
    rows: dict[str, Any] = {"input_ids": [[5, 6, 0], [5, 6]], "attention_mask": [[1, 1, 0], [1, 1]]}
    one, other = digests(metric, batch_of(**rows, labels=[[5, 6, -100], [5, 6]]))
    assert one == other
    one, other = digests(metric, batch_of(**rows, labels=[[5, 6, -100], [5, -100]]))
    assert one != other


def test_a_companion_of_another_length_does_not_pair():
    batch = batch_of(input_ids=[[5, 6], [5, 6]], labels=[[5], [5, 6]])
    assert [row["paired"] for row in numbers(Digest("labels", Attention("input_ids")), batch)] == [False, True]


def test_without_attention_every_value_counts():
    metric = Digest("prompt_ids", None)
    one, other = digests(metric, batch_of(prompt_ids=[[5, 0], [5]], input_ids=[[1], [1]]))
    assert one != other


def test_the_keys_never_change():
    known = [0xE220A8397B1DCDAF, 7960286522194355701, 5296425792854255065]  # splitmix64 from seed 0, as published
    assert [int(key) for key in (KEYS[0, 0], KEYS[0, 1], KEYS[1, BLOCK - 1])] == known
