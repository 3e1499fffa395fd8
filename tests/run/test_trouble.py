"""Disks that are full, outputs that cannot be written, shards that change or go, Ctrl-C: one message, nothing half-written."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dataguard
from dataguard.errors import OutputError
from dataguard.run import validate
from dataguard.shards.files import ShardFile

COMMAND = ("--vocab-size", "1000", "--clean", "--quiet", "--jobs", "2", "--verify")
"""Every run shall judge and write, and none remember a verdict."""
EXPECTED = {"clean", "quarantine", "rejected.parquet", "report.json", "run.json", "shards.parquet"}


def write_shard(path: Path, rows: list[list[int]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"input_ids": pa.array(rows, pa.list_(pa.int32()))})
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=100)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return shards of which one row in thirty is to be set aside."""
    place = tmp_path_factory.mktemp("trouble") / "data"
    dice = random.Random(0)
    for number in range(4):
        rows = [[dice.randrange(1_000) for _ in range(40)] + [2_000] * (row % 30 == 0) for row in range(1_500)]
        write_shard(place / f"{number}.arrow", rows)
    return place


def run(data: Path, out: Path, tmp_path: Path, before: Callable[[], None] | None = None) -> tuple[int, str]:
    """Judge in a process of its own; return its status and what it said on stderr."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "dataguard", "validate", str(data), *COMMAND, "--out", str(out)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, preexec_fn=before, check=False)
    assert done.stdout == ""
    return done.returncode, done.stderr


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def is_one_message(told: str) -> bool:
    """Whether a text is one error with its labelled lines, after notes."""
    lines = [line for line in told.splitlines() if not line.startswith(("compiling", "the store is left alone"))]
    return lines[0].startswith("error: ") and all(
        line.startswith(("  where ", "  why ", "  fix ")) for line in lines[1:]
    )


@pytest.mark.slow
def test_a_file_that_may_not_grow_any_more_leaves_the_former_outputs(data: Path, tmp_path: Path) -> None:
    assert run(data, tmp_path / "out", tmp_path)[0] == 1
    former = contents(tmp_path / "out")
    said = set()
    for most in (1_000, 5_000, 100_000):
        status, told = run(
            data, tmp_path / "out", tmp_path, lambda most=most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        )
        assert (status, is_one_message(told)) == (2, True), told
        assert contents(tmp_path / "out") == former
        said |= {line for line in told.splitlines() if "where" in line}
    assert len(said) == 3, said


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Mount disks of so many KiB."""
    mounted: list[Path] = []

    def mount(size: int) -> Path:
        place = tmp_path / f"disk-{size}"
        place.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(place)]
        if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("this user cannot mount a disk")
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_a_disk_that_fills_up_is_told_and_left_as_it_was(
    data: Path, tmp_path: Path, small_disk: Callable[[int], Path]
) -> None:
    for size in (4, 12, 60, 500):
        out = small_disk(size) / "out"
        status, told = run(data, out, tmp_path)
        assert (status, is_one_message(told)) == (2, True), told
        assert "no space left" in told
        assert "free some space" in told
        assert not out.exists(), size
    out = small_disk(20_000) / "out"
    assert run(data, out, tmp_path)[0] == 1
    assert {path.name for path in out.iterdir()} == EXPECTED


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_output_folder_that_is_read_only_is_told_before_the_work(data: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(mode=0o500)
    status, told = run(data, tmp_path / "out", tmp_path)
    assert (status, is_one_message(told)) == (2, True), told
    assert "permission denied" in told


def test_a_disk_that_is_read_only_is_told_before_the_work(
    data: Path, tmp_path: Path, small_disk: Callable[[int], Path]
) -> None:
    place = small_disk(100)
    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
    status, told = run(data, place / "out", tmp_path)
    assert (status, is_one_message(told)) == (2, True), told
    assert "read-only file system" in told


def test_a_list_of_rejected_rows_that_finds_no_room_is_told(tmp_path: Path) -> None:
    write_shard(tmp_path / "data/a.arrow", [[2_000]] * 20_000)
    status, told = run(
        tmp_path / "data", tmp_path / "out", tmp_path, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
    )
    assert (status, is_one_message(told)) == (2, True), told
    assert "rejected.parquet\n  why   file too large" in told
    assert not (tmp_path / "out").exists()


def judged(data: Path, out: Path, **options: Any) -> Any:
    return dataguard.validate(data, vocab_size=1_000, out=out, clean=True, store=None, jobs=1, **options)


def shrunk(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def replaced(path: Path) -> None:
    other = path.with_name("other")
    write_shard(other, [[1]] * 1_500)
    other.replace(path)


CHANGES = pytest.mark.parametrize("change", [Path.unlink, shrunk, replaced], ids=["gone", "shrunk", "replaced"])


@pytest.fixture
def own(data: Path, tmp_path: Path) -> Path:
    """Return data that a test may change."""
    shutil.copytree(data, tmp_path / "data")
    return tmp_path / "data"


@CHANGES
def test_a_shard_that_changes_under_the_scan_is_a_finding(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    opened: list[Path] = []
    begin = ShardFile.__init__

    def meanwhile(self: ShardFile, path: Path, *state: Any) -> None:
        if state and path.name == "2.arrow" and not opened:
            opened.append(path)
            change(path)
        begin(self, path, *state)

    monkeypatch.setattr(ShardFile, "__init__", meanwhile)
    result = judged(own, tmp_path / "out")
    (found,) = [each for each in result.results if each.type == "expect_shards_to_be_intact"]
    assert [(each.shard, each.reason) for each in found.findings] == [("2.arrow", "unreadable")]
    assert sorted(path.name for path in (tmp_path / "out/clean").glob("*.arrow")) == ["0.arrow", "1.arrow", "3.arrow"]
    assert not list((tmp_path / "out").glob(".staging-*"))


@CHANGES
@pytest.mark.parametrize("while_writing", ["quarantine", "clean"])
def test_a_shard_that_changes_before_its_rows_are_copied_stops_the_run(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None], while_writing: str
) -> None:
    judged(own, tmp_path / "out")
    former = contents(tmp_path / "out")
    name = f"write_{while_writing}"
    write = getattr(validate, name)

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        change(own / "2.arrow")
        return write(*arguments, **options)

    monkeypatch.setattr(validate, name, meanwhile)
    with pytest.raises(OutputError, match="a shard changed during the run") as caught:
        judged(own, tmp_path / "out")
    assert (caught.value.where, caught.value.fix) == ("2.arrow", "run again")
    assert contents(tmp_path / "out") == former
    assert not list((tmp_path / "out").glob(".staging-*"))


def interrupted(command: list[str], environment: dict[str, str], out: Path, seconds: float | None) -> tuple[int, str]:
    """Begin a run, send it Ctrl-C that long after it began to write (None: never), and let it end."""
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not list(out.glob(".staging-*")):
        time.sleep(0.002)
    if seconds is not None:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    return process.returncode, told


@pytest.mark.slow
def test_ctrl_c_at_any_moment_leaves_nothing_half_written(data: Path, tmp_path: Path) -> None:
    """Send Ctrl-C until enough runs were interrupted: how long one takes differs from machine to machine."""
    out = tmp_path / "out"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "dataguard", "validate", str(data), *COMMAND, "--out", str(out)]
    assert interrupted(command, environment, out, None)[0] == 1
    former = contents(out)
    wanted = int(os.environ.get("DATAGUARD_INTERRUPTIONS", "6"))
    dice = random.Random()
    longest = 0.8  # seconds; shortened whenever a run ended before its Ctrl-C came
    statuses: list[int] = []
    while statuses.count(130) < wanted:
        assert len(statuses) < 10 * wanted, statuses
        status, told = interrupted(command, environment, out, dice.random() * longest)
        statuses.append(status)
        assert status in {130, 1}, told  # 1 where the verdict had been told
        longest *= 1 if status == 130 else 0.8
        assert "Traceback" not in told
        left = contents(out)
        assert {name: data for name, data in left.items() if name != "run.json"} == {
            name: data for name, data in former.items() if name != "run.json"
        }
        assert {path.name for path in out.iterdir()} == EXPECTED
