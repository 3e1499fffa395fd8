"""expect_attention_mask_to_be_binary."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dataguard
from tests.builders import found, judged, list_array

BINARY = "expect_attention_mask_to_be_binary"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2}


def reason_of(mask: Any, ids: list[int] | None = None, **arguments: Any) -> list[tuple[Any, ...]]:
    """Return reason, position and value of the findings on one row."""
    rows = {"input_ids": [ids or [5] * len(mask)], "attention_mask": [mask]}
    result = judged(BINARY, rows, vocabulary=VOCABULARY, **arguments)
    assert result.success == (not result.findings)
    return [(each.reason, each.position, each.value) for each in result.findings]


@pytest.mark.parametrize(
    ("mask", "unexpected", "of_segments"),
    [
        ([1, 1, 0], [], []),
        ([0, 0, 0], [], []),
        ([1, 1, 2, 0], [("not_binary", 2, 2)], []),
        ([1, 1, 255], [("not_binary", 2, 255)], []),
        ([1, -1, 0], [("not_binary", 1, -1)], [("not_binary", 1, -1)]),
        ([0, 0, -10000], [("additive", 2, -10000)], [("additive", 2, -10000)]),
        ([-10000, -10000], [("additive", 0, -10000)], [("additive", 0, -10000)]),
        ([1, 0, -10000], [("not_binary", 2, -10000)], [("not_binary", 2, -10000)]),
        ([0, -1, 0], [("not_binary", 1, -1)], [("not_binary", 1, -1)]),
    ],
)
def test_whole_numbers(mask: list[int], unexpected: list[Any], of_segments: list[Any]):
    assert reason_of(mask) == unexpected
    assert reason_of(mask, segments=True) == of_segments


@pytest.mark.parametrize(
    ("ids", "mask", "inverted"),
    [
        ([5, 6, 0, 0], [0, 0, 1, 1], True),
        ([0, 5, 6], [1, 0, 0], True),
        ([5, 6, 0, 0], [0, 0, 1, 0], True),
        ([5, 6, 0, 0], [0, 1, 1, 1], False),
        ([5, 6, 7, 8], [0, 0, 0, 0], False),
        ([0, 0, 0], [1, 1, 1], False),
        ([5, 6, 0], [1, 1, 1], False),
    ],
)
def test_a_mask_that_attends_to_pads_alone_is_inverted(ids: list[int], mask: list[int], inverted: bool):
    assert [reason for reason, _, _ in reason_of(mask, ids)] == (["inverted"] if inverted else [])
    assert [reason for reason, _, _ in reason_of(mask, ids, segments=True)] == (["inverted"] if inverted else [])


def test_a_null_id_is_no_pad():
    rows = {"input_ids": [[5, 6, None]], "attention_mask": [[0, 0, 1]]}
    assert judged(BINARY, rows, vocabulary=VOCABULARY).success


def test_booleans_are_binary():
    mask = list_array([[True, False]], pa.bool_())
    assert judged(BINARY, {"input_ids": [[5, 6]], "attention_mask": mask}, vocabulary=VOCABULARY).success


@pytest.mark.parametrize("hidden", [-math.inf, -1e4, -3.4e38])
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_a_mask_of_floats_that_is_added(hidden: float, kind: pa.DataType, tmp_path: Path):
    mask = pa.array([[0.0, 0.0, hidden]], pa.list_(kind))
    table = pa.table({"input_ids": list_array([[5, 6, 0]]), "attention_mask": mask})
    assert [each.reason for each in judged(BINARY, table, vocabulary=VOCABULARY).findings] == ["additive"]
    dataguard.validate(table, suite={"name": "t", "expectations": [{"type": BINARY}]}, out=tmp_path / "out")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["results"][0]["result"]["details"]["reasons"] == {"additive": 1}


def test_floats_that_are_0_and_1_hold_and_fractions_do_not():
    mask = pa.array([[1.0, 0.0], [1.0, 0.5], [math.nan, 1.0]], pa.list_(pa.float32()))
    table = pa.table({"input_ids": list_array([[5, 6]] * 3), "attention_mask": mask})
    result = judged(BINARY, table, vocabulary=VOCABULARY)
    assert [(each.row, each.reason, each.position, each.value) for each in result.findings] == [
        (1, "not_binary", 1, None),
        (2, "not_binary", 0, None),
    ]


def test_null_and_empty_masks_are_missing_and_nothing_else():
    rows = {
        "input_ids": [None, [5], [5, 6], [5], [5, 6]],
        "attention_mask": [[2], None, [1, None], [], [1, 0, 1]],
    }
    result = judged(BINARY, rows, vocabulary=VOCABULARY)
    assert (found(result), result.missing_count) == ([(0, "not_binary")], 3)


def test_needs_no_vocabulary_and_no_ids():
    assert found(judged(BINARY, {"attention_mask": [[3]], "tokens": [[5]]}, columns={"input_ids": "tokens"})) == [
        (0, "not_binary")
    ]


def test_without_a_mask_it_cannot_be_judged():
    result = judged(BINARY, {"input_ids": [[5]]}, vocabulary=VOCABULARY)
    assert result.unjudged is not None
    assert "attention_mask" in result.unjudged.missing


@pytest.mark.parametrize("column", ["rejected_input_ids", "rejected_attention_mask"])
def test_a_prefix_brings_its_own_mask(column: str):
    rows = {
        "rejected_input_ids": [[5, 0], [5, 6]],
        "rejected_attention_mask": [[0, 1], [1, 3]],
        "attention_mask": [[1, 1]] * 2,
    }
    result = judged(BINARY, rows, vocabulary=VOCABULARY, column=column)
    assert found(result) == [(0, "inverted"), (1, "not_binary")]


def test_roles_may_have_other_names():
    rows = {"tokens": [[5, 0]], "seen": [[0, 1]]}
    columns = {"input_ids": "tokens", "attention_mask": "seen"}
    assert found(judged(BINARY, rows, vocabulary=VOCABULARY, columns=columns)) == [(0, "inverted")]
