"""expect_labels_to_cover_spans."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import dataguard
from tests.builders import found, judged, reasons, table_of

COVER = "expect_labels_to_cover_spans"
X = -100
IDS = [1, 9, 5, 6, 9, 2]
PAIRS = pa.list_(pa.list_(pa.int32()))


def judge(spans: Any, labels: list[int], **arguments: Any) -> list[tuple[Any, ...]]:
    """Return reason, position and value of the findings on one row."""
    rows = table_of(input_ids=[IDS], labels=[labels], target_spans=pa.array([spans], PAIRS))
    result = judged(COVER, rows, **arguments)
    assert result.success == (not result.findings)
    return [(each.reason, each.position, each.value) for each in result.findings]


@pytest.mark.parametrize(
    ("spans", "labels", "finding"),
    [
        ([[4, 6]], [X, X, X, X, 9, 2], None),
        ([[4, 6]], [X, X, X, X, 9, X], ("unsupervised_span", 5, 1)),
        ([[4, 6]], [X, X, X, X, X, X], ("unsupervised_span", 4, 2)),
        ([[4, 6]], [X, 9, X, X, 9, 2], ("outside_span", 1, 9)),
        ([[4, 6]], [X, 9, X, X, X, X], ("outside_span", 1, 9)),
        ([[1, 2], [4, 6]], [X, 9, X, X, 9, 2], None),
        ([[1, 2], [4, 6]], [X, X, X, X, 9, 2], ("unsupervised_span", 1, 1)),
        ([[2, 5], [4, 6]], [X, X, 5, 6, 9, 2], None),
        ([[2, 5], [3, 4]], [X, X, 5, X, 9, X], ("unsupervised_span", 3, 1)),
        ([[3, 3]], [X] * 6, None),
        ([], [X] * 6, None),
        ([], [X, X, X, X, X, 2], ("outside_span", 5, 2)),
    ],
)
def test_labels_stand_where_the_spans_say(spans: Any, labels: list[int], finding: tuple[Any, ...] | None):
    assert judge(spans, labels) == ([] if finding is None else [finding])


@pytest.mark.parametrize(
    ("spans", "labels", "finding"),
    [
        ([[3, 5]], [X, X, 6, 9, X, X], None),
        ([[3, 5]], [X, X, X, 6, 9, X], ("outside_span", 4, 9)),
        ([[3, 5]], [X, X, 6, X, X, X], ("unsupervised_span", 3, 1)),
        ([[4, 7]], [X, X, X, 9, 2, 11], None),
        ([[4, 6]], [X, X, X, 9, 2, 11], None),
        ([[0, 2]], [9, X, X, X, X, X], None),
        ([[0, 1]], [X] * 6, None),
    ],
)
def test_labels_that_are_shifted_stand_one_before(spans: Any, labels: list[int], finding: tuple[Any, ...] | None):
    assert judge(spans, labels, shift=1) == ([] if finding is None else [finding])


def test_no_loss_needs_the_label_of_the_first_token():
    assert judge([[0, 2]], [X, 9, X, X, X, X]) == []
    assert judge([[0, 2]], [1, 9, X, X, X, X]) == []
    assert judge([[1, 2]], [1, 9, X, X, X, X]) == [("outside_span", 0, 1)]


def test_a_row_that_is_both_counts_for_both():
    rows = table_of(
        input_ids=[IDS] * 3,
        labels=[[X, 9, X, X, X, X], [X, X, X, X, 9, X], [X, X, X, X, 9, 2]],
        target_spans=pa.array([[[4, 6]]] * 3, PAIRS),
    )
    result = judged(COVER, rows)
    assert (result.unexpected_count, result.missing_count) == (2, 0)
    assert found(result) == [(0, "outside_span"), (1, "unsupervised_span")]
    assert reasons(result) == {"outside_span": 1, "unsupervised_span": 2}


@pytest.mark.parametrize("end", [7, 99, 2**31 - 1])
def test_a_span_beyond_the_row_is_cut_at_its_end(end: int):
    assert judge([[4, end]], [X, X, X, X, 9, 2]) == []
    assert judge([[4, end]], [X, X, X, X, 9, X]) == [("unsupervised_span", 5, 1)]
    assert judge([[6, end]], [X] * 6) == []


@pytest.mark.parametrize("span", [[-1, 3], [5, 4], [4], [4, 5, 6], [], [None, 6], None])
def test_what_is_no_range_is_no_span_that_labels_could_cover(span: Any):
    rows = table_of(input_ids=[IDS], labels=[[X] * 6], target_spans=pa.array([[span]], PAIRS))
    (finding,) = judged(COVER, rows).findings
    assert (finding.reason, finding.position) == ("unsupervised_span", None)
    assert finding.detail == "a span is no range of positions"


def test_null_empty_and_unequal_rows_are_missing():
    rows = table_of(
        input_ids=[None, [], [5, 6], [5, 6], [5, None], [5, 6], [5, 6], [5, 6]],
        labels=[[5], [], [5], None, [5, 6], [5, None], [5, 6], [5, 6]],
        target_spans=pa.array([[[0, 9]]] * 6 + [None, [[0, 9]]], PAIRS),
    )
    result = judged(COVER, rows)
    assert (result.success, result.element_count, result.missing_count) == (True, 8, 7)


def test_positions_count_padding():
    rows = table_of(
        input_ids=[[0, 0, 5, 6]],
        attention_mask=[[0, 0, 1, 1]],
        labels=[[X, X, X, 6]],
        target_spans=pa.array([[[3, 4]]], PAIRS),
    )
    assert judged(COVER, rows).success


def test_another_ignore_index():
    rows = table_of(input_ids=[[5, 6]], labels=[[-1, 6]], target_spans=pa.array([[[1, 2]]], PAIRS))
    assert judged(COVER, rows, ignore_index=-1).success
    assert not judged(COVER, rows).success


SIX = [[[4, 6]], [[1, 2]], [], None, [[4, 6]], [[0, 99]]]
LABELS = [[X, X, X, X, 9, 2], [X, X, X, X, 9, 2], [X] * 6, [1] * 6, [X, X, X, X, X, 2], [1, 9, 5, 6, 9, 2]]
WRONG = [(1, "outside_span"), (4, "unsupervised_span")]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64()])
@pytest.mark.parametrize(
    ("suffix", "layout"),
    [
        *itertools.product(["stream", "file"], ["list", "large", "fixed", "views", "struct"]),
        *itertools.product(["parquet"], ["list", "large", "fixed", "struct"]),
    ],
)
def test_every_file_layout_and_type(kind: pa.DataType, layout: str, suffix: str, tmp_path: Path):
    kinds = {
        "list": pa.list_(pa.list_(kind)),
        "large": pa.large_list(pa.large_list(kind)),
        "fixed": pa.list_(pa.list_(kind, 2)),
        "views": pa.list_view(pa.list_view(kind)),
        "struct": pa.list_(pa.struct([("start", kind), ("end", kind)])),
    }
    spans: list[Any] = [[[9, 10]], *SIX]
    if layout == "struct":
        spans = [row if row is None else [{"start": start, "end": end} for start, end in row] for row in spans]
    table = table_of(input_ids=[IDS] * 7, labels=[[1] * 6, *LABELS], target_spans=pa.array(spans, kinds[layout]))
    table, path = table.slice(1), tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, path, row_group_size=2)
    else:
        opened = ipc.new_stream if suffix == "stream" else ipc.new_file
        with opened(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=4)
    assert found(judged(COVER, path)) == WRONG


def test_a_side_of_a_pair_has_its_own_spans():
    rows = table_of(
        chosen_input_ids=[[5, 6]],
        chosen_labels=[[X, 6]],
        chosen_target_spans=pa.array([[[1, 2]]], PAIRS),
        rejected_input_ids=[[5, 6]],
        rejected_labels=[[X, 6]],
        rejected_target_spans=pa.array([[[0, 1]]], PAIRS),
    )
    assert judged(COVER, rows, column="chosen_input_ids").success
    (finding,) = judged(COVER, rows, column="rejected_input_ids").findings
    assert (finding.column, finding.reason) == ("rejected_input_ids", "outside_span")
    named = judged(COVER, rows, columns={"input_ids": "rejected_input_ids"})
    assert found(named) == [(0, "outside_span")]


@pytest.mark.parametrize("kind", [None, pa.list_(pa.int32()), pa.list_(pa.list_(pa.float64()))])
def test_without_spans_it_cannot_be_judged(kind: pa.DataType | None):
    rows = table_of(input_ids=[[5]], labels=[[5]])
    if kind is not None:
        rows = rows.append_column("target_spans", pa.array([[]], kind))
    result = judged(COVER, rows)
    assert not result.success
    assert result.unjudged is not None
    assert ("no column target_spans" if kind is None else f"column target_spans is {kind}") in result.unjudged.missing


def test_by_source_counts_each_row_by_its_own_arguments():
    rows = table_of(
        input_ids=[IDS] * 2,
        labels=[[X, X, 6, 9, X, X], [X, 9, X, X, X, X]],
        target_spans=pa.array([[[3, 5]]] * 2, PAIRS),
        source=["old", "new"],
    )
    result = judged(COVER, rows, by_source={"old": {"shift": 1}})
    assert found(result) == [(1, "outside_span")]
    assert reasons(result) == {"outside_span": 1, "unsupervised_span": 1}


def test_pairs_that_take_no_bytes_are_a_fault_of_the_shard(tmp_path: Path):
    count = 2**30 - 1
    pairs = pa.FixedSizeListArray.from_arrays(pa.nulls(2), 2)
    pairs = pa.Array.from_buffers(pairs.type, count, [None], children=[pa.nulls(2 * count)])
    offsets = pa.py_buffer(pa.array([0, count], pa.int32()).buffers()[1])
    spans = pa.Array.from_buffers(pa.list_(pairs.type), 1, [None, offsets], children=[pairs])
    table = pa.table({"input_ids": pa.array([[5]]), "labels": pa.array([[5]]), "target_spans": spans})
    with ipc.new_stream(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    result = dataguard.validate(tmp_path, suite={"expectations": [{"type": COVER}]}, jobs=1)
    assert [(each.shard, each.reason) for each in result.results[0].findings] == [("a.arrow", "corrupt")]
