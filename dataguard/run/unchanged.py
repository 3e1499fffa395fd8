"""Whether files and folders are what they were, by what the file system says of them: none is opened.

A digest stands for all that was looked at: of a file kind, rights, device, inode, size and times; of a folder the names in it,
and what they stand for; of a link where it leads, and what is there; and that something is not there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import xxhash

from dataguard.shards.names import is_hidden

SETTLED_NS = 2_000_000_000
"""A file that was written less than this before it was looked at may be written again in the same tick of its clock."""


class Watched(NamedTuple):
    """A place to look at.

    Args:
        kind: `file`: what stands there itself. `folder`: the names in it as well, and what they stand for. `whole`: all below
            it, too. `tree`: all below it that DATA may have there, not what lies in hidden folders (`names.is_hidden`).
        path: Absolute.
    """

    kind: Literal["file", "folder", "tree", "whole"]
    path: str


@dataclass(frozen=True)
class State:
    """What was seen.

    Args:
        digest: Of all of it.
        newest_ns: The latest time at which a file or link was written, or changed otherwise.
    """

    digest: str
    newest_ns: int

    def is_settled(self, since_ns: int) -> bool:
        """Whether nothing was written so shortly before a time that it may be written again unseen."""
        return self.newest_ns < since_ns - SETTLED_NS


def _nothing(_path: str) -> bool:
    return False


def state_of(watched: Iterable[Watched], left_out: Callable[[str], bool] = _nothing) -> State:
    """Return what the file system says of some places.

    Args:
        left_out: Says of a path inside a folder that it is to be passed over.
    """
    look = _Look(left_out)
    for each in watched:
        look.take(each)
    return look.state()


class _Look:
    def __init__(self, left_out: Callable[[str], bool]) -> None:
        self._left_out = left_out
        self._seen: list[str] = []
        self._newest = 0

    def state(self) -> State:
        text = "\n".join(self._seen).encode("utf-8", "surrogatepass")
        return State(xxhash.xxh3_128_hexdigest(text), self._newest)

    def take(self, watched: Watched) -> None:
        self._seen.append(repr(watched))
        status = self._take(watched.path)
        if watched.kind == "file" or status is None or not stat.S_ISDIR(status.st_mode):
            return
        self._seen.append(repr(os.path.realpath(watched.path)))
        entered = {(status.st_dev, status.st_ino)}
        ways = [watched.path]
        while ways:
            inner = self._folder(ways.pop())
            for path, place in () if watched.kind == "folder" else inner:
                if place not in entered and (watched.kind == "whole" or not is_hidden(path.rpartition("/")[2])):
                    entered.add(place)
                    ways.append(path)

    def _folder(self, folder: str) -> list[tuple[str, tuple[int, int]]]:
        """Take in the names in a folder; return the folders in it that may be entered, with device and inode."""
        try:
            names = sorted(os.listdir(folder))  # noqa: PTH208 -- ten thousand of them, and no objects
        except OSError as error:
            self._seen.append(f"{folder!r} {error.errno}")
            return []
        inner = []
        for name in names:
            path = f"{folder}/{name}"
            if self._left_out(path):
                continue
            status = self._take(path)
            if status is not None and stat.S_ISDIR(status.st_mode):
                inner.append((path, (status.st_dev, status.st_ino)))
        return inner

    def _take(self, path: str) -> os.stat_result | None:
        """Take in what stands at a path, and where it is a link what that leads to; return the latter."""
        try:
            status = os.lstat(path)
            self._note(path, status)
            if stat.S_ISLNK(status.st_mode):
                self._seen.append(repr(os.readlink(path)))  # noqa: PTH115 -- as above
                status = os.stat(path)  # noqa: PTH116 -- as above
                self._note("", status)
        except (OSError, ValueError) as error:
            self._seen.append(f"{path!r} {getattr(error, 'errno', None)}")
            return None
        return status

    def _note(self, path: str, status: os.stat_result) -> None:
        told = f"{path!r} {status.st_mode} {status.st_dev} {status.st_ino}"
        if not stat.S_ISDIR(status.st_mode):  # a folder's times tell of the names in it, which are taken in themselves
            told += f" {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
            self._newest = max(self._newest, status.st_mtime_ns, status.st_ctime_ns)
        self._seen.append(told)
