"""How often ids occur, against the plainest count."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.occurrences import Occurrences, RowNumber, unknown
from dataguard.shards.batch import Batch
from dataguard.vocabulary.model import Vocabulary
from tests.builders import batch_of, numbers
from tests.metrics.strategies import Given, attended, batches, quick

TOKENS = st.lists(st.sampled_from([0, 1, 2, 3, -1, 2**31 - 1, 2**63 - 1]), min_size=1, max_size=4, unique=True)


@quick
@given(batches(companion="attention_mask"), TOKENS, st.one_of(st.none(), st.integers(0, 3)))
def test_agrees_with_the_plain_count(rows: Given, tokens: list[int], pad: int | None):
    measured = numbers(Occurrences(Attention("input_ids", pad), tuple(tokens)), rows.batch)
    for row, seen, own in zip(rows.rows, attended(rows, pad), measured, strict=True):
        visible = [token for token, see in zip(row or [], seen or [], strict=seen is not None) if see]
        assert own["counts"] == [visible.count(token) for token in tokens]


def test_a_batch_without_rows_has_no_counts():
    assert numbers(Occurrences(Attention("input_ids"), (5, 6)), batch_of(input_ids=[])) == []


def test_no_ids_have_no_counts():
    assert numbers(Occurrences(Attention("input_ids"), ()), batch_of(input_ids=[[5], []])) == [{"counts": []}] * 2


def test_unk_is_looked_for_unless_it_is_another_special_token_as_well():
    attention = Attention("input_ids")
    assert unknown(attention, Vocabulary(unk=3, eos=2)).tokens == (3,)
    assert unknown(attention, Vocabulary(unk=2, eos=2)).tokens == ()
    assert unknown(attention, Vocabulary()).tokens == ()


def test_the_number_of_a_row_and_whether_it_is_there():
    batch = Batch({"images": pa.array([2, None, 0], pa.int8())}, 3)
    assert numbers(RowNumber("images"), batch) == [
        {"number": 2, "there": True},
        {"number": 0, "there": False},
        {"number": 0, "there": True},
    ]


def test_a_row_number_is_read_from_whole_numbers_alone():
    metric = RowNumber("images")
    assert metric.can_compute({"images": pa.uint8()})
    assert metric.can_compute({"images": pa.null()})
    assert not metric.can_compute({"images": pa.list_(pa.int32())})
    assert not metric.can_compute({"images": pa.float32()})
