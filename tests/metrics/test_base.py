"""Metrics as values: equal ones are computed once, and their keys say what they depend on."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.content import Content
from dataguard.metrics.ids import IdsOutside
from dataguard.metrics.labels import Labels
from dataguard.metrics.lengths import Lengths
from tests.builders import batch_of, table_of_characters
from tests.metrics.strategies import Given, attended, batches, quick


@quick
@given(batches(companion="attention_mask"), st.one_of(st.none(), st.integers(0, 3)))
def test_attention_agrees_with_the_plain_loop(rows: Given, pad: int | None):
    values, paired = Attention("input_ids", pad).of(rows.batch)
    seen = attended(rows, pad)
    assert paired.tolist() == [each is not None for each in seen]
    offsets = rows.batch.column("input_ids").offsets
    for place, each in enumerate(seen):
        if each is not None:
            assert values[offsets[place] : offsets[place + 1]].tolist() == [int(see) for see in each]


def test_the_mask_wins_over_the_pads():
    batch = batch_of(input_ids=[[0, 5, 0]], attention_mask=[[1, 1, 0]])
    assert Attention("input_ids", 0).of(batch)[0].tolist() == [1, 1, 0]


def test_without_a_mask_pads_at_the_ends_are_padding_and_no_others():
    values, _ = Attention("input_ids", 0).of(batch_of(input_ids=[[0, 0, 5, 0, 6, 0], [0, 0]]))
    assert values.tolist() == [0, 0, 1, 1, 1, 0, 0, 0]


def test_two_pads_on_one_batch_do_not_share_an_answer():
    batch = batch_of(input_ids=[[0, 5, 1]])
    answers = [Attention("input_ids", pad).of(batch)[0].tolist() for pad in (0, 1, None)]
    assert answers == [[0, 1, 1], [1, 1, 0], [1, 1, 1]]


def test_a_prefixed_column_goes_with_its_own_mask():
    batch = batch_of(chosen_input_ids=[[5, 6]], chosen_attention_mask=[[1, 0]], attention_mask=[[0, 1]])
    assert Attention("chosen_input_ids").of(batch)[0].tolist() == [1, 0]


def test_the_key_names_every_argument_and_the_version():
    assert IdsOutside("input_ids", 100).key != IdsOutside("input_ids", 101).key
    assert IdsOutside("input_ids", 100) == IdsOutside("input_ids", 100)
    assert IdsOutside("input_ids", 100).key.endswith(f".v{IdsOutside.version}")


def test_the_key_holds_the_characters_by_their_digest():
    keys = {Content(Attention("input_ids"), (), table_of_characters(text)).key for text in (b"a", b"b")}
    assert len(keys) == 2


def test_its_numbers_are_columns_of_the_table_and_no_others():
    assert isinstance(Lengths("input_ids")["length"], pl.Expr)
    with pytest.raises(KeyError, match="length, nulls"):
        Lengths("input_ids")["width"]


def test_can_be_computed_only_where_all_that_it_reads_is_readable():
    labels, content = Labels("input_ids", -100), Content(Attention("input_ids"), (), None)
    lists, text = pa.list_(pa.int32()), pa.string()
    assert labels.can_compute({"input_ids": lists, "labels": lists})
    assert not labels.can_compute({"input_ids": lists, "labels": text})
    assert not labels.can_compute({"input_ids": lists})
    assert content.can_compute({"input_ids": lists})
    assert not content.can_compute({"input_ids": lists, "attention_mask": text})
