"""bos and eos in documents, against the plainest loop."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.documents import Documents
from dataguard.metrics.separators import DocumentEnds, Separators
from tests.builders import batch_of, numbers
from tests.metrics.packs import BOS, EOS, PAD, Pack, Packs, begins, divided, packs
from tests.metrics.strategies import quick

DOCUMENTS = Documents(Attention("input_ids", PAD), PAD)


def by_hand(row: Pack, bos: int | None, eos: int | None, *, eos_pads: bool) -> dict[str, object]:
    documents, by = divided(row, eos)
    places = [place for place, each in enumerate(row.documents) if each is not None]
    starts = begins(documents if bos != eos else row.documents)
    here = [place for place in places if row.ids[place] == bos]
    second = [place for place in here if place - 1 in here]
    strays = [place for place in here if place not in starts and place not in second and bos != eos]
    inside = []
    for place in places:
        behind = [each for each in places if each > place and row.documents[each] == row.documents[place]]
        if eos_pads:
            behind = [each for each in behind if row.ids[each] != eos]
        if row.ids[place] == eos and behind:
            inside.append(place)
    return {
        "known": True,
        "by": by,
        "documents": len(begins(documents)),
        "lacking": min((place for place in starts if row.ids[place] != bos), default=-1),
        "starting": min((place for place in starts if row.ids[place] == bos), default=-1),
        "astray": min(strays, default=-1),
        "strays": len(strays),
        "doubled": min(second, default=-1),
        "inside": len(inside),
        "inside_position": min(inside, default=-1),
        "ending": places[-1] if places and row.ids[places[-1]] == eos else -1,
    }


@quick
@given(packs(), st.sampled_from([BOS, EOS, None]), st.sampled_from([EOS, None]), st.booleans())
def test_agrees_with_the_plain_loop(given: Packs, bos: int | None, eos: int | None, eos_pads: bool):
    measured = given.numbers(Separators(DOCUMENTS, bos, eos, eos_pads))
    assert measured == [by_hand(row, bos, eos, eos_pads=eos_pads) for row in given.rows]


@quick
@given(packs())
def test_the_ends_agree_with_the_plain_loop(given: Packs):
    if not given.batch.has("document_ids"):
        return
    both = zip(given.rows, given.columns["told"], given.numbers(DocumentEnds(DOCUMENTS)), strict=True)
    for row, ids, own in both:
        inside = [each for each, document in zip(ids, row.documents, strict=True) if document is not None]
        assert own == {"known": True, "first": inside[0], "last": inside[-1]}


def test_padding_between_does_not_part_two_bos():
    batch = batch_of(input_ids=[[1, 0, 1, 5]], attention_mask=[[1, 0, 1, 1]])
    (row,) = numbers(Separators(DOCUMENTS, 1, 2), batch)
    assert row["doubled"] == 2


def test_ends_are_those_of_the_documents_and_not_of_the_padding():
    batch = batch_of(
        input_ids=[[5, 6, 0], [0, 5, 6], [0, 0]],
        attention_mask=[[1, 1, 0], [0, 1, 1], [0, 0]],
        document_ids=[[3, 4, 5], [1, 2, 2], [7, 7]],
    )
    assert numbers(DocumentEnds(DOCUMENTS), batch) == [
        {"known": True, "first": 3, "last": 4},
        {"known": True, "first": 2, "last": 2},
        {"known": False, "first": 0, "last": 0},
    ]
