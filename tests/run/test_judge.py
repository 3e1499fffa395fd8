"""Who names a shard that lacks a column; what a suite says when something is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dataguard
from dataguard.errors import SuiteError
from dataguard.result import Result
from tests.builders import byte_tokenizer

RANGE = {"type": "expect_token_ids_to_be_in_vocabulary", "kwargs": {"limit": 100}}


def judge(data: Any, *expectations: dict[str, Any], **settings: Any) -> Result:
    return dataguard.validate(data, suite={"name": "t", "expectations": list(expectations)}, **settings)


@pytest.fixture
def two_schemas(tmp_path: Path) -> Path:
    pq.write_table(pa.table({"input_ids": [[1, 200]], "labels": [[1, 2]]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": ["no ids here"]}), tmp_path / "b.parquet")
    return tmp_path


def test_a_shard_without_the_column_is_unjudged_and_the_others_are_judged(two_schemas: Path) -> None:
    (verdict,) = judge(two_schemas, RANGE).results
    assert not verdict.success
    assert verdict.unjudged is not None
    assert "b.parquet (no column input_ids)" in verdict.unjudged.missing
    assert [(each.shard, each.row) for each in verdict.findings] == [("a.parquet", 0)]


def test_where_the_suite_asks_for_the_column_that_verdict_alone_names_the_shard(two_schemas: Path) -> None:
    exists, in_range = judge(
        two_schemas, {"type": "expect_columns_to_exist", "kwargs": {"columns": ["input_ids"]}}, RANGE
    ).results
    assert [each.shard for each in exists.findings] == ["b.parquet"]
    assert in_range.unjudged is None
    assert in_range.details["notes"] == ["1 of 2 shards are left out: no column input_ids"]


def test_a_column_that_when_names_may_be_absent_in_some_shards(tmp_path: Path) -> None:
    pq.write_table(pa.table({"input_ids": [[1, 2]], "labels": [[1, 3]]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"input_ids": [[1, 2]]}), tmp_path / "b.parquet")
    align = {"type": "expect_labels_to_align_with_input_ids", "meta": {"dataguard": {"when": ["labels"]}}}
    (verdict,) = judge(tmp_path, align).results
    assert verdict.unjudged is None
    assert verdict.unexpected_count == 1
    (verdict,) = judge(tmp_path, {"type": "expect_labels_to_align_with_input_ids"}).results
    assert verdict.unjudged is not None


def test_floats_are_unjudged_and_no_pass(tmp_path: Path) -> None:
    (verdict,) = judge(pa.table({"input_ids": [[1.0, 2.0]]}), RANGE).results
    assert not verdict.success
    assert verdict.unjudged is not None
    assert "double" in verdict.unjudged.missing


SPANS = {"input_ids": [[1, 2]], "labels": [[1, 2]], "target_spans": ["1-2"]}


@pytest.mark.parametrize(
    ("rows", "type", "wanted"),
    [
        ({"input_ids": [[1.0, 2.0]]}, "expect_token_ids_to_be_in_vocabulary", "lists of integers"),
        ({"input_ids": [[1, 2]], "text": [b"a"]}, "expect_ids_to_match_text", "strings"),
        (SPANS, "expect_labels_to_cover_spans", "lists of [start, end) pairs"),
        (
            {"input_ids": [[1, 2]], "labels": [[1, 2]], "prompt_length": [1.0]},
            "expect_prompt_to_be_ignored_in_labels",
            "whole numbers",
        ),
    ],
)
def test_says_what_the_column_must_hold(rows: dict[str, Any], type: str, wanted: str) -> None:
    (verdict,) = judge(pa.table(rows), {"type": type}, tokenizer=byte_tokenizer()).results
    assert verdict.unjudged is not None
    assert verdict.unjudged.fix == f"write the column as {wanted}, or name the right one with --column ROLE=NAME"


def test_a_broken_shard_is_a_finding_though_the_suite_does_not_ask(tmp_path: Path) -> None:
    pq.write_table(pa.table({"input_ids": [[1, 2]]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"")
    result = judge(tmp_path, RANGE)
    intact, in_range = result.results
    assert (intact.type, [each.reason for each in intact.findings]) == ("expect_shards_to_be_intact", ["empty_file"])
    assert in_range.success
    assert not result.success


def test_nothing_is_judged_where_no_shard_is_intact(tmp_path: Path) -> None:
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    intact, in_range = judge(tmp_path, RANGE).results
    assert not intact.success
    assert not in_range.success
    assert in_range.unjudged is not None


def test_a_suite_of_skipped_expectations_is_refused() -> None:
    skipped = {"type": "expect_labels_to_align_with_input_ids", "meta": {"dataguard": {"when": ["labels"]}}}
    with pytest.raises(SuiteError, match="every expectation was skipped"):
        judge(pa.table({"input_ids": [[1]]}), skipped)


def test_a_row_that_fails_twice_is_rejected_once_with_both() -> None:
    short = {"type": "expect_sequence_lengths_to_be_between", "kwargs": {"max_length": 1}}
    result = judge(pa.table({"input_ids": [[1, 200], [1]]}), RANGE, short)
    assert result.rejected is not None
    (row,) = result.rejected().iter_rows(named=True)
    assert row["expectations"] == [RANGE["type"], short["type"]]
    assert row["reasons"] == ["beyond_limit", "too_long"]


def test_info_rows_are_not_set_aside() -> None:
    result = judge(pa.table({"input_ids": [[200]]}), {**RANGE, "severity": "info"})
    assert result.success
    assert result.rejected is not None
    assert result.rejected().is_empty()
    assert result.unexpected(RANGE["type"])["reason"].to_list() == ["beyond_limit"]


def test_one_class_a_row_is_no_column_of_labels() -> None:
    rows = pa.table({"input_ids": [[1, 2, 3], [4, 5]], "attention_mask": [[1, 1, 1], [1, 1]], "labels": [0, 1]})
    result = dataguard.validate(rows, vocab_size=100)
    assert result.suite_name == "pretrain"
    assert result.success
