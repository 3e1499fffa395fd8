"""Position ids, against the plainest loop."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.documents import Documents
from dataguard.metrics.positions import Positions
from tests.builders import batch_of, numbers
from tests.metrics.packs import EOS, PAD, Pack, Packs, begins, divided, packs
from tests.metrics.strategies import quick


def by_hand(row: Pack, positions: list[int], *, by_document: bool, start: int | None) -> dict[str, Any]:
    documents, by = divided(row, EOS)
    places = [place for place, each in enumerate(documents) if each is not None]
    later = [place for place in begins(documents) if place != places[0]] if by_document else []
    before = {place: positions[place] - positions[place - 1] for place in places[1:]}
    faults = {
        "negative": [place for place in places if positions[place] < 0],
        "stale": [place for place in later if (before[place] == 1 if start is None else positions[place] != start)],
        "gap": [place for place in places[1:] if place not in later and before[place] != 1],
    }
    found: dict[str, Any] = {"known": True, "by": by, "first": positions[places[0]], "last": positions[places[-1]]}
    found["place"] = places[0]
    for name, where in faults.items():
        found |= {name: min(where, default=-1), f"{name}_value": positions[min(where)] if where else 0}
    return found


@quick
@given(packs(position_ids=st.integers(-1, 3)), st.booleans(), st.sampled_from([0, 1, None]))
def test_agrees_with_the_plain_loop(given: Packs, by_document: bool, start: int | None):
    documents = Documents(Attention("input_ids", PAD), PAD, EOS)
    measured = given.numbers(Positions(documents, by_document, start))
    both = zip(given.rows, given.columns["position_ids"], strict=True)
    assert measured == [by_hand(row, each, by_document=by_document, start=start) for row, each in both]


def test_a_step_over_padding_may_count_it_or_not():
    metric = Positions(Documents(Attention("input_ids")), by_document=True, start=0)
    for positions, gap in (([0, 9, 1], -1), ([0, 9, 2], -1), ([0, 9, 3], 2)):
        batch = batch_of(input_ids=[[5, 0, 6]], attention_mask=[[1, 0, 1]], position_ids=[positions])
        assert numbers(metric, batch)[0]["gap"] == gap
