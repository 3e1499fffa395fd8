"""A temporary folder for what a run need not hold in memory: it goes with its owner; what a killed run left, the next takes."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from dataguard.errors import OutputError
from dataguard.run.locks import hold, is_held

PREFIX = "dataguard-scratch-"
YOUNG = 60.0
"""Seconds in which a folder's owner may not have locked it yet."""


def scratch_folder(owner: object) -> Path:
    """Return a new folder that goes when nobody holds its owner any more.

    Raises:
        OutputError: There is no room for it.
    """
    with scratch_writing():
        base = Path(tempfile.gettempdir())
        for left in base.glob(f"{PREFIX}*"):
            if _is_left(left):
                shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
        lock = hold(folder)
    weakref.finalize(owner, _remove, folder, lock)
    return folder


@contextmanager
def scratch_writing() -> Iterator[None]:
    """Turn what the file system refuses inside the block into an `OutputError` about the temporary folder."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        why = (getattr(error, "strerror", None) or str(error)).lower()
        fix = "free some space there, or name another folder in the environment variable TMPDIR"
        where = tempfile.tempdir or "the temporary folder"
        raise OutputError(
            "numbers that do not fit into memory cannot be kept", where=where, why=why, fix=fix
        ) from error


def _is_left(folder: Path) -> bool:
    """Whether the run that made a folder is over: nobody holds its lock."""
    try:
        status = folder.stat()
        if status.st_uid != os.getuid() or time.time() - status.st_mtime < YOUNG:
            return False
        return is_held(folder) is False  # without locks nobody takes what is left
    except OSError:
        return False


def _remove(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)
