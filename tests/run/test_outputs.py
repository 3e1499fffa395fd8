"""Outputs are placed whole or not at all, and never over what is not ours."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dataguard.errors import OutputError
from dataguard.run import outputs
from dataguard.run.exchange import exchange
from dataguard.run.outputs import MARK, Outputs, prepare
from dataguard.run.writing import writing

REPORT = json.dumps({"meta": {"dataguard": {}}})


def quarantine_at(place: Path, text: str) -> None:
    """Make a folder that looks like a quarantine, with one file of this text."""
    place.mkdir(parents=True)
    (place / "dataset_info.json").write_text(json.dumps({"description": MARK}))
    (place / "data").write_text(text)


def finished_run(out: Path, text: str | None) -> None:
    """Write a whole run into OUT: a report, and a quarantine of this text."""
    with prepare(out, []) as run:
        if text is not None:
            quarantine_at(run.path("quarantine"), text)
        run.write_text("rejected.parquet", str(text))
        run.write_text("report.json", REPORT)
        run.commit()


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_places_everything_and_leaves_no_staging(tmp_path: Path) -> None:
    finished_run(tmp_path / "out", "first")
    assert names(tmp_path / "out") == {"quarantine", "rejected.parquet", "report.json"}
    assert (tmp_path / "out/quarantine/data").read_text() == "first"


def test_nothing_is_seen_before_the_commit(tmp_path: Path) -> None:
    finished_run(tmp_path / "out", "first")
    with prepare(tmp_path / "out", []) as run:
        quarantine_at(run.path("quarantine"), "second")
        assert (tmp_path / "out/quarantine/data").read_text() == "first"
    assert (tmp_path / "out/quarantine/data").read_text() == "first"
    assert names(tmp_path / "out") == {"quarantine", "rejected.parquet", "report.json"}


@pytest.mark.parametrize("swaps", [True, False], ids=["exchanged", "two renames"])
def test_replaces_what_an_earlier_run_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swaps: bool) -> None:
    if not swaps:
        monkeypatch.setattr(outputs, "exchange", lambda _one, _other: False)
    finished_run(tmp_path / "out", "first")
    finished_run(tmp_path / "out", "second")
    assert names(tmp_path / "out") == {"quarantine", "rejected.parquet", "report.json"}
    assert (tmp_path / "out/quarantine/data").read_text() == "second"


def test_exchange_swaps_two_folders_in_one_step(tmp_path: Path) -> None:
    quarantine_at(tmp_path / "a", "a")
    quarantine_at(tmp_path / "b", "b")
    if not exchange(tmp_path / "a", tmp_path / "b"):
        pytest.skip("this file system cannot exchange")
    assert [(tmp_path / name / "data").read_text() for name in "ab"] == ["b", "a"]


def test_exchange_says_where_it_cannot(tmp_path: Path) -> None:
    assert not exchange(tmp_path / "a", tmp_path / "b")


def test_the_report_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    placed = []
    place = Outputs._place
    monkeypatch.setattr(Outputs, "_place", lambda self, name: (placed.append(name), place(self, name)))
    with prepare(tmp_path / "out", []) as run:
        for name in ("report.json", "run.json", "shards.parquet", "rejected.parquet"):
            run.write_text(name, REPORT)
        quarantine_at(run.path("quarantine"), "")
        run.commit()
    assert placed == ["quarantine", "rejected.parquet", "run.json", "shards.parquet", "report.json"]


def test_a_quarantine_goes_when_the_next_run_has_none(tmp_path: Path) -> None:
    finished_run(tmp_path / "out", "first")
    finished_run(tmp_path / "out", None)
    assert names(tmp_path / "out") == {"rejected.parquet", "report.json"}


def test_a_link_to_a_quarantine_goes_and_its_target_stays(tmp_path: Path) -> None:
    quarantine_at(tmp_path / "elsewhere", "kept")
    finished_run(tmp_path / "out", None)
    (tmp_path / "out/quarantine").symlink_to(tmp_path / "elsewhere")
    finished_run(tmp_path / "out", "second")
    assert (tmp_path / "elsewhere/data").read_text() == "kept"
    assert not (tmp_path / "out/quarantine").is_symlink()


def test_a_run_killed_between_two_renames_is_repaired(tmp_path: Path) -> None:
    finished_run(tmp_path / "out", "first")
    (tmp_path / "out/quarantine").rename(tmp_path / "out/.former-quarantine")
    with prepare(tmp_path / "out", []):
        assert (tmp_path / "out/quarantine/data").read_text() == "first"
    quarantine_at(tmp_path / "out/.former-quarantine", "older")
    with prepare(tmp_path / "out", []):
        assert (tmp_path / "out/quarantine/data").read_text() == "first"
        assert not (tmp_path / "out/.former-quarantine").exists()


def begin_and_die(out: Path) -> None:
    prepare(out, []).write_text("report.json", "half")
    os._exit(1)


def test_staging_of_a_dead_run_is_removed_and_of_a_living_one_kept(tmp_path: Path) -> None:
    dead = multiprocessing.get_context("spawn").Process(target=begin_and_die, args=(tmp_path / "out",))
    dead.start()
    dead.join()
    (left,) = (tmp_path / "out").glob(".staging-*")
    with prepare(tmp_path / "out", []) as living, prepare(tmp_path / "out", []) as second:
        assert not left.exists()
        assert living.staging.exists()
        assert second.staging.exists()


def test_without_locks_only_old_staging_of_dead_processes_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(38, "no locks here")

    monkeypatch.setattr("fcntl.flock", no_locks)
    young, old = tmp_path / ".staging-999999999-a", tmp_path / ".staging-999999999-b"
    alive = tmp_path / f".staging-{os.getpid()}-c"
    for folder in (young, old, alive):
        folder.mkdir()
    for folder in (old, alive):
        os.utime(folder, (0, 0))
    with prepare(tmp_path, []):
        assert (young.exists(), old.exists(), alive.exists()) == (True, False, True)


def test_a_folder_that_was_made_for_nothing_goes_again(tmp_path: Path) -> None:
    with prepare(tmp_path / "a/b/out", []):
        assert (tmp_path / "a/b/out").is_dir()
    assert names(tmp_path) == set()


@pytest.mark.parametrize(
    ("data", "out", "why"),
    [
        ("data", "data", "is DATA itself"),
        ("data", ".", "holds DATA"),
        ("data/a.arrow", "data", "holds DATA"),
        ("data", "data/part", "a part of DATA"),
        ("data", "link", "is DATA itself"),
        ("other", "hf", "is a data set"),
    ],
)
def test_refuses_to_write_over_data(tmp_path: Path, data: str, out: str, why: str) -> None:
    (tmp_path / "data/part").mkdir(parents=True)
    (tmp_path / "data/a.arrow").write_text("")
    (tmp_path / "data/part/b.arrow").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "data")
    (tmp_path / "hf").mkdir()
    (tmp_path / "hf/state.json").write_text("{}")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OutputError, match=why):
        prepare(tmp_path / out, [tmp_path / data])
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_below_data_is_fine_new_or_used_before(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.arrow").write_text("")
    for text in ("first", "second"):
        with prepare(tmp_path / "data/dataguard-out", [tmp_path / "data"]) as run:
            quarantine_at(run.path("quarantine"), text)
            run.write_text("report.json", REPORT)
            run.commit()
    assert (tmp_path / "data/dataguard-out/quarantine/data").read_text() == "second"


def test_a_folder_below_data_is_fine_where_a_killed_run_left_its_staging(tmp_path: Path) -> None:
    (tmp_path / "data/out/.staging-1-a").mkdir(parents=True)
    with prepare(tmp_path / "data/out", [tmp_path / "data"]):
        pass


def make_foreign_quarantine(out: Path) -> None:
    (out / "quarantine").mkdir(parents=True)
    (out / "quarantine/thesis.tex").write_text("")


def make_foreign_report(out: Path) -> None:
    out.mkdir()
    (out / "report.json").write_text('{"meta": {"other": 1}}')


def make_folder_of_a_files_name(out: Path) -> None:
    (out / "rejected.parquet").mkdir(parents=True)


def make_folder_called_as_the_record(out: Path) -> None:
    (out / "shards.parquet").mkdir(parents=True)


@pytest.mark.parametrize(
    "make",
    [make_foreign_quarantine, make_foreign_report, make_folder_of_a_files_name, make_folder_called_as_the_record],
)
def test_refuses_to_overwrite_what_others_wrote(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "out")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OutputError, match="not written by dataguard") as caught:
        prepare(tmp_path / "out", [])
    assert str(tmp_path / "out") in (caught.value.where or "")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    for out in ("out", "out/below"):
        with pytest.raises(OutputError, match="in the way"):
            prepare(tmp_path / out, [])


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs Linux")
def test_a_folder_that_cannot_be_made_is_named() -> None:
    with pytest.raises(OutputError, match="/proc/none") as caught:
        prepare(Path("/proc/none"), [])
    assert "--out" in (caught.value.fix or "")


def test_a_disk_without_room_is_found_before_the_work_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OutputError, match="no space left") as caught:
        prepare(tmp_path / "out", [])
    assert "free some space" in (caught.value.fix or "")
    assert names(tmp_path) == set()


FILLS_UP = """
import resource, sys
from pathlib import Path
import numpy as np
import pyarrow as pa
from dataguard.errors import OutputError
from dataguard.run.outputs import prepare
from dataguard.run.quarantine import Rejected, write_quarantine
batch = pa.record_batch({"input_ids": pa.array([list(range(1000))] * 100)})
texts = pa.array([[]] * 100, pa.list_(pa.string()))
part = Rejected(batch.schema, "a", batch, np.arange(100), texts, texts)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    with prepare(Path(sys.argv[1]), []) as run:
        write_quarantine(run.path("quarantine"), [part])
        run.commit()
