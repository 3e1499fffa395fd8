"""Lent memory is as large as was asked, from a line of the cache on, and used again."""

from __future__ import annotations

import pytest

from dataguard.shards.room import LINE, Room


@pytest.mark.parametrize("size", [0, 1, 100, 4096, 1_000_003, 2_097_152])
def test_lends_at_least_what_is_asked_also_of_memory_that_was_lent_before(size: int):
    # The start is moved to a line of the cache: memory that only just held an earlier loan may be too short by then.
    for more in range(2 * LINE):
        room = Room()
        room.lend(size)
        again = room.lend(size + more)
        assert again.size >= size + more
        assert again.address % LINE == 0


def test_memory_that_is_held_is_not_lent_again():
    room = Room()
    one = room.lend(1000)
    part = one.slice(10, 5)
    address = one.address
    del one
    assert room.lend(1000).address != address
    del part
    assert room.lend(1000).size >= 1000
