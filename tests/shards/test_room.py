"""Memory that is lent again: always as much as was asked for, and never to two at once."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.shards.room import _MOST_KEPT, LINE, Room
from tests.examples import examples


def address(room: Room, size: int) -> int:
    return int(room.lend(size).address)


@given(st.lists(st.integers(0, 5 * LINE), min_size=1, max_size=40))
@examples(200)
def test_as_much_is_lent_as_was_asked_for(sizes: list[int]) -> None:
    room = Room()
    for size in sizes:
        lent = room.lend(size)
        assert lent.size >= size
        assert lent.address % LINE == 0
        del lent


@pytest.mark.parametrize("first", [0, 1, LINE - 1, LINE, 1000, 1 << 20])
@pytest.mark.parametrize("more", range(2 * LINE + 1))
def test_a_little_more_than_before_is_lent(first: int, more: int) -> None:
    room = Room()
    room.lend(first)
    assert room.lend(first + more).size >= first + more


def test_what_is_held_is_not_lent_again() -> None:
    room = Room()
    held = [room.lend(100).slice(8, 4) for _ in range(5)]
    lent = [room.lend(100).address for _ in range(5)]
    assert not {each.address - 8 for each in held} & set(lent)
    assert len({each.address for each in held}) == 5


def test_what_is_free_is_lent_again_unless_it_is_large() -> None:
    room = Room()
    first = address(room, 5000)
    gc.collect()
    assert address(room, 4000) == first
    room.lend(_MOST_KEPT + 1)
    gc.collect()
    assert all(each.size <= _MOST_KEPT for each in room._free)
