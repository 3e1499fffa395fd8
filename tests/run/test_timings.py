"""Where the time of a run goes: counted step by step, kept in run.json, told when asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dataguard
from dataguard.cli import run
from dataguard.run.timings import Stopwatch

METRICS = {"Lengths", "Content", "IdsOutside"}


class Clock:
    """Goes on by a second whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def test_a_stopwatch_adds_up_what_has_one_name() -> None:
    watch = Stopwatch(Clock())
    for name in ("read", "judge", "read"):
        with watch(name):
            pass
    watch.add({"read": 0.5, "store": 0.25})
    assert watch.seconds() == {"read": 2.5, "judge": 1.0, "store": 0.25}


def test_what_fails_is_counted_too() -> None:
    watch = Stopwatch(Clock())
    with pytest.raises(ValueError, match="broken"), watch("read"):
        raise ValueError("broken")
    assert watch.seconds() == {"read": 1.0}


def test_a_stopwatch_counts_what_items_take_to_come_and_not_what_is_done_with_them() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    for _ in watch.each("read", iter("abc")):
        clock.now += 100
    assert watch.seconds() == {"read": 4.0}  # three items, and to see that there is no fourth


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "a.arrow"
    path.parent.mkdir()
    table = pa.table({"input_ids": pa.array([[1, 2, 3], [4, 500]], pa.list_(pa.int32()))})
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table)
    return path


def timings_of(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "run.json").read_text(encoding="utf-8"))["timings"]
    return found


def test_run_json_tells_the_steps_and_the_parts_of_the_scan(shard: Path, tmp_path: Path) -> None:
    dataguard.validate(shard, vocab_size=100, out=tmp_path / "out", store=tmp_path / "store")
    told = timings_of(tmp_path / "out")
    assert list(told["steps"]) == ["open", "scan", "judge", "quarantine", "clean", "report"]
    assert told["scan"].keys() >= {"read", "tables", "digest", "store", *METRICS}
    assert all(seconds >= 0 for part in told.values() for seconds in part.values())


def test_what_is_stored_is_not_computed(shard: Path, tmp_path: Path) -> None:
    for _ in range(2):
        dataguard.validate(shard, vocab_size=100, out=tmp_path / "out", store=tmp_path / "store")
    told = timings_of(tmp_path / "out")
    assert "store" in told["scan"]
    assert told["scan"].keys().isdisjoint({"read", *METRICS})


@pytest.mark.parametrize("options", [[], ["--json"], ["--quiet"]])
def test_timings_are_told_on_stderr_alone(
    shard: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    command = ["validate", str(shard), "--vocab-size", "100", "--out", str(tmp_path / "out"), *options]
    assert run(command) == run([*command, "--timings"]) == 1
    told = capsys.readouterr()
    assert "of the scan" not in told.out
    lines = [line.split() for line in told.err.splitlines()]
    assert [line[0] for line in lines if line and line[-1].endswith("%")] == list(timings_of(tmp_path / "out")["steps"])
    assert any(line[:3] == ["of", "the", "scan,"] for line in lines)


def test_judge_tells_its_timings_too(shard: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, store = str(tmp_path / "out"), str(tmp_path / "store")
    run(["validate", str(shard), "--vocab-size", "100", "--out", out, "--store", store, "--quiet"])
    capsys.readouterr()
    assert run(["judge", out, "--timings"]) == 1
    assert "judge" in capsys.readouterr().err
