"""Where documents begin, against the plainest loop, and what is no document."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.documents import BoundaryFaults, Documents
from tests.builders import batch_of, numbers
from tests.metrics.packs import EOS, PAD, Packs, begins, divided, packs
from tests.metrics.strategies import quick

PLAIN = Documents(Attention("input_ids"), PAD)
OWN_PAD = Documents(Attention("input_ids", PAD), PAD)
PAD_IS_EOS = Documents(Attention("input_ids"), 2)


def marks(documents: Documents, **columns: list[list[int]]) -> list[list[int]]:
    """Return the marks of each row: 0 outside, 1 inside, 2 where a document begins."""
    batch = batch_of(**columns)
    found, offsets = documents.of(batch).marks.tolist(), batch.column("input_ids").offsets.tolist()
    return [found[start:stop] for start, stop in pairwise(offsets)]


@quick
@given(packs(), st.sampled_from([None, EOS]))
def test_agrees_with_the_plain_loop(given: Packs, eos: int | None):
    marked = Documents(Attention("input_ids", PAD), PAD, eos).of(given.batch)
    offsets = given.batch.column("input_ids").offsets
    for row, place in zip(given.rows, given.places, strict=True):
        documents, by = divided(row, eos)
        starts = begins(documents)
        own = [2 if each in starts else int(number is not None) for each, number in enumerate(documents)]
        assert marked.marks[offsets[place] : offsets[place + 1]].tolist() == own
        assert (marked.by[place], marked.known[place]) == (by, True)


def test_document_ids_come_first_then_cu_seqlens_then_seq_lengths_then_the_mask():
    row = {"input_ids": [[5, 2, 6, 7]]}
    told = {
        "document_ids": [[0, 1, 1, 1]],
        "cu_seqlens": [[0, 2, 4]],
        "seq_lengths": [[3, 1]],
        "attention_mask": [[1, 2, 3, 4]],
    }
    eos = Documents(Attention("input_ids"), PAD, 2)
    assert marks(eos, **row, **told) == [[2, 2, 1, 1]]
    del told["document_ids"]
    assert marks(eos, **row, **told) == [[2, 1, 2, 1]]
    del told["cu_seqlens"]
    assert marks(eos, **row, **told) == [[2, 1, 1, 2]]
    del told["seq_lengths"]
    assert marks(eos, **row, **told) == [[2, 2, 2, 2]]
    assert marks(eos, **row) == [[2, 1, 2, 1]]
    assert marks(PLAIN, **row) == [[2, 1, 1, 1]]


def test_a_plain_mask_tells_no_documents():
    eos = Documents(Attention("input_ids"), PAD, 2)
    assert marks(eos, input_ids=[[5, 2, 6, 0]], attention_mask=[[1, 1, 1, 0]]) == [[2, 1, 2, 0]]


def test_padding_is_no_document_however_it_is_told():
    row, mask = {"input_ids": [[5, 6, 0, 0]]}, {"attention_mask": [[1, 1, 0, 0]]}
    for told in ({"document_ids": [[0, 0, 1, 1]]}, {"cu_seqlens": [[0, 2, 4]]}, {"seq_lengths": [[2, 2]]}):
        assert marks(PLAIN, **row, **mask, **told) == [[2, 1, 0, 0]]
        assert marks(OWN_PAD, **row, **told) == [[2, 1, 0, 0]]


def test_a_last_segment_of_pads_is_none_where_pad_is_eos_and_no_mask_tells():
    row = {"input_ids": [[5, 2, 2, 2]]}
    assert marks(PAD_IS_EOS, **row, document_ids=[[0, 0, 1, 1]]) == [[2, 1, 0, 0]]
    assert marks(PAD_IS_EOS, **row, cu_seqlens=[[0, 2, 4]]) == [[2, 1, 0, 0]]
    assert marks(PAD_IS_EOS, **row, cu_seqlens=[[0, 2]]) == [[2, 1, 0, 0]]
    assert marks(PAD_IS_EOS, **row, document_ids=[[0, 0, 1, 1]], attention_mask=[[1] * 4]) == [[2, 1, 2, 1]]


def test_a_row_of_pads_alone_keeps_its_only_document():
    assert marks(PAD_IS_EOS, input_ids=[[2, 2]], document_ids=[[0, 0]]) == [[2, 1]]


def test_left_padding_moves_the_boundaries():
    row = {"input_ids": [[0, 0, 5, 6, 7]], "attention_mask": [[0, 0, 1, 1, 1]]}
    assert marks(PLAIN, **row, cu_seqlens=[[0, 1, 3]]) == [[0, 0, 2, 2, 1]]
    assert marks(PLAIN, **row, cu_seqlens=[[0, 2, 3, 5]]) == [[0, 0, 2, 2, 1]]


def test_a_run_of_eos_ends_one_document():
    eos = Documents(Attention("input_ids"), None, 2)
    assert marks(eos, input_ids=[[5, 2, 2, 6, 2, 2]]) == [[2, 1, 1, 2, 1, 1]]


@pytest.mark.parametrize(
    "told",
    [
        {"document_ids": [[0, 0]]},
        {"document_ids": [None]},
        {"cu_seqlens": [[0, 9]]},
        {"cu_seqlens": [None]},
        {"seq_lengths": [[1, 1]]},
        {"attention_mask": [[1, 1]]},
    ],
)
def test_what_does_not_fit_its_row_leaves_the_documents_unknown(told: dict[str, list[list[int] | None]]):
    assert PLAIN.of(batch_of(input_ids=[[5, 6, 7]], **told)).known.tolist() == [False]


def test_a_prefix_brings_its_own_columns():
    chosen = Documents(Attention("chosen_input_ids"), PAD)
    batch = batch_of(chosen_input_ids=[[5, 6]], chosen_document_ids=[[0, 1]], document_ids=[[0, 0]])
    assert chosen.of(batch).marks.tolist() == [2, 2]


@quick
@given(packs())
def test_sound_boundaries_have_no_fault(given: Packs):
    for row in given.numbers(BoundaryFaults(OWN_PAD)):
        assert (row["fault"], row["position"]) == (0, -1)


def fault_by_hand(told: list[int], seen: list[bool], *, lengths: bool) -> str:
    """Return what is wrong with boundaries, in the order of the catalogue."""
    bounds = [sum(told[:place]) for place in range(len(told) + 1)] if lengths else told
    real = [place for place, see in enumerate(seen) if see]
    end, ends_of_padding = bounds[-1] if bounds else 0, {real[0], real[-1] + 1} if real else {len(seen)}
    counted = end == len(seen) and all(each in (0, len(seen)) or each in bounds for each in ends_of_padding)
    fits = end == (real[-1] + 1 - real[0] if real else 0) or counted
    if not lengths and any(each > len(seen) for each in bounds):
        return "beyond_row"
    if any(each < 0 for each in bounds) or any(behind <= each for each, behind in pairwise(bounds)):
        return "not_rising"
    if lengths and end != len(seen) and not fits:
        return "wrong_sum"
    return "fits" if bounds and bounds[0] == 0 and fits else "missing_boundary"


FAULTS = ("fits", "beyond_row", "not_rising", "missing_boundary", "wrong_sum")


@st.composite
def told_rows(draw: st.DrawFn, values: st.SearchStrategy[list[int]]) -> tuple[list[list[int]], list[list[int]]]:
    """Return masks with padding at the ends, and what each row tells of its documents."""
    masks, told = [], []
    for _ in range(draw(st.integers(1, 5))):
        left, real, right = draw(st.integers(0, 2)), draw(st.integers(1, 5)), draw(st.integers(0, 2))
        masks.append([0] * left + [1] * real + [0] * right)
        told.append(draw(values))
    return masks, told


RISING = st.lists(st.integers(1, 8), max_size=4, unique=True).map(lambda some: [0, *sorted(some)])


@quick
@given(told_rows(st.one_of(RISING, st.lists(st.integers(-1, 8), max_size=4))))
def test_faults_of_cu_seqlens_agree_with_the_plain_loop(rows: tuple[list[list[int]], list[list[int]]]):
    masks, told = rows
    batch = batch_of(input_ids=[[5] * len(mask) for mask in masks], attention_mask=masks, cu_seqlens=told)
    expected = [
        fault_by_hand(each, [x != 0 for x in mask], lengths=False) for mask, each in zip(masks, told, strict=True)
    ]
    assert [FAULTS[row["fault"]] for row in numbers(BoundaryFaults(PLAIN), batch)] == expected


@quick
@given(told_rows(st.one_of(st.lists(st.integers(1, 4), max_size=4), st.lists(st.integers(-1, 8), max_size=4))))
def test_faults_of_seq_lengths_agree_with_the_plain_loop(rows: tuple[list[list[int]], list[list[int]]]):
    masks, told = rows
    batch = batch_of(input_ids=[[5] * len(mask) for mask in masks], attention_mask=masks, seq_lengths=told)
    expected = [
        fault_by_hand(each, [x != 0 for x in mask], lengths=True) for mask, each in zip(masks, told, strict=True)
    ]
    assert [FAULTS[row["fault"]] for row in numbers(BoundaryFaults(PLAIN), batch)] == expected


@quick
@given(
    st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=4),
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
)
def test_where_two_columns_differ_agrees_with_the_plain_loop(ids: list[list[int]], lengths: list[int]):
    """Document ids against one way to cut a row of that length."""
    cuts = [sum(lengths[: place + 1]) for place in range(len(lengths))]
    bounds = [[0, *(each for each in cuts if each < len(row)), len(row)] for row in ids]
    batch = batch_of(input_ids=[[5] * len(row) for row in ids], document_ids=ids, cu_seqlens=bounds)
    for row, told, own in zip(ids, bounds, numbers(BoundaryFaults(PLAIN), batch), strict=True):
        one = {place for place in range(1, len(row)) if row[place] != row[place - 1]}
        assert own["position"] == min(one ^ set(told[1:-1]), default=-1)
        assert FAULTS[own["fault"]] == ("fits" if own["position"] < 0 else "missing_boundary")


def test_extreme_lengths_do_not_run_over():
    batch = batch_of(input_ids=[[5, 6, 7]] * 2, seq_lengths=[[2**62, 2**62, 2**62], [-(2**63), 2**62]])
    assert [row["fault"] for row in numbers(BoundaryFaults(PLAIN), batch)] == [4, 2]
