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
    expected, ways = [], []
    for row in given.rows:
        documents, by = divided(row, eos)
        starts = begins(documents)
        expected += [2 if place in starts else int(each is not None) for place, each in enumerate(documents)]
        ways.append(by)
    assert marked.marks.tolist() == expected
    assert marked.by.tolist() == ways
    assert marked.known.all()


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
    for row in numbers(BoundaryFaults(OWN_PAD), given.batch):
        assert (row["fault"], row["position"]) == (0, -1)


def test_extreme_lengths_do_not_run_over():
    batch = batch_of(input_ids=[[5, 6, 7]] * 2, seq_lengths=[[2**62, 2**62, 2**62], [-(2**63), 2**62]])
    assert [row["fault"] for row in numbers(BoundaryFaults(PLAIN), batch)] == [4, 2]
