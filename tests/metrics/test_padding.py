"""Padding and pad ids, against the plainest loop."""

from __future__ import annotations

from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.padding import Padding, PadIds
from tests.builders import batch_of, numbers
from tests.metrics.strategies import Given, attended, batches, quick

PADS = st.one_of(st.none(), st.integers(0, 2))


def ends(seen: list[bool]) -> tuple[int, int]:
    """Return the first attended position and the one behind the last; (all, all) where none is."""
    places = [place for place, each in enumerate(seen) if each]
    return (places[0], places[-1] + 1) if places else (len(seen), len(seen))


def padding_by_hand(seen: list[bool]) -> dict[str, int]:
    first, last = ends(seen)
    inner = [place for place in range(first, last) if not seen[place]]
    position = inner[0] if inner else -1
    return {"left": first, "right": len(seen) - last, "inner": len(inner), "inner_position": position}


def pad_ids_by_hand(row: list[int], seen: list[bool], pad: int, *, masked: bool) -> dict[str, object]:
    first, last = ends(seen)
    run = [row[place] == pad and seen[place] for place in range(first, last)]
    left, right = len(list(takewhile(bool, run))), len(list(takewhile(bool, reversed(run))))
    hidden = [place for place in (*range(first), *range(last, len(row))) if row[place] != pad]
    return {
        "attended_left": left,
        "attended_right": right,
        "attended_inner": sum(run[left : len(run) - right]),
        "masked_token": hidden[0] if hidden else -1,
        "trailing": len(list(takewhile(lambda token: token == pad, reversed(row)))),
        "masked": masked,
    }


@quick
@given(batches(companion="attention_mask"), PADS)
def test_padding_agrees_with_the_plain_loop(rows: Given, pad: int | None):
    seen = attended(rows, pad)
    measured = numbers(Padding(Attention("input_ids", pad)), rows.batch)
    assert [row for row, each in zip(measured, seen, strict=True) if each is not None] == [
        padding_by_hand(each) for each in seen if each is not None
    ]


@quick
@given(batches(companion="attention_mask"), st.integers(0, 2))
def test_pad_ids_agree_with_the_plain_loop(rows: Given, pad: int):
    seen, masked = attended(rows, None), rows.beside is not None
    measured = numbers(PadIds(Attention("input_ids"), pad), rows.batch)
    both = [(row, each, own) for row, each, own in zip(rows.rows, seen, measured, strict=True) if each is not None]
    for row, each, own in both:
        assert own == pad_ids_by_hand(row or [], each, pad, masked=masked)


def test_measures_left_right_and_inner():
    batch = batch_of(input_ids=[[0, 0, 5, 0, 6, 0]], attention_mask=[[0, 0, 1, 0, 1, 0]])
    assert numbers(Padding(Attention("input_ids")), batch) == [{"left": 2, "right": 1, "inner": 1, "inner_position": 3}]


def test_any_mask_that_is_not_0_attends():
    batch = batch_of(input_ids=[[5, 6, 7]], attention_mask=[[2, -1, 0]])
    assert numbers(Padding(Attention("input_ids")), batch) == [
        {"left": 0, "right": 1, "inner": 0, "inner_position": -1}
    ]
