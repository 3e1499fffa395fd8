"""Ids of white space, against the plainest loop."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.white import WhiteSpace
from tests.builders import batch_of, numbers, table_of_characters
from tests.metrics.strategies import Given, attended, batches, ids, quick

TABLE = table_of_characters(b" ", b"\n\t", b"a", b"b ", b"", "\u2003".encode())
WHITE = {0, 1, 5}


def white(batch, special: tuple[int, ...] = ()) -> list[int]:  # type: ignore[no-untyped-def]
    return [each["white"] for each in numbers(WhiteSpace(Attention("input_ids"), special, TABLE), batch)]


@quick
@given(batches(companion="attention_mask", values=lambda kind: ids(kind, 8)), st.sampled_from([(), (0,), (2, 1), (7,)]))
def test_agrees_with_the_plain_loop(rows: Given, special: tuple[int, ...]):
    for row, seen, own in zip(rows.rows, attended(rows, None), white(rows.batch, special), strict=True):
        if seen is not None:
            both = zip(row or [], seen, strict=True)
            assert own == sum(see and token in WHITE and token not in special for token, see in both)


@pytest.mark.parametrize(("row", "count"), [([], 0), ([0, 1, 5], 3), ([2, 3, 4], 0), ([6, 99, -1, -6, 0], 1)])
def test_counts_ids_that_spell_white_space_alone(row: list[int], count: int):
    assert white(batch_of(input_ids=[row])) == [count]