except OutputError as error:
    print(error)
"""


def test_a_disk_that_fills_up_leaves_the_former_outputs(tmp_path: Path) -> None:
    finished_run(tmp_path / "out", "first")
    done = subprocess.run(
        [sys.executable, "-c", FILLS_UP, str(tmp_path / "out")], capture_output=True, text=True, check=True
    )
    assert "free some space" in done.stdout
    assert done.stderr == ""
    assert names(tmp_path / "out") == {"quarantine", "rejected.parquet", "report.json"}
    assert (tmp_path / "out/quarantine/data").read_text() == "first"


def test_only_the_operating_systems_refusals_become_output_errors(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing(tmp_path):
        _ = 1 // 0
    with pytest.raises(OutputError, match="permission denied"), writing(tmp_path):
        raise PermissionError(13, "Permission denied")


def interrupted(when: str, interruption: type[BaseException]) -> list[str]:
    """Interrupt a run that writes into `out`, and return what is said of the folder."""

    def stop(_name: str = "") -> None:
        raise interruption

    try:
        with prepare(Path("out"), []) as written:
            written.write_text("report.json", REPORT)
            if when == "before":
                stop()
            if when == "between":
                written._place = stop  # type: ignore[method-assign]  # as a signal would
            written.commit()
            stop()
    except interruption as error:
        return error.__notes__
    return []


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_knows_what_has_become_of_the_folder(
    interruption: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert interrupted("before", interruption) == ["out is as it was before"]
    assert interrupted("between", interruption) == ["out holds outputs of two runs, run again"]
    assert interrupted("after", interruption) == ["out holds what this run wrote"]
