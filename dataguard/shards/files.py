"""A shard's file, read at given places, and the proof that it is still the file that was opened.

A file is opened for each use and closed behind it: a data set has more shards than a process may hold files open.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from dataguard.errors import ShardFault

_READ_AHEAD = 1 << 14


@dataclass(frozen=True)
class FileState:
    """What changes when a file is written to or replaced."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileState:
        """Return the state that a stat call saw."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class ShardFile:
    """A file open for reading; every error of the operating system becomes `unreadable`.

    Args:
        path: Where it lies, taken literally.
        state: What it was when it was opened first; another one now is `unreadable`.
    """

    def __init__(self, path: Path, state: FileState | None = None) -> None:
        self._path = path
        self._ahead, self._ahead_at = b"", 0
        try:
            # A named pipe without a writer would keep an open call waiting for ever.
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (OSError, ValueError) as error:
            raise _unreadable(error) from error
        try:
            self.state = FileState.of(_regular(self._status()))
            self.check(state or self.state)
        except ShardFault:
            os.close(self._descriptor)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.state.size

    def check(self, state: FileState) -> None:
        """Raise `unreadable` where the file is not what it was."""
        now = FileState.of(self._status())
        if now != state:
            sizes = "" if now.size == state.size else f" from {state.size:,} to {now.size:,} bytes"
            raise ShardFault(
                "unreadable", f"the file was changed{sizes} while it was read; judge it when nothing writes to it"
            )

    def _status(self) -> os.stat_result:
        try:
            return os.fstat(self._descriptor)
        except OSError as error:
            raise _unreadable(error) from error

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes of the file; callers have checked that it has them. Small reads in file order cost little."""
        start = offset - self._ahead_at
        if not 0 <= start <= start + length <= len(self._ahead):
            data = bytearray(max(length, min(_READ_AHEAD, self.size - offset)))
            self.read_into(memoryview(data), offset)
            self._ahead, self._ahead_at, start = bytes(data), offset, 0
        return self._ahead[start : start + length]

    def span(self, start: int, stop: int) -> tuple[int, int]:
        """Return what is to be read for the bytes from `start` to `stop`: these (see `shards.pieces` for another answer)."""
        return start, stop

    def read_into(self, view: memoryview, offset: int) -> None:
        """Fill a buffer from the file.

        Raises:
            ShardFault: `unreadable`: the file has become shorter, or cannot be read.
        """
        done = 0
        while done < len(view):
            try:
                count = os.preadv(self._descriptor, [view[done:]], offset + done)
            except OSError as error:
                raise _unreadable(error) from error
            if count == 0:
                raise ShardFault(
                    "unreadable", f"the file ended at byte {offset + done:,} of {self.size:,} while it was read"
                )
            done += count


def _regular(status: os.stat_result) -> os.stat_result:
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "no regular file"
        raise ShardFault("unreadable", f"it is {what}, and only files can be read")
    return status


def is_file(path: Path) -> bool:
    """Whether a file can be found there; no permission to look is no file (pathlib raises, before Python 3.14)."""
    return os.path.isfile(path)  # noqa: PTH113 -- as the docstring says


def is_folder(path: Path) -> bool:
    """Whether a folder can be found there; no permission to look is no folder."""
    return os.path.isdir(path)  # noqa: PTH112 -- as in is_file


def _unreadable(error: Exception) -> ShardFault:
    return ShardFault("unreadable", getattr(error, "strerror", None) or str(error))
