"""expect_no_eos_inside_documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.builders import found, judged, table_of

INSIDE = "expect_no_eos_inside_documents"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2}
CLEAN = [[5] * (2 + row % 50) + [2] for row in range(200)]


def places(
    ids: list[int], vocabulary: dict[str, int] | None = None, *, packed: Any = False, **columns: Any
) -> list[Any]:
    """Return position and value of the findings on one row."""
    rows = {"input_ids": [ids], **{name: [cells] for name, cells in columns.items()}}
    result = judged(INSIDE, rows, vocabulary=vocabulary or VOCABULARY, packed=packed)
    assert result.success == (not result.findings)
    return [(each.position, each.value) for each in result.findings]


@pytest.mark.parametrize(
    ("ids", "unexpected"),
    [
        ([5, 6, 2], []),
        ([5, 6, 7], []),
        ([5, 2, 6, 2], [(1, 1)]),
        ([2, 5, 2, 6], [(0, 2)]),
        ([5, 2, 2], [(1, 1)]),
        ([5, 2, 0, 0], []),
    ],
)
def test_unpacked_rows_are_one_document(ids: list[int], unexpected: list[Any]):
    assert places(ids) == unexpected
    assert places(ids, packed=True) == []


def test_a_run_of_eos_at_the_end_may_be_padding_where_pad_is_eos():
    shared = VOCABULARY | {"pad": 2}
    assert places([5, 2, 2, 2], shared) == []
    assert places([5, 2, 2, 6, 2], shared) == [(1, 2)]


@pytest.mark.parametrize("packed", [False, "auto"])
def test_columns_tell_documents(packed: Any):
    pack = [5, 2, 6, 2, 7, 2]
    assert places(pack, packed=packed, document_ids=[0, 0, 1, 1, 2, 2]) == []
    assert places(pack, packed=packed, document_ids=[0, 0, 0, 0, 2, 2]) == [(1, 1)]
    assert places(pack, packed=packed, cu_seqlens=[0, 2, 6]) == [(3, 1)]
    assert places(pack, packed=packed, seq_lengths=[4, 2]) == [(1, 1)]
    assert places(pack, packed=packed, attention_mask=[1, 1, 2, 2, 2, 2]) == [(3, 1)]


def auto(rows: list[list[int]], **columns: Any) -> Any:
    return judged(INSIDE, {"input_ids": rows, **columns}, vocabulary=VOCABULARY)


def test_auto_finds_the_rare_row_among_single_documents():
    result = auto([*CLEAN, [5, 2, 6, 2]])
    assert found(result) == [(200, "eos_inside")]
    assert result.severity == "warning"
    assert "notes" not in result.details


def test_auto_takes_eos_in_one_row_of_a_hundred_for_the_end_of_documents():
    result = auto([*CLEAN[:90], [5, 2, 6, 2]])
    assert result.success
    assert result.details["notes"] == [
        "1 rows hold eos before their end: taken for the ends of documents or turns (packed: auto)"
    ]


def test_auto_takes_rows_of_one_length_for_pieces_of_a_stream():
    pieces = [[5, 6, 7, 8]] * 200
    assert auto([*pieces, [5, 2, 6, 7]]).success


def test_auto_takes_eos_in_half_of_the_packs_for_the_end_of_turns():
    chat, numbers = [5, 2, 6, 2, 7, 2, 8, 2], [0, 0, 0, 0, 1, 1, 1, 1]
    assert auto([chat] * 5, document_ids=[numbers] * 5).success
    assert len(auto([chat] * 4, document_ids=[numbers] * 4).findings) == 4


def test_a_document_id_that_goes_on_in_the_next_row_is_one_document():
    rows = {"input_ids": [[5, 2], [6, 2], [7, 2]], "document_ids": [[0, 0], [0, 0], [1, 1]]}
    assert judged(INSIDE, rows, vocabulary=VOCABULARY).success
    result = judged(INSIDE, rows, vocabulary=VOCABULARY, across_rows=True)
    assert [(each.row, each.position, each.value) for each in result.findings] == [(0, 1, 1)]
    assert judged(INSIDE, rows, vocabulary=VOCABULARY, across_rows=True, packed=True).success


def test_padding_does_not_hide_that_a_document_goes_on():
    rows = {"input_ids": [[5, 2, 0], [6, 2, 0]], "document_ids": [[0, 0, 1], [0, 0, 1]]}
    assert found(judged(INSIDE, rows, vocabulary=VOCABULARY, across_rows=True)) == [(0, "eos_inside")]


def test_a_missing_row_between_says_nothing():
    rows = {"input_ids": [[5, 2], None, [6, 2]], "document_ids": [[0, 0], None, [0, 0]]}
    assert judged(INSIDE, rows, vocabulary=VOCABULARY, across_rows=True).success


def test_rows_of_another_shard_are_no_neighbours(tmp_path: Path):
    for name in ("a.arrow", "b.arrow"):
        table = table_of(input_ids=[[5, 2]], document_ids=[[0, 0]])
        with pa.ipc.new_stream(str(tmp_path / name), table.schema) as writer:
            writer.write_table(table)
    assert judged(INSIDE, tmp_path, vocabulary=VOCABULARY, across_rows=True).success


def test_across_rows_needs_document_ids():
    result = judged(INSIDE, {"input_ids": [[5, 2]]}, vocabulary=VOCABULARY, across_rows=True)
    assert result.unjudged is not None
    assert "document_ids" in result.unjudged.missing


def test_a_pair_is_judged_side_by_side():
    rows = {
        "chosen_input_ids": [[5, 2, 6]],
        "chosen_document_ids": [[0, 0, 1]],
        "rejected_input_ids": [[5, 2, 6]],
        "rejected_document_ids": [[0, 0, 0]],
    }
    assert judged(INSIDE, rows, vocabulary=VOCABULARY, column="chosen_input_ids").success
    assert found(judged(INSIDE, rows, vocabulary=VOCABULARY, column="rejected_input_ids")) == [(0, "eos_inside")]
