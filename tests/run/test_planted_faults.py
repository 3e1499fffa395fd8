"""The faults that blow up runs, planted into real shards at rows drawn by chance: found there and nowhere else."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dataguard
from dataguard.result import Result

Row = dict[str, Any]


def read(folder: Path) -> pa.Table:
    """Return the rows of a folder of IPC streams."""
    tables = [pa.ipc.open_stream(path.read_bytes()).read_all() for path in sorted(folder.rglob("*.arrow"))]
    return pa.concat_tables(tables)


def planted(
    table: pa.Table, folder: Path, plant: Callable[[Row], Row], seed: int, count: int = 3
) -> set[tuple[str, int]]:
    """Write a table as three shards with some rows changed; return which.

    Rows of fewer than 20 tokens stay as they are: nothing much can be planted there.
    """
    rows = table.to_pylist()
    long_rows = [place for place, row in enumerate(rows) if len(row["input_ids"]) >= 20]
    chosen = set(random.Random(seed).sample(long_rows, count))  # no secret
    rows = [plant(row) if place in chosen else row for place, row in enumerate(rows)]
    changed = pa.Table.from_pylist(rows, table.schema)
    cuts = [0, len(rows) // 3, len(rows) // 2, len(rows)]
    where: set[tuple[str, int]] = set()
    for number, (start, stop) in enumerate(pairwise(cuts)):
        name = f"part-{number}.arrow"
        with pa.OSFile(str(folder / name), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(changed.slice(start, stop - start), max_chunksize=4)
        where |= {(name, place - start) for place in chosen if start <= place < stop}
    return where


def rejected(result: Result) -> dict[tuple[str, int], list[str]]:
    """Return every rejected row with its reasons."""
    assert result.rejected is not None
    frame = result.rejected()
    return {(row["shard"], row["row"]): row["reasons"] for row in frame.iter_rows(named=True)}


def id_out_of_range(row: Row) -> Row:
    return {**row, "input_ids": [*row["input_ids"][:-1], 50257]}


def repeated(row: Row) -> Row:
    return {**row, "input_ids": [1212] * len(row["input_ids"] * 20), "attention_mask": [1] * len(row["input_ids"] * 20)}


def symbols(row: Row) -> Row:
    heavy, dice = [*range(14), *range(25, 31), 58], random.Random(str(row))  # "!" to "/" and the like in GPT-2
    ids = [token for _ in range(12) for token in dice.sample(heavy, len(heavy))] + row["input_ids"][:8]
    return {**row, "input_ids": ids, "attention_mask": [1] * len(ids)}


def padded_left(row: Row) -> Row:
    ids = [50256, 50256, *row["input_ids"]]
    return {**row, "input_ids": ids, "attention_mask": [0, 0, *([1] * (len(ids) - 2))]}


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("plant", "reasons"),
    [
        (id_out_of_range, ["beyond_limit"]),
        (repeated, ["periodic", "repetitive"]),
        (symbols, ["symbol_heavy"]),
    ],
)
def test_bad_rows_of_pretraining_shards_are_found(
    plant: Callable[[Row], Row], reasons: list[str], seed: int, fixtures: Path, tmp_path: Path
) -> None:
    table = read(fixtures / "shards" / "hf_pretrain_gpt2")
    where = planted(table, tmp_path, plant, seed)
    result = dataguard.validate(tmp_path, tokenizer=fixtures / "tokenizers" / "gpt2")
    assert rejected(result) == dict.fromkeys(where, reasons)
    assert [each.success for each in result.results if each.unexpected_count] == [False] * len(reasons)


@pytest.mark.parametrize("seed", [1, 2])
def test_rows_padded_on_the_other_side_are_found(seed: int, fixtures: Path, tmp_path: Path) -> None:
    table = read(fixtures / "shards" / "hf_pretrain_gpt2")
    rows = [
        {**row, "input_ids": [*row["input_ids"], 50256], "attention_mask": [*row["attention_mask"], 0]}
        for row in table.to_pylist()
    ]
    right = pa.Table.from_pylist(rows, table.schema)

    def to_the_left(row: Row) -> Row:
        return padded_left({**row, "input_ids": row["input_ids"][:-1]})

    where = planted(right, tmp_path, to_the_left, seed)
    result = dataguard.validate(tmp_path, tokenizer=fixtures / "tokenizers" / "gpt2")
    assert rejected(result) == {row: ["mixed_sides"] for row in where}


def shifted(row: Row) -> Row:
    return {**row, "labels": [*row["input_ids"][1:], -100]}


def ignored(row: Row) -> Row:
    return {**row, "labels": [-100] * len(row["labels"])}


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("plant", "either"), [(shifted, {"shifted", "mismatch"}), (ignored, {"no_target"})])
def test_bad_labels_of_finetuning_shards_are_found(
    plant: Callable[[Row], Row], either: set[str], seed: int, fixtures: Path, tmp_path: Path
) -> None:
    table = read(fixtures / "shards" / "axolotl_prepared" / "chat_template")
    where = planted(table, tmp_path, plant, seed)
    result = dataguard.validate(tmp_path, vocab_size=151_669)
    found = rejected(result)
    assert set(found) == where
    assert {reason for reasons in found.values() for reason in reasons} <= either


def test_a_source_that_was_cut_elsewhere_is_found(fixtures: Path, tmp_path: Path) -> None:
    documents = read(fixtures / "shards" / "hf_pretrain_gpt2").to_pylist()
    prose = [row["input_ids"] for row in documents if row["source"] in {"bible_kjv", "pyfaq", "python_docs"}]
    tokens = [token for document in prose for token in document]
    draw = random.Random(5)  # no secret

    def rows(source: str, cap: int) -> list[Row]:
        starts = [draw.randrange(len(tokens) - 300) for _ in range(120)]
        return [{"input_ids": tokens[s : s + min(cap, draw.randint(60, 400))], "source": source} for s in starts]

    table = pa.Table.from_pylist([*rows("web", 256), *rows("books", 256), *rows("code", 192)])
    result = dataguard.validate(table, tokenizer=fixtures / "tokenizers" / "gpt2")
    (verdict,) = (each for each in result.results if each.type == "expect_truncation_to_be_consistent_across_sources")
    assert [(each.source, each.reason, each.value) for each in verdict.findings] == [("code", "different_cap", 192)]
    assert [each.type for each in result.failures()] == [verdict.type]


def test_the_same_shards_without_a_fault_pass(fixtures: Path, tmp_path: Path) -> None:
    table = read(fixtures / "shards" / "hf_pretrain_gpt2")
    planted(table, tmp_path, lambda row: row, seed=1)
    result = dataguard.validate(tmp_path, tokenizer=fixtures / "tokenizers" / "gpt2")
    assert result.success
    assert rejected(result) == {}


def test_a_row_of_one_id_is_found_without_a_tokenizer(fixtures: Path, tmp_path: Path) -> None:
    table = read(fixtures / "shards" / "hf_pretrain_gpt2")
    where = planted(table, tmp_path, repeated, seed=1)
    result = dataguard.validate(tmp_path, vocab_size=50257)
    assert rejected(result) == {place: ["periodic"] for place in where}
    (verdict,) = (each for each in result.results if each.type == "expect_rows_not_to_be_periodic")
    assert "give --tokenizer PATH" in " ".join(verdict.details["notes"])


def test_padding_that_nobody_has_named_is_no_pattern(fixtures: Path) -> None:
    rows = read(fixtures / "shards" / "hf_pretrain_gpt2").to_pylist()
    longest = max(len(row["input_ids"]) for row in rows) + 100
    padded = {"input_ids": [[*row["input_ids"], *[50256] * (longest - len(row["input_ids"]))] for row in rows]}
    result = dataguard.validate(pa.table(padded), vocab_size=50257)
    (verdict,) = (each for each in result.results if each.type == "expect_rows_not_to_be_periodic")
    assert verdict.success
    assert any(f"{len(rows):,} rows end, or begin" in note for note in verdict.details["notes"])
