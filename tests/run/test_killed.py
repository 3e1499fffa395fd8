"""A run that is killed at any moment leaves the old outputs or the new ones, and the next run is right and leaves no litter.

`make kill` kills a hundred runs (DATAGUARD_KILLS says how many); the suite a few, and one at every step of placing outputs.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import dataguard
from dataguard.run import outputs

KILLS = int(os.environ.get("DATAGUARD_KILLS", "4"))
SEED = int(os.environ.get("DATAGUARD_KILL_SEED", str(random.randrange(1 << 30))))
TIMES_AND_HOST = {"run.json"}
"""What differs from run to run."""
REPORT = "report.json"
SHARDS, ROWS, TOKENS = 8, 300, 128


def write_data(place: Path, seed: int) -> None:
    """Write a folder of shards in which some ids are out of range."""
    dice = random.Random(seed)
    for number in range(SHARDS):
        rows = [[dice.randrange(1_000) for _ in range(TOKENS)] for _ in range(ROWS)]
        for row in dice.sample(range(ROWS), 5):
            rows[row][3] = 2_000
        folder = place / ("web" if number % 2 else "code")
        folder.mkdir(parents=True, exist_ok=True)
        table = pa.table({"input_ids": pa.array(rows, pa.list_(pa.int32()))})
        with pa.ipc.new_stream(str(folder / f"{number}.arrow"), table.schema) as writer:
            writer.write_table(table, max_chunksize=100)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def by_output(folder: Path) -> dict[str, dict[str, bytes]]:
    """Return the files of each output (a name in OUT), without those that no two runs write alike."""
    found: dict[str, dict[str, bytes]] = {}
    for name, data in contents(folder).items():
        top = Path(name).parts[0]
        if top not in TIMES_AND_HOST:
            found.setdefault(top, {})[name] = data
    return found


@dataclass
class Stage:
    """Two data sets, what a run over either writes, and the folder that runs are killed over."""

    place: Path
    seconds: float = 0.0

    @property
    def out(self) -> Path:
        return self.place / "out"

    def command(self, data: str, out: Path) -> list[str]:
        options = ["--vocab-size", "1000", "--clean", "--quiet", "--out", str(out), "--jobs", "2"]
        return [sys.executable, "-m", "dataguard", "validate", str(self.place / data), *options]

    def begin(self, data: str, out: Path | None = None) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "TMPDIR": str(self.place / "tmp"), "XDG_CACHE_HOME": str(self.place / "cache")}
        command = self.command(data, out or self.out)
        return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)

    def finish(self, data: str, out: Path | None = None) -> None:
        process = self.begin(data, out)
        _, told = process.communicate(timeout=120)
        assert process.returncode == 1, told.decode()

    def reset(self) -> None:
        """Put the outputs of the run over the old data into OUT."""
        shutil.rmtree(self.out, ignore_errors=True)
        shutil.copytree(self.place / "old-out", self.out)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    stage = Stage(tmp_path_factory.mktemp("killed"))
    for name, seed in (("old", 1), ("new", 2)):
        write_data(stage.place / name, seed)
    (stage.place / "tmp").mkdir()
    stage.finish("old", stage.place / "old-out")
    stage.finish("new", stage.place / "new-out")
    started = time.monotonic()
    process = stage.begin("new")
    _wait_for_staging(stage, process)
    begun = time.monotonic()
    process.communicate()
    stage.seconds = time.monotonic() - begun
    assert begun - started > 0
    yield stage
    shutil.rmtree(stage.place)


def _wait_for_staging(stage: Stage, process: subprocess.Popen[bytes]) -> None:
    """Wait until a run has begun to write: what comes before are imports."""
    while process.poll() is None and not list(stage.out.glob(".staging-*")):
        time.sleep(0.002)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs SIGKILL")
def test_a_run_killed_at_a_random_moment(stage: Stage) -> None:
    old, new = by_output(stage.place / "old-out"), by_output(stage.place / "new-out")
    inputs = {name: contents(stage.place / name) for name in ("old", "new")}
    dice = random.Random(SEED)
    seen = {"old": 0, "new": 0, "both": 0}
    for number in range(KILLS):
        stage.reset()
        if number % 10 == 9:
            (stage.place / "out").joinpath("clean").rename(stage.place / "out" / ".former-clean")  # killed once before
        process = stage.begin("new")
        if number % 4:
            _wait_for_staging(stage, process)
        time.sleep(dice.random() * stage.seconds * 1.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        where = f"kill {number} of seed {SEED}"
        left = {name: files for name, files in by_output(stage.out).items() if not name.startswith(".")}
        for name, files in left.items():
            assert files in (old.get(name), new.get(name)), f"{where}: {name} is neither old nor new"
        told = "new" if left.get(REPORT) == new[REPORT] else "old"
        if told == "new":
            assert left == new, f"{where}: the report speaks of what is not there"
        seen[told if left in (old, new) else "both"] += 1
        assert {name: contents(stage.place / name) for name in inputs} == inputs, where
        stage.finish("new")
        assert by_output(stage.out) == new, f"{where}: the next run is not right"
        assert {path.name for path in stage.out.iterdir()} == {
            path.name for path in (stage.place / "new-out").iterdir()
        }
        assert not list((stage.place / "tmp").iterdir()), where
    print(f"{KILLS} runs killed (seed {SEED}): {seen}")
    assert sum(seen.values()) == KILLS


class Killed(BaseException):
    """Stands for SIGKILL: nothing cleans up behind it."""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    for name, rows in (("old", [[1], [99]]), ("new", [[1], [2], [98]])):
        (tmp_path / name).mkdir()
        table = pa.table({"input_ids": pa.array(rows, pa.list_(pa.int32()))})
        with pa.ipc.new_stream(str(tmp_path / name / "a.arrow"), table.schema) as writer:
            writer.write_table(table)
    return tmp_path


def run(place: Path, data: str, out: str = "out") -> None:
    dataguard.validate(place / data, vocab_size=50, out=place / out, clean=True, store=None, jobs=1)


@pytest.mark.parametrize("exchanges", [True, False], ids=["exchanged", "two renames"])
@pytest.mark.parametrize("below", [False, True], ids=["beside", "below DATA"])
def test_a_run_killed_at_every_step_of_placing(
    small: Path, monkeypatch: pytest.MonkeyPatch, exchanges: bool, below: bool
) -> None:
    if not exchanges:
        monkeypatch.setattr(outputs, "exchange", lambda _one, _other: False)
    out = "new/out" if below else "out"
    for data in ("old", "new"):
        run(small, data, f"{data}-out")
    old, new = by_output(small / "old-out"), by_output(small / "new-out")
    step = 0
    while True:
        shutil.rmtree(small / out, ignore_errors=True)
        shutil.copytree(small / "old-out", small / out)
        with monkeypatch.context() as patch:
            died = dies_at(step, patch)
            try:
                run(small, "new", out)
            except Killed:
                os.close(died[0]._lock)
            else:
                break
        left = {name: files for name, files in by_output(small / out).items() if not name.startswith(".")}
        assert all(files in (old.get(name), new.get(name)) for name, files in left.items())
        assert left.get(REPORT) == old[REPORT] or left == new
        run(small, "new", out)
        assert {path.name for path in (small / out).iterdir()} == {path.name for path in (small / "new-out").iterdir()}
        assert by_output(small / out)["clean"] == new["clean"]
        assert pl.read_parquet(small / out / "rejected.parquet")["row"].to_list() == [2]
        step += 1
    assert step >= 5


def dies_at(step: int, patch: pytest.MonkeyPatch) -> list[Any]:
    """Let the process "die" just before a numbered change of names in OUT; return the outputs that it was placing."""
    count, died = 0, []

    def dying(change: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*arguments: Any) -> Any:
            nonlocal count
            if count == step:
                raise Killed
            count += 1
            return change(*arguments)

        return changed

    def commit(self: Any, **options: Any) -> Any:
        died.append(self)
        patch.setattr(Path, "rename", dying(Path.rename))
        patch.setattr(Path, "replace", dying(Path.replace))
        patch.setattr(outputs, "exchange", dying(outputs.exchange))
        return placed(self, **options)

    def close(self: Any) -> None:
        if count < step or not died:
            closed(self)

    placed, closed = outputs.Outputs.commit, outputs.Outputs.close
    patch.setattr(outputs.Outputs, "commit", commit)
    patch.setattr(outputs.Outputs, "close", close)
    return died
