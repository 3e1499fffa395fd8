"""Memory that is lent is as much as was asked for, begins with a line of the cache, and is nobody else's while it is shown."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dataguard.shards.room import LINE, Room
from tests.examples import examples


@examples(200)
@given(st.lists(st.integers(0, 400), max_size=40))
def test_memory_that_was_lent_before_is_enough(sizes: list[int]) -> None:
    room = Room()
    for size in sizes:
        lent = room.lend(size)
        assert lent.size >= size
        assert not size or lent.address % LINE == 0


def test_memory_that_is_shown_is_not_lent_again() -> None:
    room = Room()
    shown = room.lend(100).slice(10, 5)
    others: list[pa.Buffer] = [room.lend(100) for _ in range(3)]
    places = {shown.address - 10, *(each.address for each in others)}
    assert len(places) == 4
    del others
    assert room.lend(100).address in places - {shown.address - 10}
