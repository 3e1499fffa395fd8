"""Other thresholds on an earlier run's numbers: the same verdict as a scan would give, and no shard is read."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import dataguard
from dataguard.errors import DataError, UsageError
from dataguard.run.rejudge import rejudge


@pytest.fixture
def earlier(fixtures: Path, tmp_path: Path) -> Path:
    """Return the output of a run whose data is gone."""
    data = tmp_path / "data"
    shutil.copytree(fixtures / "faulty", data)
    shutil.copytree(fixtures / "tokenizers" / "gpt2", tmp_path / "tokenizer")
    dataguard.validate(
        data, tokenizer=tmp_path / "tokenizer", out=tmp_path / "out", store=tmp_path / "store", suite="pretrain"
    )
    shutil.rmtree(data)
    return tmp_path / "out"


def suite(*expectations: dict[str, Any]) -> dict[str, Any]:
    return {"name": "other", "expectations": [*expectations]}


def test_other_thresholds_give_what_a_scan_gives(earlier: Path, fixtures: Path, tmp_path: Path) -> None:
    asked = suite(
        {"type": "expect_digit_runs_to_be_below", "kwargs": {"max_run": 500}},
        {"type": "expect_padding_side_to_be", "kwargs": {"side": "right"}},
        {"type": "expect_truncation_to_be_consistent_across_sources", "kwargs": {"max_length": 192}},
    )
    scanned = dataguard.validate(fixtures / "faulty", tokenizer=tmp_path / "tokenizer", suite=asked).to_dict()
    judged = rejudge(earlier, suite=asked).to_dict()
    for each in (scanned, judged):
        each["meta"]["dataguard"].pop("taken")
        each["results"][0]["result"]["details"].pop("ignored", None)
    assert judged == scanned


def test_the_same_suite_gives_the_same_verdicts(earlier: Path) -> None:
    before = (earlier / "report.json").read_text()
    rejudge(earlier, suite="pretrain", out=earlier.parent / "second")
    assert (earlier / "report.json").read_text() == before
    assert (earlier.parent / "second" / "report.json").is_file()
    assert (earlier.parent / "second" / "rejected.parquet").read_bytes()


def test_what_was_judged_again_can_be_judged_again(earlier: Path) -> None:
    asked = suite({"type": "expect_padding_side_to_be", "kwargs": {"side": "right"}})
    second = earlier.parent / "second"
    once = rejudge(earlier, suite=asked, out=second)
    assert rejudge(second, suite=asked).results == once.results


def test_the_vocabulary_that_was_told_holds_again(fixtures: Path, tmp_path: Path) -> None:
    where = {"out": tmp_path / "out", "store": tmp_path / "store"}
    asked = suite({"type": "expect_token_ids_to_be_in_vocabulary"})
    dataguard.validate(fixtures / "faulty", suite=asked, vocabulary={"size": 50, "pad": 1}, **where)
    told = rejudge(tmp_path / "out", suite=asked).meta["vocabulary"]
    assert (told["limit"], told["pad"]) == (50, 1)


def test_the_earlier_verdict_is_not_written_over(earlier: Path) -> None:
    with pytest.raises(UsageError, match="the folder that is judged"):
        rejudge(earlier, suite="pretrain", out=earlier)
    assert (earlier / "quarantine").is_dir()


def test_numbers_that_nobody_stored_need_a_scan(earlier: Path) -> None:
    asked = suite({"type": "expect_rows_not_to_be_periodic", "kwargs": {"max_period": 20}})
    with pytest.raises(UsageError, match="cannot be judged without a scan"):
        rejudge(earlier, suite=asked)


def test_a_run_without_a_store_cannot_be_judged_again(fixtures: Path, tmp_path: Path) -> None:
    dataguard.validate(fixtures / "faulty", out=tmp_path / "out", store=None)
    with pytest.raises(UsageError, match="no-store"):
        rejudge(tmp_path / "out")


@pytest.mark.parametrize("damage", ["nothing there", "no json", "other json", "no record", "bad record"])
def test_what_is_no_run_is_told(damage: str, earlier: Path) -> None:
    if damage == "nothing there":
        shutil.rmtree(earlier)
    elif damage == "no record":
        (earlier / "shards.parquet").unlink()
    elif damage == "bad record":
        (earlier / "shards.parquet").write_bytes(b"PAR1 and no more PAR1")
    else:
        (earlier / "run.json").write_text("{" if damage == "no json" else "[]")
    with pytest.raises(DataError):
        rejudge(earlier)
