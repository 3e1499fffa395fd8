"""`dataguard validate`: what its options mean to the library, and where its output goes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import datasets
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dataguard.run.validate
from dataguard.cli import run
from dataguard.result import ExpectationResult, Result


def result(*, success: bool) -> Result:
    return Result("s", {}, (ExpectationResult("expect_x", {}, "critical", success),), {"rows": 3})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what the library is asked for, once it is; it answers that the data fails."""
    given: dict[str, Any] = {}

    def validate(data: Any, **options: Any) -> Result:
        given.update(data=data, **options)
        options["watch"].note("a note")
        return result(success=False)

    monkeypatch.setattr(dataguard.run.validate, "validate", validate)
    return given


def test_without_options_the_library_decides(asked: dict[str, Any]) -> None:
    run(["validate", "data", "more"])
    del asked["watch"], asked["timings"], asked["asked"]
    assert asked == {
        "data": [Path("data"), Path("more")],
        "suite": None,
        "tokenizer": None,
        "model": None,
        "vocab_size": None,
        "max_length": None,
        "parameters": {},
        "columns": {},
        "source_from": None,
        "head": None,
        "out": Path("dataguard-out"),
        "quarantine": True,
        "quarantine_limit": 10 * 2**30,
        "clean": False,
        "reports": ["console"],
        "jobs": None,
        "store": "auto",
        "verify": False,
        "plugins": [],
        "fail_on": "critical",
    }


def test_every_option_reaches_the_library(asked: dict[str, Any]) -> None:
    options = (
        "--suite sft --tokenizer t.json --model m --vocab-size 5 --max-length 7 --set side=right --set n=3 "
        "--column input_ids=tokens --column labels=targets --source-from path --out o --no-quarantine "
        "--quarantine-limit 1GiB --clean --head 9 --report console,json --jobs 2 --store s --plugin a --plugin b.c "
        "--fail-on info --verify"
    )
    run(["validate", "data", *options.split()])
    del asked["watch"], asked["timings"], asked["asked"]
    assert asked == {
        "data": [Path("data")],
        "suite": "sft",
        "tokenizer": "t.json",
        "model": Path("m"),
        "vocab_size": 5,
        "max_length": 7,
        "parameters": {"side": "right", "n": 3},
        "columns": {"input_ids": "tokens", "labels": "targets"},
        "source_from": "path",
        "head": 9,
        "out": Path("o"),
        "quarantine": False,
        "quarantine_limit": 2**30,
        "clean": True,
        "reports": ["console", "json"],
        "jobs": 2,
        "store": Path("s"),
        "verify": True,
        "plugins": ["a", "b.c"],
        "fail_on": "info",
    }
    assert type(asked["source_from"]) is type(asked["fail_on"]) is str


def test_the_report_goes_to_stdout_and_notes_to_stderr(asked: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", "x"]) == 1
    told = capsys.readouterr()
    assert told.out.startswith("FAIL  suite s: 1 of 1 expectation failed")
    assert told.err == "a note\n"


def test_json_takes_stdout_for_itself(asked: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", "x", "--json"]) == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["success"] is False
    assert told.err.startswith("a note\nFAIL  suite s")


def test_quiet_is_silent_but_for_a_failed_verdict(
    asked: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["validate", "x", "--quiet"]) == 1
    assert capsys.readouterr() == ("", "FAIL: 1 of 1 expectation failed; see dataguard-out/report.json\n")
    monkeypatch.setattr(dataguard.run.validate, "validate", lambda *_, **__: result(success=True))
    assert run(["validate", "x", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_quiet_json_is_json_alone(asked: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run(["validate", "x", "--quiet", "--json"])
    told = capsys.readouterr()
    assert json.loads(told.out)["suite_name"] == "s"
    assert told.err.count("\n") == 1


def test_without_the_console_report_nothing_is_printed(asked: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run(["validate", "x", "--report", "json"])
    assert capsys.readouterr().out == ""


def test_help_names_every_option_that_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    run(["validate", "--help"])
    text = capsys.readouterr().out
    assert set(re.findall(r"(?<!\w)--[a-z-]+", text)) == {
        "--suite",
        "--tokenizer",
        "--model",
        "--vocab-size",
        "--max-length",
        "--set",
        "--column",
        "--source-from",
        "--quarantine-limit",
        "--clean",
        "--head",
        "--out",
        "--quarantine",
        "--no-quarantine",
        "--report",
        "--fail-on",
        "--jobs",
        "--plugin",
        "--store",
        "--no-store",
        "--project",
        "--no-project",
        "--json",
        "--timings",
        "--verbose",
        "--verify",
        "--quiet",
        "--help",
    }


def shard(place: Path, rows: list[Any], column: str = "input_ids") -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({column: pa.array(rows, pa.list_(pa.int32()))}), place)
    return place


def test_a_foreign_id_is_found_told_and_set_aside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shard(tmp_path / "data/a.parquet", [[1, 2, 3], [4, 99, 6], [7, 8, 9]])
    out = tmp_path / "out"
    assert run(["validate", str(tmp_path / "data"), "--vocab-size", "50", "--out", str(out)]) == 1
    told = capsys.readouterr().out
    assert told.startswith("FAIL")
    assert "a.parquet row 1, position 1: id 99 (beyond_limit)" in told
    assert "3 in = 2 clean + 1 rejected" in told
    assert sorted(path.name for path in out.iterdir()) == [
        "quarantine",
        "rejected.parquet",
        "report.json",
        "run.json",
        "shards.parquet",
    ]
    quarantined = datasets.load_from_disk(str(out / "quarantine"))
    assert quarantined["input_ids"][:] == [[4, 99, 6]]
    assert quarantined["dataguard_reasons"][:] == [["beyond_limit"]]
    assert pl.read_parquet(out / "rejected.parquet")["row"].to_list() == [1]


def test_a_second_run_over_mended_data_takes_the_quarantine_away(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "data/dataguard-out"
    command = ["validate", str(data), "--vocab-size", "50", "--out", str(out), "--quiet"]
    shard(data / "a.parquet", [[1, 2, 3], [4, 99, 6]])
    assert run(command) == 1
    assert (out / "quarantine").is_dir()
    shard(data / "a.parquet", [[1, 2, 3], [4, 5, 6]])
    assert run(command) == 0
    assert not (out / "quarantine").exists()
    assert pl.read_parquet(out / "rejected.parquet").is_empty()


def test_the_same_data_gives_the_same_report_byte_for_byte(tmp_path: Path) -> None:
    shard(tmp_path / "data/a.parquet", [[1, 2, 3], [4, 99, 6], None, []])
    texts = []
    for name, jobs in (("one", "1"), ("two", "2")):
        run(
            [
                "validate",
                str(tmp_path / "data"),
                "--vocab-size",
                "50",
                "--out",
                str(tmp_path / name),
                "--jobs",
                jobs,
                "--quiet",
            ]
        )
        texts.append((tmp_path / name / "report.json").read_bytes())
    assert texts[0] == texts[1]


def test_data_is_never_the_output_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shard(tmp_path / "data/a.parquet", [[1, 2, 3]])
    assert run(["validate", str(tmp_path / "data"), "--out", str(tmp_path / "data")]) == 2
    assert "is DATA itself" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["a.parquet"]
