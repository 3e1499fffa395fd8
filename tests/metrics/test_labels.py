"""Labels against inputs under both conventions, against the plainest loop."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.labels import Labels
from dataguard.shards.batch import Batch
from tests.builders import batch_of, list_array, numbers
from tests.metrics.strategies import Given, batches, pairs, quick

IGNORED = -100


def by_hand(row: list[int], labels: list[int]) -> dict[str, object]:
    supervised = [(place, label) for place, label in enumerate(labels) if label != IGNORED]
    found: dict[str, object] = {
        "paired": True,
        "supervised": len(supervised),
        "at_start": sum(place == 0 for place, _ in supervised),
    }
    for shift in (0, 1):
        targets = [(place, label, row[place + shift]) for place, label in supervised if place + shift < len(row)]
        wrong = [(place, label) for place, label, token in targets if label != token]
        position, value = wrong[0] if wrong else (-1, 0)
        found |= {f"equal_{shift}": len(targets) - len(wrong), f"differ_{shift}": len(wrong)}
        found |= {f"position_{shift}": position, f"value_{shift}": value}
    found["equal_both"] = sum(
        place + 1 < len(row) and row[place] == label == row[place + 1] for place, label in supervised
    )
    return found


@quick
@given(batches(companion="labels", beside=st.sampled_from([IGNORED, IGNORED, 0, 1, 2, 3, -1])))
def test_agrees_with_the_plain_loop(rows: Given):
    if rows.beside is None:
        return
    measured = numbers(Labels("input_ids", IGNORED), rows.batch)
    for row, labels, own in zip(rows.rows, rows.beside, measured, strict=True):
        assert own["paired"] == pairs(row, labels)
        if pairs(row, labels):
            assert own == by_hand(row or [], labels or [])


@pytest.mark.parametrize("kind", [pa.int16(), pa.int32(), pa.int64()])
@pytest.mark.parametrize("other", [pa.uint16(), pa.int32(), pa.int64(), pa.uint64()])
def test_types_may_differ(kind: pa.DataType, other: pa.DataType):
    columns = {"input_ids": list_array([[7, 8]], other), "labels": list_array([[-100, 8]], kind)}
    (row,) = numbers(Labels("input_ids", IGNORED), Batch(columns, 1))
    assert (row["supervised"], row["equal_0"], row["differ_0"]) == (1, 1, 0)


def test_another_ignore_index():
    (row,) = numbers(Labels("input_ids", 0), batch_of(input_ids=[[7, 8, 9]], labels=[[0, 8, -100]]))
    assert (row["supervised"], row["equal_0"], row["differ_0"], row["value_0"]) == (2, 1, 1, -100)


def test_a_row_with_a_null_label_does_not_pair():
    batch = batch_of(input_ids=[[7, 8], [7, 8]], labels=[[7, None], [7, 8]])
    assert [row["paired"] for row in numbers(Labels("input_ids", IGNORED), batch)] == [False, True]


def test_a_prefix_brings_its_own_labels():
    chosen = batch_of(chosen_input_ids=[[7, 8]], chosen_labels=[[7, 8]], labels=[[1]])
    (row,) = numbers(Labels("chosen_input_ids", IGNORED), chosen)
    assert (row["paired"], row["equal_0"]) == (True, 2)
