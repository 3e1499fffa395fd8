"""The temporary folder of a run: it goes with its owner, and what a killed run left goes with the next."""

from __future__ import annotations

import os
import time
from pathlib import Path

import polars as pl
import pytest

from dataguard.errors import OutputError
from dataguard.run import scratch
from dataguard.run.scratch import scratch_folder, scratch_writing


class Owner:
    pass


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_a_folder_goes_with_its_owner() -> None:
    owner = Owner()
    folder = scratch_folder(owner)
    (folder / "segment").write_text("")
    del owner
    assert not folder.exists()


def test_takes_what_a_killed_run_left_and_leaves_what_lives(tmp_path: Path) -> None:
    dead, young = tmp_path / f"{scratch.PREFIX}dead", tmp_path / f"{scratch.PREFIX}young"
    for folder in (dead, young):
        folder.mkdir()
    owner, second = Owner(), Owner()
    living = scratch_folder(owner)
    past = time.time() - 2 * scratch.YOUNG
    for folder in (dead, living):
        os.utime(folder, (past, past))
    scratch_folder(second)
    assert (dead.exists(), young.exists(), living.exists()) == (False, True, True)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), pl.exceptions.ComputeError("no space left")])
def test_a_full_disk_is_told(error: Exception) -> None:
    with pytest.raises(OutputError, match="no space left") as caught, scratch_writing():
        raise error
    assert "TMPDIR" in (caught.value.fix or "")
