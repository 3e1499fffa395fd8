"""Locks on folders, which go with the process that holds them: they tell a run that lives from one that was killed."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def hold(folder: Path) -> int:
    """Lock a folder until what is returned is closed (`os.close`); without a lock where the file system has none.

    Raises:
        OSError: It cannot be opened.
    """
    lock = os.open(folder, os.O_RDONLY)
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return lock


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes out of the block, where the file system has locks.

    Raises:
        OSError: It cannot be opened.
    """
    lock = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def is_held(folder: Path) -> bool | None:
    """Whether somebody holds a folder's lock; None where that cannot be told, for want of locks.

    Raises:
        OSError: It cannot be opened.
    """
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(lock)
    return False
