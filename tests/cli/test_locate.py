"""`dataguard locate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataguard.cli import run
from tests.builders import observation, table_of

BAD = 13
"""The sample that is one token again and again: row 3 of the second shard."""


@pytest.fixture
def data(tmp_path: Path) -> str:
    folder = tmp_path / "data"
    folder.mkdir()
    rows = [[(row * 31 + place * place) % 200 + 10 for place in range(40)] for row in range(20)]
    rows[BAD] = [7] * 40
    for name, part in (("a", rows[:10]), ("b", rows[10:])):
        source = pa.array([f"source-{name}"] * 10)
        pq.write_table(table_of(input_ids=part, source=source), folder / f"{name}.parquet", row_group_size=4)
    return str(folder)


def located(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run(["locate", *arguments, "--json", "--vocab-size", "300"]) == 0
    return json.loads(capsys.readouterr().out)


PLAIN = ("--world-size", "2", "--batch-size", "2", "--no-shuffle")


def test_names_shard_row_and_rank(data: str, capsys: pytest.CaptureFixture[str]):
    found = located(capsys, data, *PLAIN, "--step", "2", "--window", "0")
    places = [(row["rank"], row["sample"], row["shard"], row["row"], row["source"]) for row in found["rows"]]
    assert sorted(places) == [
        (0, 8, "a.parquet", 8, "source-a"),
        (0, 10, "b.parquet", 0, "source-b"),
        (1, 9, "a.parquet", 9, "source-a"),
        (1, 11, "b.parquet", 1, "source-b"),
    ]
    assert {row["numbers"]["tokens"] for row in found["rows"]} == {40}
    assert (found["epoch"], found["step_in_epoch"], found["steps_in_epoch"]) == (0, 2, 5)


def test_the_worst_row_around_the_step_comes_first(data: str, capsys: pytest.CaptureFixture[str]):
    found = located(capsys, data, *PLAIN, "--step", "1", "--window", "3")
    first = found["rows"][0]
    assert (first["sample"], first["step"], first["offset"], first["rank"]) == (BAD, 3, 2, 1)
    assert "repeats" in first["unusual"]
    assert len(found["rows"]) == 20


def test_what_the_suite_finds_is_told(data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    suite = tmp_path / "suite.json"
    entry = {"type": "expect_rows_not_to_be_periodic", "kwargs": {"max_repeats": 20}}
    suite.write_text(json.dumps({"expectations": [entry]}))
    found = located(capsys, data, *PLAIN, "--step", "3", "--window", "0", "--suite", str(suite))
    assert [each["reason"] for each in found["rows"][0]["findings"]] == ["periodic"]
    assert all(not row["findings"] for row in found["rows"][1:])


def test_people_see_the_step_and_what_stands_out_around_it(data: str, capsys: pytest.CaptureFixture[str]):
    assert run(["locate", data, *PLAIN, "--step", "1", "--vocab-size", "300"]) == 0
    told = capsys.readouterr().out
    assert "epoch 0, step 1 of 5; looked at from step 0 to 4" in told
    assert "b.parquet:3 (source-b)" in told


def test_the_same_reason_of_two_expectations_is_told_apart(data: str, capsys: pytest.CaptureFixture[str]):
    rows = [[1, 2, 300]]
    pq.write_table(table_of(input_ids=rows, labels=rows), f"{data}/a.parquet")
    assert run(["locate", f"{data}/a.parquet", "--step", "0", "--vocab-size", "300"]) == 0
    told = capsys.readouterr().out
    assert "beyond_limit (expect_token_ids_to_be_in_vocabulary)" in told
    assert "beyond_limit (expect_labels_to_be_in_vocabulary)" in told


def test_what_could_not_be_judged_is_told(data: str, capsys: pytest.CaptureFixture[str]):
    assert run(["locate", data, *PLAIN, "--step", "1"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "not judged: expect_token_ids_to_be_in_vocabulary (the size of the vocabulary is not known" in told


def test_a_step_of_the_run_that_lies_in_a_later_epoch_is_told(data: str, capsys: pytest.CaptureFixture[str]):
    found = located(capsys, data, *PLAIN, "--step", "12")
    assert (found["epoch"], found["step_in_epoch"]) == (2, 2)
    assert "an epoch has 5 steps: step 12 of the run is in epoch 2" in found["notes"]
    assert not located(capsys, data, *PLAIN, "--step", "2", "--epoch", "2")["notes"]


def test_show_shows_the_worst_rows(data: str, capsys: pytest.CaptureFixture[str]):
    assert run(["locate", data, *PLAIN, "--step", "3", "--window", "0", "--vocab-size", "300", "--show"]) == 0
    assert "b.parquet row 3" in capsys.readouterr().out


def test_an_observed_order_is_used(data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    order = list(range(20))[::-1]
    (tmp_path / "o.json").write_text(json.dumps(observation([order], batch_size=1)))
    found = located(capsys, data, "--step", "6", "--window", "0", "--observed", str(tmp_path / "o.json"))
    assert [row["sample"] for row in found["rows"]] == [BAD]


def test_the_order_is_that_of_torch(data: str, capsys: pytest.CaptureFixture[str]):
    torch = pytest.importorskip("torch")
    order = torch.randperm(20, generator=torch.Generator().manual_seed(5 + 1)).tolist()
    more = ("--world-size", "2", "--batch-size", "2", "--seed", "5", "--step", "6", "--window", "0")
    found = located(capsys, data, *more)
    assert sorted(row["sample"] for row in found["rows"]) == sorted(order[4:8])


def test_the_rows_are_written_where_asked(data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    found = located(capsys, data, *PLAIN, "--step", "2", "--out", str(tmp_path / "out"))
    assert json.loads((tmp_path / "out" / "located.json").read_text()) == found


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--step", "9", "--epoch", "0"], "epoch 0 has no step 9"),
        (["--step", "0", "--world-size", "0"], "--world-size cannot be 0"),
        (["--step", "0", "--observed", "none.json"], "cannot be read"),
        (["--step", "-1"], "--step cannot be"),
    ],
)
def test_what_there_is_not_is_one_message(
    data: str, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
):
    assert run(["locate", data, "--no-shuffle", "--batch-size", "4", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_an_observation_of_other_data_is_refused(data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "o.json").write_text(json.dumps(observation([[0, 1]])))
    assert run(["locate", data, "--step", "0", "--observed", str(tmp_path / "o.json")]) == 2
    assert "the observation is of other data" in capsys.readouterr().err
