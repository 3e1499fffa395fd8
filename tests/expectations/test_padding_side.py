"""expect_padding_side_to_be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.builders import found, judged, reasons, table_of

SIDE = "expect_padding_side_to_be"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2}
LEFT, RIGHT, BOTH, NONE = [0, 1, 1], [1, 1, 0], [0, 1, 0], [1, 1, 1]


def masked(*masks: list[int], **columns: Any) -> dict[str, Any]:
    return {
        "input_ids": [[7 if each else 0 for each in mask] for mask in masks],
        "attention_mask": list(masks),
        **columns,
    }


@pytest.mark.parametrize(
    ("side", "unexpected"),
    [
        ("right", [(0, "left_padded"), (2, "both_sides")]),
        ("left", [(1, "right_padded"), (2, "both_sides")]),
        ("none", [(0, "left_padded"), (1, "right_padded"), (2, "both_sides")]),
    ],
)
def test_a_told_side(side: str, unexpected: list[tuple[int, str]]):
    result = judged(SIDE, masked(LEFT, RIGHT, BOTH, NONE), side=side)
    assert found(result) == unexpected
    assert not result.success
    assert reasons(result) == {reason: 1 for _, reason in sorted(unexpected)}


@pytest.mark.parametrize("side", ["auto", "right", "left", "none"])
def test_rows_without_padding_fit_every_side(side: str):
    assert judged(SIDE, masked(NONE, NONE), side=side).success


def test_tells_where_the_padding_stands_and_how_long_it_is():
    result = judged(SIDE, masked([0, 0, 1], [1, 0, 0]), side="none")
    assert [(each.position, each.value) for each in result.findings] == [(0, 2), (1, 2)]


def test_auto_names_the_minority():
    result = judged(SIDE, masked(RIGHT, LEFT, NONE, RIGHT))
    assert found(result) == [(1, "mixed_sides")]
    assert reasons(result) == {"mixed_sides": 1}
    assert judged(SIDE, masked(RIGHT, NONE, RIGHT)).success
    assert judged(SIDE, masked(LEFT)).success


def test_auto_counts_the_whole_dataset(tmp_path: Path):
    pq.write_table(table_of(**masked(LEFT, LEFT)), tmp_path / "a.parquet")
    pq.write_table(table_of(**masked(RIGHT, RIGHT, RIGHT)), tmp_path / "b.parquet")
    result = judged(SIDE, tmp_path)
    assert [(each.shard, each.row) for each in result.findings] == [("a.parquet", 0), ("a.parquet", 1)]


def test_a_tie_is_a_finding_that_names_no_row():
    result = judged(SIDE, masked(LEFT, RIGHT, NONE))
    assert not result.success
    assert found(result) == []
    assert result.unexpected_count == 0
    assert reasons(result) == {"mixed_sides": 2}


def test_a_tie_fails_whatever_mostly_tolerates():
    assert not judged(SIDE, masked(LEFT, RIGHT, NONE), mostly=0.5).success


def test_both_sides_are_unexpected_with_auto_and_are_no_vote():
    result = judged(SIDE, masked(BOTH, RIGHT, BOTH))
    assert found(result) == [(0, "both_sides"), (2, "both_sides")]


def test_mostly_tolerates_a_minority():
    rows = masked(LEFT, *[RIGHT] * 9)
    assert judged(SIDE, rows, mostly=0.9).success
    assert not judged(SIDE, rows, mostly=0.91).success


def test_without_a_mask_pads_at_the_ends_are_padding():
    rows = {"input_ids": [[0, 5, 6], [5, 0, 6], [5, 6, 0]]}
    assert found(judged(SIDE, rows, vocabulary=VOCABULARY, side="right")) == [(0, "left_padded")]


@pytest.mark.parametrize("other", ["bos", "eos", "unk"])
def test_without_a_mask_a_pad_that_is_another_special_id_is_no_padding(other: str):
    rows = {"input_ids": [[2, 2, 6], [5, 2, 2]]}
    assert judged(SIDE, rows, vocabulary={"size": 100, "pad": 2, other: 2}, side="none").success


def test_the_mask_wins_over_the_pads():
    rows = {"input_ids": [[0, 5, 6]], "attention_mask": [[1, 1, 1]]}
    assert judged(SIDE, rows, vocabulary=VOCABULARY, side="right").success


def test_rows_without_content_and_unpaired_rows_are_missing_and_no_vote():
    rows = {
        "input_ids": [None, [], [0, 0], [5, 6], [0, 2], [5, 6]],
        "attention_mask": [[1], [], [0, 0], [0], [0, 1], [1, 0]],
    }
    result = judged(SIDE, rows, vocabulary=VOCABULARY)
    assert result.success
    assert (result.element_count, result.missing_count) == (6, 5)


def test_by_source_gives_a_source_its_own_side():
    rows = masked(LEFT, RIGHT, LEFT, source=["chat", "web", "web"])
    result = judged(SIDE, rows, side="right", by_source={"chat": {"side": "left"}})
    assert found(result) == [(2, "left_padded")]


def test_a_source_with_a_side_of_its_own_has_no_vote():
    sources = ["chat", "chat", "chat", "web", None]
    rows = masked(LEFT, LEFT, RIGHT, RIGHT, RIGHT, source=sources)
    result = judged(SIDE, rows, by_source={"chat": {"side": "left"}})
    assert found(result) == [(2, "right_padded")]
    assert result.observed_value == {"left": 0, "right": 2}


def test_a_source_that_is_not_there_is_noted_on_a_tie_too():
    result = judged(SIDE, masked(LEFT, RIGHT, source=["web", "web"]), by_source={"cod": {"side": "left"}})
    assert any("cod" in note for note in result.details["notes"])
    assert len(result.details["notes"]) == 2


def test_a_prefixed_column_brings_its_own_mask():
    rows = {"chosen_input_ids": [[0, 5]], "chosen_attention_mask": [[0, 1]], "attention_mask": [[1, 0]]}
    result = judged(SIDE, rows, side="right", column="chosen_input_ids")
    assert [(each.column, each.reason) for each in result.findings] == [("chosen_input_ids", "left_padded")]
