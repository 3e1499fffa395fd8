"""`dataguard judge`, as the installed command does it: after a run, without its data."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).with_name("dataguard"))
LOOSER = {
    "name": "looser",
    "expectations": [{"type": "expect_digit_runs_to_be_below", "kwargs": {"max_run": {"$PARAMETER": "most"}}}],
    "suite_parameters": {"most": 500},
}


def dataguard(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], cwd=at, capture_output=True, text=True, check=False)


@pytest.fixture
def run(fixtures: Path, tmp_path: Path) -> Path:
    """Return a folder with the output of a run, whose data is gone."""
    shutil.copytree(fixtures / "faulty", tmp_path / "data")
    (tmp_path / "data" / "data-00004-of-00005.arrow").unlink()
    shutil.copytree(fixtures / "tokenizers" / "gpt2", tmp_path / "tokenizer")
    done = dataguard(
        "validate", "data", "--tokenizer", "tokenizer", "--store", "store", "--suite", "pretrain", at=tmp_path
    )
    assert done.returncode == 1, done.stderr
    shutil.rmtree(tmp_path / "data")
    (tmp_path / "looser.json").write_text(json.dumps(LOOSER))
    return tmp_path


def test_other_thresholds_give_another_verdict(run: Path) -> None:
    done = dataguard("judge", "dataguard-out", "--suite", "looser.json", at=run)
    assert (done.returncode, done.stderr) == (0, "")
    assert "PASS" in done.stdout
    stricter = dataguard("judge", "dataguard-out", "--suite", "looser.json", "--set", "most=100", "--quiet", at=run)
    assert (stricter.returncode, stricter.stdout) == (1, "")


def test_max_length_and_model_are_told_as_to_validate(run: Path) -> None:
    bounds = {"type": "expect_sequence_lengths_to_be_between", "kwargs": {"max_length": {"$PARAMETER": "max_length"}}}
    (run / "other.json").write_text(json.dumps({"name": "t", "expectations": [bounds]}))
    (run / "model").mkdir()
    (run / "model" / "config.json").write_text(json.dumps({"vocab_size": 50304}))
    options = ("--suite", "other.json", "--max-length", "100", "--model", "model", "--json")
    told = json.loads(dataguard("judge", "dataguard-out", *options, at=run).stdout)
    assert told["suite_parameters"] == {"max_length": 100}
    assert told["meta"]["dataguard"]["vocabulary"]["embedding_rows"] == 50304


def test_json_and_out_hold_the_same_and_the_run_stays_as_it_was(run: Path) -> None:
    before = (run / "dataguard-out" / "report.json").read_bytes()
    done = dataguard("judge", "dataguard-out", "--suite", "looser.json", "--json", "--out", "second", at=run)
    assert json.loads(done.stdout) == json.loads((run / "second" / "report.json").read_text())
    assert (run / "dataguard-out" / "report.json").read_bytes() == before


def test_what_no_run_has_stored_needs_a_scan(run: Path) -> None:
    suite = {"name": "t", "expectations": [{"type": "expect_rows_not_to_be_periodic", "kwargs": {"max_period": 5}}]}
    (run / "other.json").write_text(json.dumps(suite))
    done = dataguard("judge", "dataguard-out", "--suite", "other.json", at=run)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be judged without a scan" in done.stderr


def test_a_folder_without_a_run_is_told(run: Path) -> None:
    done = dataguard("judge", "tokenizer", at=run)
    assert done.returncode == 2
    assert "there is no earlier run to judge" in done.stderr
