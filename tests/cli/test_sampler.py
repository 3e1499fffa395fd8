"""`dataguard sampler`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from dataguard.cli import run
from tests.builders import observation, table_of

GOOD = observation([[4, 1, 3], [5, 0, 2]], [[0, 5, 2], [1, 4, 3]])
SHARED = observation([[4, 0, 3], [4, 1, 0]], samples=6)


def write(folder: Path, document: Any) -> str:
    (folder / "observed.json").write_text(json.dumps(document))
    return str(folder / "observed.json")


def test_what_holds_is_a_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["sampler", "--observed", write(tmp_path, GOOD)]) == 0
    assert "PASS  suite sampler: 6 of 6 expectations hold; 6 samples, 2 ranks" in capsys.readouterr().out


def test_what_does_not_is_a_failure_that_names_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["sampler", "--observed", write(tmp_path, SHARED), "--out", str(tmp_path / "out")]) == 1
    assert "epoch 0 rank 1, position 0: sample 4 (overlap)" in capsys.readouterr().out
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    found = {each["expectation_config"]["type"]: each["result"] for each in report["results"]}
    first = found["expect_ranks_to_be_disjoint"]["partial_unexpected_index_list"][0]
    assert (first["epoch"], first["rank"], first["position"], first["value"]) == (0, 1, 0, 4)
    assert report["meta"]["dataguard"]["sampler"]["epochs"] == [0]


def test_the_report_is_the_same_each_time(tmp_path: Path):
    for out in ("a", "b"):
        run(["sampler", "--observed", write(tmp_path, SHARED), "--out", str(tmp_path / out), "--quiet"])
    assert (tmp_path / "a" / "report.json").read_bytes() == (tmp_path / "b" / "report.json").read_bytes()


def test_json_is_all_that_stands_on_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["sampler", "--observed", write(tmp_path, GOOD), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["success"] is True


def test_quiet_says_one_line_where_it_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["sampler", "--observed", write(tmp_path, SHARED), "--quiet"]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)


@pytest.mark.parametrize(
    "option",
    [
        ["--world-size", "4"],
        ["--batch-size", "4"],
        ["--epochs", "2"],
        ["--seed", "0"],
        ["--no-shuffle"],
        ["--drop-last", "none"],
        ["--num-workers", "0"],
        ["--grad-accum", "1"],
        ["--deal", "rows"],
        ["--backend", "simulate"],
        ["--samples", "6"],
    ],
)
def test_how_a_run_sampled_is_not_told_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str], option: list[str]):
    assert run(["sampler", "--observed", write(tmp_path, GOOD), *option]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"error: {option[0]}") or "--no-shuffle" in told
    assert "cannot be given with --observed" in told


def test_a_sampler_that_does_not_shuffle_may_repeat_its_order(tmp_path: Path):
    same = observation([[0], [1]], [[0], [1]], shuffle=False)
    assert run(["sampler", "--observed", write(tmp_path, same), "--quiet"]) == 0
    assert run(["sampler", "--observed", write(tmp_path, same), "--quiet", "--set", "shuffle=true"]) == 1


def test_expectations_of_shards_are_skipped_and_said_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    suite = tmp_path / "suite.json"
    entries = [{"type": "expect_ranks_to_be_disjoint"}, {"type": "expect_rows_not_to_be_null"}]
    suite.write_text(json.dumps({"expectations": entries}))
    assert run(["sampler", "--observed", write(tmp_path, GOOD), "--suite", str(suite)]) == 0
    assert "it judges shards, and a sampler was observed" in " ".join(capsys.readouterr().out.split())


def test_a_suite_of_shards_alone_is_unusable(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["sampler", "--observed", write(tmp_path, GOOD), "--suite", "pretrain"]) == 2
    assert "nothing was judged" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "nothing to judge"),
        (["--observed", "none.json"], "cannot be read"),
        (["--observed", "FILE", "--set", "shufle=true"], "did you mean shuffle?"),
        (["--observed", "FILE", "--report", "paper"], "unknown report"),
        (["--observed", "FILE", "--suite", "samplers"], "there is no suite"),
    ],
)
def test_says_in_one_message_what_is_unusable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
):
    file = write(tmp_path, GOOD)
    assert run(["sampler", *(file if each == "FILE" else each for each in arguments)]) == 2
    assert told in capsys.readouterr().err


def test_the_file_is_never_overwritten(tmp_path: Path):
    file = write(tmp_path, GOOD)
    assert run(["sampler", "--observed", file, "--out", file]) == 2
    assert json.loads(Path(file).read_text()) == GOOD


def shards(folder: Path, rows: int) -> str:
    """Write two shards of so many rows each."""
    (folder / "data").mkdir()
    for name in ("a", "b"):
        pq.write_table(table_of(input_ids=[[1, 2, row] for row in range(rows)]), folder / "data" / f"{name}.parquet")
    return str(folder / "data")


def test_rows_of_data_are_dealt_and_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("torch")
    more = ["--world-size", "4", "--batch-size", "2", "--epochs", "3", "--num-workers", "2", "--no-store"]
    assert run(["sampler", shards(tmp_path, 50), *more, "--out", str(tmp_path / "out")]) == 0
    assert "11 of 11 expectations hold; 100 rows, 300 tokens, 4 ranks, 2 shards" in " ".join(
        capsys.readouterr().out.split()
    )
    meta = json.loads((tmp_path / "out" / "report.json").read_text())["meta"]["dataguard"]
    assert [each["epoch"] for each in meta["sampler"]["orders"]] == [0, 1, 2]
    facts = json.loads((tmp_path / "out" / "run.json").read_text())["settings"]
    assert facts["orders"] == meta["sampler"]["orders"]
    assert facts["torch"]


def test_a_copy_names_the_row_that_it_is_of(tmp_path: Path):
    pytest.importorskip("torch")
    more = ["--world-size", "8", "--set", "exact=true", "--no-store", "--quiet", "--out", str(tmp_path / "out")]
    assert run(["sampler", shards(tmp_path, 50), *more]) == 1
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    (result,) = (each["result"] for each in report["results"] if not each["success"])
    assert {each["shard"] for each in result["partial_unexpected_index_list"]} <= {"a.parquet", "b.parquet"}
    assert result["details"]["reasons"] == {"padded_duplicate": 8}


def test_a_shard_that_is_not_intact_is_a_finding_here_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    data = shards(tmp_path, 5)
    (tmp_path / "data" / "c.parquet").write_bytes(b"")
    assert run(["sampler", data, "--no-shuffle", "--no-store"]) == 1
    assert "empty_file" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--world-size", "0"], "--world-size cannot be 0"),
        (["--drop-last", "some"], "--drop-last cannot be 'some'"),
        (["--observed", "observed.json"], "two things to judge"),
        (["--column", "input_ids=tokens"], "no shard has a column tokens"),
    ],
)
def test_settings_that_cannot_be_are_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
):
    assert run(["sampler", shards(tmp_path, 2), "--no-store", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_seeds_that_the_suite_names_are_looked_at(tmp_path: Path):
    pytest.importorskip("torch")
    entry = {"type": "expect_seeds_to_agree_in_distribution", "kwargs": {"seeds": [0, 5, 9]}}
    (tmp_path / "suite.json").write_text(json.dumps({"expectations": [entry]}))
    more = ["--suite", str(tmp_path / "suite.json"), "--no-store", "--quiet", "--out", str(tmp_path / "out")]
    assert run(["sampler", shards(tmp_path, 50), *more]) == 0
    (result,) = json.loads((tmp_path / "out" / "report.json").read_text())["results"]
    assert [each["seed"] for each in result["result"]["observed_value"]] == [5, 9]


@pytest.mark.parametrize("option", [["--loader", "train:f"], ["--backend", "gloo"]])
def test_shards_are_dealt_by_their_numbers_of_rows_and_run_nothing(
    tmp_path: Path, option: list[str], capsys: pytest.CaptureFixture[str]
):
    pq.write_table(table_of(input_ids=[[5, 6], [7, 8]]), tmp_path / "a.parquet")
    assert run(["sampler", str(tmp_path), "--deal", "shards", *option]) == 2
    assert f"--deal shards and {option[0]} are two ways" in capsys.readouterr().err


def test_shards_cannot_be_dealt_without_data(capsys: pytest.CaptureFixture[str]):
    assert run(["sampler", "--loader", "train:f", "--samples", "4", "--deal", "shards"]) == 2
    assert "--deal shards and --loader are two ways" in capsys.readouterr().err
