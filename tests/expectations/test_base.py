"""What row-level expectations share: mostly, by_source, findings, counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dataguard
from dataguard.errors import SuiteError
from dataguard.expectations.base import first_reason, words
from dataguard.expectations.rows_not_null import ExpectRowsNotToBeNull
from dataguard.expectations.sequence_lengths import ExpectSequenceLengthsToBeBetween
from tests.builders import judged, table_of

LENGTHS = "expect_sequence_lengths_to_be_between"


@pytest.mark.parametrize(
    ("mostly", "unexpected", "rows", "holds"),
    [
        (1.0, 0, 10, True),
        (1.0, 1, 10, False),
        (1.0, 1, 10**13, False),
        (0.9, 1, 10, True),
        (0.9, 2, 10, False),
        (0.7, 3, 10, True),
        (0.999, 1, 1000, True),
        (0.999, 1, 999, False),
        (0.999, 10**9, 10**12, True),
        (0.999, 10**9 + 1, 10**12, False),
        (0.0, 10, 10, True),
        (1.0, 0, 0, True),
    ],
)
def test_mostly_is_exact_at_every_size(mostly: float, unexpected: int, rows: int, holds: bool):
    assert ExpectRowsNotToBeNull(mostly=mostly).holds(unexpected, rows) is holds


def test_missing_rows_are_not_among_those_that_mostly_counts():
    rows = {"input_ids": [None, None, [1], [1, 2]]}
    assert judged(LENGTHS, rows, max_length=1, mostly=0.5).success
    assert not judged(LENGTHS, rows, max_length=1, mostly=0.51).success


def test_a_variant_takes_the_other_arguments_over():
    whole = ExpectSequenceLengthsToBeBetween(min_length=1, max_length=8, by_source={"code": {"max_length": 16}})
    variant = whole.variants()["code"]
    assert (variant.min_length, variant.max_length, variant.by_source) == (1, 16, {})


def test_rows_of_no_source_and_of_other_sources_take_the_common_arguments():
    rows = {"input_ids": [[1] * 9] * 4, "source": ["code", "web", None, "code"]}
    result = judged(LENGTHS, rows, max_length=8, by_source={"code": {"max_length": 16}})
    assert [each.row for each in result.findings] == [1, 2]
    assert result.details["by_source"] == {"web": 1}


def test_the_type_is_the_class_name_in_snake_case():
    assert ExpectSequenceLengthsToBeBetween.type() == LENGTHS


def test_the_first_reason_that_holds_is_given():
    frame = pl.DataFrame({"number": [0, 1, 2, None]})
    reason = first_reason((pl.col("number") > 1, "two"), (pl.col("number") > 0, "one"))
    assert frame.select(reason.alias("reason"))["reason"].to_list() == [None, "one", "two", None]


def test_every_unexpected_row_is_at_hand(tmp_path: Path):
    for name in "ab":
        pq.write_table(table_of(input_ids=[[1, 2]] * 150), tmp_path / f"{name}.parquet")
    suite = {"name": "x", "expectations": [{"type": LENGTHS, "kwargs": {"max_length": 1}}]}
    rows = dataguard.validate(tmp_path, suite=suite).unexpected(LENGTHS)
    assert rows.height == 300
    assert rows.columns == ["shard", "row", "column", "reason", "position", "value"]


@pytest.mark.parametrize("severity", ["critical", "warning", "info"])
def test_severity_does_not_change_the_verdict(severity: str):
    result = judged(LENGTHS, {"input_ids": [[1, 2]]}, severity=severity, max_length=1)
    assert (result.success, result.severity) == (False, severity)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**70])
@pytest.mark.parametrize(
    ("expectation", "argument"),
    [
        ("expect_token_ids_to_be_in_vocabulary", "limit"),
        ("expect_token_ids_to_be_in_vocabulary", "sentinels"),
        ("expect_labels_to_align_with_input_ids", "ignore_index"),
        ("expect_supervised_tokens_to_be_between", "ignore_index"),
    ],
)
def test_a_number_that_64_bits_do_not_hold_is_refused(expectation: str, argument: str, number: int):
    rows = {"input_ids": [[1]], "labels": [[1]]}
    with pytest.raises(SuiteError, match=argument):
        judged(expectation, rows, **{argument: [number] if argument == "sentinels" else number})


def test_arguments_are_checked_when_it_is_made():
    wrong: list[dict[str, Any]] = [
        {"mostly": 1.1},
        {"mostly": -0.1},
        {"max_length": 0},
        {"min_length": -1},
        {"maximum": 3},
    ]
    for arguments in wrong:
        with pytest.raises(ValueError, match="validation error"):
            ExpectSequenceLengthsToBeBetween(**arguments)


def test_a_text_with_values_is_null_where_a_value_is():
    frame = pl.DataFrame({"period": [2, None], "shard": ["a", "b"]})
    told = frame.select(words("period {} of {}!", pl.col("period"), pl.col("shard"))).to_series().to_list()
    assert told == ["period 2 of a!", None]


def test_a_shard_that_cannot_be_read_does_not_stop_the_judgement_of_the_others(tmp_path: Path):
    pq.write_table(table_of(types={"input_ids": pa.float64()}, input_ids=[[1.0]]), tmp_path / "a.parquet")
    pq.write_table(table_of(input_ids=[[7] * 40, *[[8, 9]] * 29]), tmp_path / "b.parquet")
    result = judged("expect_rows_not_to_be_periodic", tmp_path)
    assert result.unjudged is not None
    assert [(each.shard, each.detail) for each in result.findings] == [("b.parquet", "period 1")]


@pytest.mark.parametrize(
    ("expectation", "arguments", "variant", "missing"),
    [
        ("expect_token_ids_to_be_in_vocabulary", {"limit": 9}, {"limit": None}, "the size of the vocabulary"),
        ("expect_labels_to_be_in_vocabulary", {"limit": 9}, {"limit": None}, "the size of the vocabulary"),
        ("expect_eos_at_document_ends", {"stop_ids": [2]}, {"stop_ids": None}, "the eos id is not known"),
        ("expect_rows_to_contain_tokens", {"tokens": [2]}, {"count_column": "images"}, "no column images"),
        ("expect_columns_to_have_equal_lengths", {}, {"columns": ["input_ids", "mask"]}, "no column mask"),
    ],
)
def test_what_only_a_source_s_arguments_need_is_never_a_pass_without_it(
    expectation: str, arguments: dict[str, Any], variant: dict[str, Any], missing: str
):
    rows = {"input_ids": [[1, 2], [3, 2]], "labels": [[1, 2], [3, 2]], "source": ["web", "code"]}
    result = judged(expectation, rows, by_source={"code": variant}, **arguments)
    assert not result.success
    assert result.unjudged is not None
    assert missing in result.unjudged.missing
    assert judged(expectation, rows, by_source={"no such": variant}, **arguments).success


def test_a_source_s_column_may_be_absent_where_none_of_its_rows_are(tmp_path: Path):
    pq.write_table(table_of(input_ids=[[2, 2]], images=[2], source=["code"]), tmp_path / "a.parquet")
    pq.write_table(table_of(input_ids=[[2, 3]], source=["web"]), tmp_path / "b.parquet")
    arguments = {"tokens": [2], "by_source": {"code": {"count_column": "images"}}}
    assert judged("expect_rows_to_contain_tokens", tmp_path, **arguments).success
    pq.write_table(table_of(input_ids=[[2, 3]], source=["code"]), tmp_path / "b.parquet")
    result = judged("expect_rows_to_contain_tokens", tmp_path, **arguments)
    assert not result.success
    assert result.unjudged is not None
    assert "source code in b.parquet" in result.unjudged.missing


@pytest.mark.parametrize(
    ("expectation", "arguments"),
    [
        (LENGTHS, {}),
        ("expect_dtypes_to_fit", {"column": "position_ids"}),
        ("expect_eos_at_document_ends", {"stop_ids": [2]}),
    ],
)
def test_an_option_is_told_where_the_suite_would_take_it(expectation: str, arguments: dict[str, Any]):
    rows = table_of(input_ids=[[1, 3]], position_ids=[[0, 1]])
    for parameter, option in (("max_length", True), ("other", False)):
        suite = {
            "suite_parameters": {parameter: None},
            "expectations": [{"type": expectation, "kwargs": arguments}],
        }
        told = dataguard.validate(rows, suite=suite).results[0]
        text = f"{told.unjudged} {told.details}"
        assert ("--max-length N" in text) is option
        assert ("the argument max_length in the suite" in text) is not option
