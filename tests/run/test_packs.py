"""Packed rows through the whole command: the suite that is chosen, what it finds, and what it leaves alone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dataguard
from dataguard.result import Result
from tests.builders import byte_tokenizer, ids_of, list_array, table_of

X = -100
ROWS = 12
TELLING = ("document_ids", "cu_seqlens", "seq_lengths")


def packs(telling: str, **other: str) -> dict[str, list[Any]]:
    """Return sound packs of two documents and padding, no two alike."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("input_ids", "labels", "attention_mask", "position_ids", telling)
    }
    for row in range(ROWS):
        parts = [[1, *ids_of(f"{row} tea"), 2], [1, *ids_of(f"milk {row * row}"), 2]]
        pads = 1 + row % 3
        ids = [token for part in parts for token in part]
        sizes = [len(part) for part in parts]
        told = {
            "document_ids": [0] * sizes[0] + [1] * sizes[1] + [2] * pads,
            "cu_seqlens": [0, sizes[0], len(ids)],
            "seq_lengths": [*sizes, pads],
        }
        columns["input_ids"].append(ids + [0] * pads)
        columns["labels"].append([X, *ids[1 : sizes[0]], X, *ids[sizes[0] + 1 :]] + [X] * pads)
        columns["attention_mask"].append([1] * len(ids) + [0] * pads)
        columns["position_ids"].append([*range(sizes[0]), *range(sizes[1])] + [0] * pads)
        columns[telling].append(told[telling])
    return {other.get(name, name): cells for name, cells in columns.items()}


def judged(rows: dict[str, list[Any]] | pa.Table, **options: Any) -> Result:
    table = rows if isinstance(rows, pa.Table) else table_of(**rows)
    return dataguard.validate(table, tokenizer=byte_tokenizer(), jobs=1, **options)


def failing(result: Result) -> dict[str, dict[str, int]]:
    """Return the reasons of what failed, by type."""
    return {each.type: dict(each.details.get("reasons", {})) for each in result.results if not each.success}


@pytest.mark.parametrize("telling", TELLING)
def test_sound_packs_hold(telling: str):
    result = judged(packs(telling), parameters={"allow_crossing": False, "max_length": 64})
    assert result.suite_name == "packed"
    assert failing(result) == {"expect_packing_efficiency_to_be_above": {"low_fill": 1}}  # an info: rows are short
    assert result.success


@pytest.mark.parametrize("telling", TELLING)
@pytest.mark.parametrize("suite", ["pretrain", "sft"])
def test_no_other_suite_alarms(telling: str, suite: str):
    assert failing(judged(packs(telling), suite=suite)) == {}


@pytest.mark.parametrize("telling", TELLING)
def test_faults_at_the_borders_are_found(telling: str):
    columns = packs(telling)
    border = columns["position_ids"][3].index(0, 1)
    columns["position_ids"][3] = list(range(len(columns["position_ids"][3])))
    columns["labels"][4][columns["position_ids"][4].index(0, 1)] = 1
    columns["attention_mask"][5][0] = -1
    result = judged(columns, parameters={"allow_crossing": False})
    assert failing(result) == {
        "expect_attention_mask_to_be_binary": {"not_binary": 1},
        "expect_position_ids_to_be_consistent": {"not_restarted": 1},
        "expect_labels_not_to_cross_documents": {"boundary_target": 1},
    }
    positions = next(each for each in result.results if each.type == "expect_position_ids_to_be_consistent")
    assert [(each.row, each.position) for each in positions.findings] == [(3, border)]
    assert "expect_labels_not_to_cross_documents" not in failing(judged(columns))


def test_columns_under_other_names_are_the_same_packs():
    names = {"input_ids": "tokens", "labels": "targets", "position_ids": "where", "attention_mask": "seen"}
    columns = packs("seq_lengths", seq_lengths="sizes", **names)
    columns["where"][3] = list(range(len(columns["where"][3])))
    columns["sizes"][4] = [1, 1]
    result = judged(columns, columns={**names, "seq_lengths": "sizes"})
    assert result.suite_name == "packed"
    assert failing(result) == {
        "expect_document_boundaries_to_be_consistent": {"wrong_sum": 1},
        "expect_position_ids_to_be_consistent": {"not_restarted": 1},
    }


def test_positions_that_restart_with_each_row_of_a_chat_are_no_fault():
    turns = [[1, *ids_of(f"ask {row}"), 2, *ids_of("answer"), 2, *ids_of("\n")] for row in range(ROWS)]
    columns = {
        "input_ids": turns,
        "labels": [[X] * (len(row) - 8) + row[-8:] for row in turns],
        "position_ids": [list(range(len(row))) for row in turns],
    }
    for suite in (None, "pretrain", "sft", "packed"):
        assert failing(judged(columns, suite=suite)) == {}


def test_a_mask_of_floats_fails_and_says_so():
    hidden = pa.array([[0.0, 0.0, -math.inf]] * 3, pa.list_(pa.float32()))
    table = pa.table({"input_ids": list_array([[5, 6, 0], [6, 7, 0], [8, 9, 0]]), "attention_mask": hidden})
    result = judged(table)
    assert not result.success
    assert failing(result)["expect_attention_mask_to_be_binary"] == {"additive": 3}


REAL = {
    "axolotl_prepared/alpaca": ("qwen3", "packed", set()),
    "axolotl_prepared/chat_template": ("qwen3", "packed", set()),
    "hf_packed_qwen3": ("qwen3", "sft", {"expect_rows_not_to_be_repetitive"}),
    "sft_trl/lm_pack_bfd": ("qwen3", "packed", set()),
    "sft_trl/pc_pack_bfd": ("qwen3", "packed", set()),
    "sft_trl/lm_pack_bfd.collated.parquet": ("qwen3", "packed", set()),
    "sft_transformers/flattened.parquet": ("qwen3", "packed", set()),
    "sft_transformers/seq2seq_padded.parquet": ("qwen3", "sft", set()),
    "sft_transformers/mlm_bert.parquet": ("bert-wordpiece", "sft", set()),
    "sft_transformers/clm_gpt2_pad_eq_eos.parquet": ("gpt2", "sft", {"expect_eos_to_be_supervised"}),
}


@pytest.mark.parametrize("name", REAL)
def test_real_shards(shared: Path, name: str):
    tokenizer, chosen, expected = REAL[name]
    data, tokenizers = shared / "data" / "shards" / "tiny" / name, shared / "data" / "tokenizers"
    result = dataguard.validate(data, tokenizer=tokenizers / tokenizer, jobs=1)
    assert result.suite_name == chosen
    assert {each.type for each in result.results if not each.success} == expected
    for suite in ("pretrain", "sft", "packed"):
        again = dataguard.validate(data, tokenizer=tokenizers / tokenizer, suite=suite, jobs=1)
        assert {each.type for each in again.results if not each.success} == expected
