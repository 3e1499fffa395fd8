"""A result of every kind of verdict, written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from dataguard.result import ExpectationResult, Finding, Result, Unjudged


def source(name: str | None, rows: int, counts: list[int]) -> dict[str, Any]:
    return {
        "source": name,
        "rows": rows,
        "tokens": rows * 431,
        "lengths": {"min": 1, "p50": 431, "p95": 1_999, "p99": 2_040, "max": 2_048, "mean": 431.5},
        "histogram": {"edges": [step * 103 for step in range(21)], "counts": counts},
    }


def rows_beyond(shard: str, numbers: list[int]) -> list[Finding]:
    return [
        Finding("beyond_limit", shard=shard, row=row, column="input_ids", position=512, value=50_304.0)
        for row in numbers
    ]


RESULTS = (
    ExpectationResult(
        "expect_columns_to_exist",
        {"columns": ["input_ids"]},
        "critical",
        success=True,
        element_count=8,
        unexpected_count=0,
        missing_count=0,
    ),
    ExpectationResult(
        "expect_shards_to_be_intact",
        {},
        "critical",
        success=False,
        element_count=8,
        unexpected_count=1,
        missing_count=0,
        observed_value=7,
        findings=(
            Finding("truncated", shard="web/train-00007.arrow", detail="the footer begins at byte 123,456 of 99,000"),
        ),
        details={
            "reasons": {"truncated": 1},
            "ignored": ["README.md: a sidecar", "_old.arrow: its name begins with _"],
            "misnamed": ["x.arrow is Parquet"],
        },
        fix="copy or write these shards again",
    ),
    ExpectationResult(
        "expect_token_ids_to_be_in_vocabulary",
        {"column": "input_ids"},
        "critical",
        success=False,
        element_count=12_345,
        unexpected_count=9,
        missing_count=3,
        observed_value={"lowest": -1, "highest": 50_304, "limit": 50_257},
        findings=(
            *rows_beyond("web/train-00000.arrow", [4, 11, 18, 25, 32, 39, 46]),
            *rows_beyond("code/train-00001.arrow", [60, 61]),
        ),
        details={"reasons": {"negative": 2, "beyond_limit": 7}, "by_source": {"code\x1b[31m": 2, "web": 7}, "hits": 9},
        fix="tokenize the rows again with the model's tokenizer, or resize the embedding",
        value_name="id",
    ),
    ExpectationResult(
        "expect_sequence_lengths_to_be_between",
        {"max_length": 2_048, "mostly": 0.999},
        "warning",
        success=False,
        element_count=12_345,
        unexpected_count=1,
        missing_count=0,
        findings=(Finding("too_long", shard="code/train-00001.arrow", row=91, column="input_ids", value=4_096),),
        details={"reasons": {"too_long": 1}},
        fix="cut or split these rows",
        value_name="length",
    ),
    ExpectationResult(
        "expect_truncation_to_be_consistent_across_sources",
        {},
        "critical",
        success=False,
        element_count=2,
        unexpected_count=1,
        missing_count=0,
        observed_value=[
            {"source": "web", "rows": 900, "cap": 2_048, "pile_up": 0.41234, "side": "right", "lengths": {"p50": 1}},
            {"source": "code", "rows": 90, "cap": 1_024, "pile_up": 0.3, "side": None},
        ],
        findings=(Finding("different_cap", source="code", value=1_024),),
        details={"reasons": {"different_cap": 1}},
        fix="cut every source at the same length",
        value_name={"different_cap": "longest row"},
    ),
    ExpectationResult(
        "expect_labels_to_align_with_input_ids",
        {"column": "chosen_input_ids"},
        "critical",
        success=False,
        unjudged=Unjudged("no shard has a column chosen_labels", "give --column labels=NAME where it has another name"),
    ),
    ExpectationResult(
        "expect_supervised_tokens_to_be_between",
        {},
        "critical",
        success=False,
        unjudged=Unjudged("no shard has a column chosen_labels", "give --column labels=NAME where it has another name"),
    ),
    ExpectationResult(
        "expect_rows_not_to_be_periodic",
        {"mostly": 0.999},
        "critical",
        success=True,
        element_count=12_345,
        unexpected_count=3,
        missing_count=12,
        findings=tuple(Finding("periodic", shard="web/train-00000.arrow", row=row, value=128) for row in (7, 70, 700)),
        details={"reasons": {"periodic": 3}, "notes": ["white space was left out"]},
    ),
    ExpectationResult(
        "expect_row_count_to_be_between", {"min_value": 1}, "critical", success=True, observed_value=12_345
    ),
)
META: dict[str, Any] = {
    "suite": {"name": "sft", "origin": "sft.yaml", "chosen": True},
    "shards": {"count": 8, "intact": 7},
    "rows": 12_345,
    "tokens": 6_123_456,
    "taken": ["suite sft, by the columns", "tokenizer.json, beside the data"],
    "vocabulary": {"limit": 50_257, "size": 50_257},
    "sources": [
        source("web", 1_234_567, [*range(20)]),
        source("文字", 999, [9, 3, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]),
        source(None, 20, [0] * 19 + [20]),
    ],
    "skipped": [
        {
            "type": "expect_symbol_fraction_to_be_below",
            "missing": "the text is not known",
            "fix": "give --tokenizer PATH",
        },
        {"type": "expect_digit_runs_to_be_below", "missing": "the text is not known", "fix": "give --tokenizer PATH"},
        {
            "type": "expect_rows_to_contain_tokens",
            "column": "labels",
            "missing": "no tokens",
            "fix": "give --set tokens=IDS",
        },
    ],
    "accounting": {
        "rows_in": None,
        "clean": 12_333,
        "rejected": 12,
        "not_intact_shards": 1,
        "not_intact_rows": None,
    },
    "quarantine": {"rows": 10, "bytes": 9_999, "schemas": 1, "limit": 10 * 2**30, "complete": False},
    "notes": ["eos ends documents: nothing else says where they end"],
}
FAILED = Result("sft", {"max_length": 2_048}, RESULTS, META)
PASSED = Result(
    "pretrain",
    {},
    tuple(each for each in RESULTS if each.success),
    {
        "suite": {"name": "pretrain", "chosen": False},
        "shards": {"count": 1, "intact": 1},
        "rows": 5,
        "tokens": 20,
        "accounting": {"rows_in": 5, "clean": 5, "rejected": 0, "not_intact_shards": 0, "not_intact_rows": 0},
    },
)


@pytest.fixture
def failed() -> Result:
    """Return a result with a verdict of every kind, and everything that a report may tell."""
    return FAILED


@pytest.fixture
def passed() -> Result:
    """Return a result of which every expectation holds, with little beside it."""
    return PASSED
