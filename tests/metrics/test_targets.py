"""Labels on padding, at the end and at the borders of documents, against the plainest loops."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.documents import Documents
from dataguard.metrics.targets import Crossing, EndTarget, SupervisedPadding
from tests.builders import batch_of, numbers
from tests.metrics.packs import EOS, IGNORED, PAD, Pack, Packs, begins, divided, packs
from tests.metrics.strategies import Given, attended, batches, pairs, quick

LABELS = st.sampled_from([IGNORED, IGNORED, PAD, EOS, 5, 6])


def padding_by_hand(row: list[int], seen: list[bool], labels: list[int], pad: int | None) -> dict[str, object]:
    supervised = [place for place, label in enumerate(labels) if label != IGNORED]
    masked = [place for place in supervised if not seen[place]]
    padded = [place for place in supervised if seen[place] and labels[place] == pad]
    near = {place: [p for p in (place - 1, place + 1) if 0 <= p < len(row) and seen[p]] for place in padded}
    runs = [place for place in padded if any(row[each] == pad for each in near[place])]
    single = [place for place in padded if place not in runs]
    return {
        "paired": True,
        "masked": len(masked),
        "masked_position": min(masked, default=-1),
        "runs": len(runs),
        "runs_position": min(runs, default=-1),
        "single": len(single),
        "single_position": min(single, default=-1),
        "inner": sum(len(near[place]) == 2 for place in single),
    }


@quick
@given(packs(labels=LABELS), st.sampled_from([PAD, None]))
def test_supervised_padding_agrees_with_the_plain_loop(given: Packs, pad: int | None):
    attention = Attention("input_ids", PAD)
    measured = given.numbers(SupervisedPadding(attention, pad, IGNORED))
    both = zip(given.rows, given.columns["labels"], strict=True)
    assert measured == [padding_by_hand(row.ids, row.attended, labels, pad) for row, labels in both]


@quick
@given(batches(companion="labels", beside=LABELS))
def test_supervised_padding_without_a_mask(rows: Given):
    if rows.beside is None:
        return
    measured = numbers(SupervisedPadding(Attention("input_ids"), PAD, IGNORED), rows.batch)
    for row, labels, own in zip(rows.rows, rows.beside, measured, strict=True):
        assert own["paired"] == pairs(row, labels)
        if pairs(row, labels):
            assert own == padding_by_hand(row or [], [True] * len(row or []), labels or [], PAD)


def end_by_hand(row: list[int], seen: list[bool], labels: list[int]) -> dict[str, object]:
    places = [place for place, each in enumerate(seen) if each]
    if not places:
        return {"paired": False, "last": 0, "supervised": False}
    end, last = places[-1], row[places[-1]]
    start = end
    while start > 0 and seen[start - 1] and row[start - 1] == last:
        start -= 1
    supervised = any(labels[place] != IGNORED for place in range(start, end + 1))
    shifted = start > 0 and labels[start - 1] != IGNORED and labels[start - 1] == last
    return {"paired": True, "last": last, "supervised": supervised or shifted}


@quick
@given(batches(companion="labels", beside=LABELS), st.sampled_from([PAD, None]))
def test_the_end_agrees_with_the_plain_loop(rows: Given, pad: int | None):
    if rows.beside is None:
        return
    measured = numbers(EndTarget(Attention("input_ids", pad), IGNORED), rows.batch)
    seen = attended(Given(rows.rows, rows.batch), pad)
    for row, labels, here, own in zip(rows.rows, rows.beside, seen, measured, strict=True):
        if pairs(row, labels):
            assert own == end_by_hand(row or [], here or [], labels or [])
        else:
            assert not own["paired"]


def crossing_by_hand(row: Pack, labels: list[int], shift: int) -> dict[str, object]:
    documents, by = divided(row, EOS)
    places = [place for place, each in enumerate(documents) if each is not None]
    targets = [place - shift for place in begins(documents) if place != places[0]]
    last = places[-1]
    padding = last + 1 < len(row.ids) and labels[last] == row.ids[last + 1]
    if shift and row.by == 0 and row.ids[last] == EOS and not padding and labels[last] != IGNORED:
        targets.append(last)
        by = 3
    crossing = [place for place in targets if labels[place] != IGNORED]
    return {
        "known": True,
        "by": by,
        "crossing": len(crossing),
        "position": min(crossing, default=-1),
        "value": labels[min(crossing)] if crossing else 0,
    }


@quick
@given(packs(labels=LABELS), st.sampled_from([0, 1]))
def test_crossing_agrees_with_the_plain_loop(given: Packs, shift: int):
    documents = Documents(Attention("input_ids", PAD), PAD, EOS)
    measured = given.numbers(Crossing(documents, shift, IGNORED))
    both = zip(given.rows, given.columns["labels"], strict=True)
    assert measured == [crossing_by_hand(row, labels, shift) for row, labels in both]


def test_a_prefix_brings_its_own_columns():
    batch = batch_of(
        chosen_input_ids=[[5, 0]], chosen_attention_mask=[[1, 0]], chosen_labels=[[5, 7]], labels=[[IGNORED] * 2]
    )
    (row,) = numbers(SupervisedPadding(Attention("chosen_input_ids"), None, IGNORED), batch)
    assert (row["masked"], row["masked_position"]) == (1, 1)
