"""Numbers of earlier runs, so that an unchanged shard is not scanned again.

A store is a folder: `index.sqlite`, and segment files to which units of shards append their numbers. The index says which
numbers of which shard stand where; it gets a line only once the bytes are written, so that a run that is killed leaves
nothing but bytes that no line points to. Every process appends to a segment of its own.

Numbers are found by what they depend on: the shard's content, the metric with its arguments, and the code that computes
them. For the content stands what the file system says of the file (device, inode, size, times) once that is older than the
entry by two seconds; otherwise its digest.
"""

from __future__ import annotations

import io
import secrets
import sqlite3
import time
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import xxhash

from dataguard.errors import UsageError
from dataguard.run.cache import cache_folder
from dataguard.run.request import Request
from dataguard.shards.files import FileState, ShardFile
from dataguard.version import __version__

AUTO, INDEX = "auto", "index.sqlite"
SEGMENT_BYTES = 64 << 20
SETTLED_NS = 2_000_000_000
"""A file that was written less than this before an entry may have been written again in the same tick of its clock."""
CHUNK = 1 << 20
MOST_BYTES = 10 << 30
"""Bytes of segments that a store is cut back to at the end of a run, the oldest first."""
PATIENCE = 30.0
"""Seconds to wait for another run that writes into the same store."""

_TABLES = """
create table if not exists shard (
    id integer primary key, digest text not null, device int, inode int, size int, mtime_ns int, ctime_ns int, seen_ns int);
create index if not exists shard_by_file on shard (size, inode);
create table if not exists blob (id integer primary key, segment text, start int, length int, checksum int);
create table if not exists part (digest text, start int, stop int, key text, place int, blob int,
    primary key (digest, start, stop, key)) without rowid;
"""


@dataclass(frozen=True)
class Stored:
    """Where numbers of a unit lie: a stretch of a segment file, and which of its frames are wanted ({key: place})."""

    segment: Path
    start: int
    length: int
    checksum: int
    places: Mapping[str, int]

    def load(self) -> dict[str, pl.DataFrame] | None:
        """Return the wanted frames by key; None where the bytes are not what was written."""
        try:
            with self.segment.open("rb") as file:
                file.seek(self.start)
                data = file.read(self.length)
        except OSError:
            return None
        if len(data) != self.length or xxhash.xxh3_64_intdigest(data) != _unsigned(self.checksum):
            return None
        whole = pl.read_ipc(io.BytesIO(data))
        return {key: _pick(whole, place) for key, place in self.places.items()}


def _pick(whole: pl.DataFrame, place: int) -> pl.DataFrame:
    prefix = f"{place}."
    names = [name for name in whole.columns if name.startswith(prefix)]
    return whole.select(pl.col(name).alias(name.removeprefix(prefix)) for name in names)


def _unsigned(number: int) -> int:
    return number % (1 << 64)


def _signed(number: int) -> int:
    """Return a 64-bit number as SQLite holds it."""
    return number - (1 << 64) if number >= 1 << 63 else number


@cache
def code_digest() -> str:
    """Return a digest of the code that computes numbers: it is part of every key, so that none outlives its meaning."""
    package = Path(__file__).parents[1]
    digest = xxhash.xxh3_64(f"{__version__} {unicodedata.unidata_version}".encode())
    feeding = ("shards/batch.py", "shards/roles.py", "run/scan.py", "vocabulary/characters.py", "vocabulary/model.py")
    for file in [*sorted(package.glob("metrics/*.py")), *(package / name for name in feeding)]:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def digest_of_stretch(path: Path, state: FileState, number: int, count: int) -> bytes:
    """Return the digest of one of `count` equal stretches of a file, which together cover all of it.

    Raises:
        ShardFault: The file is not what it was.
    """
    start, stop = state.size * number // count, state.size * (number + 1) // count
    digest = xxhash.xxh3_128()
    buffer = memoryview(bytearray(min(CHUNK, stop - start)))
    with ShardFile(path, state) as file:
        while start < stop:
            view = buffer[: min(CHUNK, stop - start)]
            file.read_into(view, start)
            digest.update(view)
            start += len(view)
    return digest.digest()


def digest_of(stretches: Iterable[bytes], state: FileState) -> str:
    """Return the digest of a whole file, of those of its stretches."""
    return xxhash.xxh3_128_hexdigest(b"".join([str(state.size).encode(), *stretches]))


class MetricStore:
    """A store that is open. All methods are for the thread that opened it; `Stored.load` is for any.

    Args:
        folder: Made where it is not there.

    Raises:
        OSError, sqlite3.Error: It cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._index = sqlite3.connect(folder / INDEX, timeout=PATIENCE, isolation_level=None)
        self._index.execute("pragma journal_mode=wal")
        self._index.execute("pragma synchronous=normal")
        self._index.executescript(_TABLES)
        self._segment: Path | None = None

    def digest(self, state: FileState) -> str | None:
        """Return the digest of an unchanged file, where one is known."""
        query = """select digest from shard where size = ? and inode = ? and device = ? and mtime_ns = ? and ctime_ns = ?
            and seen_ns - ? > max(mtime_ns, ctime_ns) order by id desc limit 1"""
        values = (state.size, state.inode, state.device, state.mtime_ns, state.ctime_ns, SETTLED_NS)
        row = self._index.execute(query, values).fetchone()
        return None if row is None else str(row[0])

    def may_know(self, state: FileState) -> bool:
        """Whether a file of this size has been seen: then it may pay to take the digest of one that looks new."""
        return self._index.execute("select 1 from shard where size = ? limit 1", (state.size,)).fetchone() is not None

    def remember(self, state: FileState, digest: str, seen_ns: int) -> None:
        """Take note of a file's digest.

        Args:
            seen_ns: When its state was taken, before its bytes were read.
        """
        self._index.execute(
            "insert into shard (digest, device, inode, size, mtime_ns, ctime_ns, seen_ns) values (?, ?, ?, ?, ?, ?, ?)",
            (digest, state.device, state.inode, state.size, state.mtime_ns, state.ctime_ns, seen_ns),
        )

    def find(self, digest: str, start: int, stop: int, keys: Collection[str]) -> list[Stored]:
        """Return where the numbers of a unit lie, as far as they are stored."""
        query = """select part.key, part.place, blob.segment, blob.start, blob.length, blob.checksum, blob.id
            from part join blob on part.blob = blob.id where part.digest = ? and part.start = ? and part.stop = ?"""
        found: dict[int, tuple[Path, int, int, int]] = {}
        places: dict[int, dict[str, int]] = {}
        for key, place, segment, at, length, checksum, blob in self._index.execute(query, (digest, start, stop)):
            if key in keys:
                found[blob] = (self._folder / segment, at, length, checksum)
                places.setdefault(blob, {})[key] = place
        return [Stored(*found[blob], places=places[blob]) for blob in found]

    def add(self, digest: str, units: Sequence[tuple[int, int, Mapping[str, pl.DataFrame]]]) -> None:
        """Store the numbers of a shard's units: (start, stop, {key: frame}) each."""
        written = [(start, stop, list(frames), self._append(frames)) for start, stop, frames in units if frames]
        self._index.execute("begin immediate")
        try:
            for start, stop, keys, (segment, at, length, checksum) in written:
                row = self._index.execute(
                    "insert into blob (segment, start, length, checksum) values (?, ?, ?, ?)",
                    (segment, at, length, _signed(checksum)),
                )
                parts = [(digest, start, stop, key, place, row.lastrowid) for place, key in enumerate(keys)]
                self._index.executemany("insert or replace into part values (?, ?, ?, ?, ?, ?)", parts)
            self._index.execute("commit")
        except BaseException:
            with suppress(sqlite3.Error):
                self._index.execute("rollback")
            raise

    def _append(self, frames: Mapping[str, pl.DataFrame]) -> tuple[str, int, int, int]:
        """Write frames of one length side by side; return segment, place, length and checksum of the bytes."""
        columns = [
            column.alias(f"{place}.{column.name}") for place, frame in enumerate(frames.values()) for column in frame
        ]
        sink = io.BytesIO()
        pl.DataFrame(columns).write_ipc(sink, compression="lz4")
        data = sink.getvalue()
        if self._segment is None or not self._segment.exists() or self._segment.stat().st_size > SEGMENT_BYTES:
            self._segment = self._folder / f"{time.time_ns():x}-{secrets.token_hex(4)}.segment"
        with self._segment.open("ab") as file:
            at = file.tell()
            file.write(data)
        return self._segment.name, at, len(data), xxhash.xxh3_64_intdigest(data)

    def settle(self, provisional: str, digest: str, state: FileState, seen_ns: int) -> None:
        """Put what was stored of a file before all of it had been read under its digest, and remember that."""
        self._index.execute("update or replace part set digest = ? where digest = ?", (digest, provisional))
        self.remember(state, digest, seen_ns)

    def describe(self) -> dict[str, Any]:
        """Return folder, bytes, segments, shards, and units of shards whose numbers are kept."""
        segments = self._segments()
        shards, units = self._index.execute(
            "select count(distinct digest), count(*) from (select distinct digest, start, stop from part)"
        ).fetchone()
        return {
            "folder": str(self._folder.absolute()),
            "bytes": sum(size for _, size in segments),
            "segments": len(segments),
            "shards": shards,
            "units": units,
        }

    def prune(self, limit: int) -> int:
        """Remove the oldest segments until at most `limit` bytes are left; return the bytes that were removed.

        A run that reads them at this moment computes anew what it no longer finds.
        """
        segments = self._segments()
        total, removed = sum(size for _, size in segments), 0
        for segment, size in segments:
            if total - removed <= limit:
                break
            self._index.execute("begin immediate")
            self._index.execute(
                "delete from part where blob in (select id from blob where segment = ?)", (segment.name,)
            )
            self._index.execute("delete from blob where segment = ?", (segment.name,))
            self._index.execute("delete from shard where digest not in (select digest from part)")
            self._index.execute("commit")
            segment.unlink(missing_ok=True)
            removed += size
        return removed

    def _segments(self) -> list[tuple[Path, int]]:
        """Return the segment files with their sizes, the oldest first: their names begin with the time."""
        files = sorted(self._folder.glob("*.segment"), key=lambda path: int(path.name.partition("-")[0], 16))
        return [(path, path.stat().st_size) for path in files]

    def close(self) -> None:
        """Close the index."""
        self._index.close()


@contextmanager
def opened_store(request: Request) -> Iterator[MetricStore | None]:
    """Open the store that a run asks for; None where it asks for none, or it cannot be used, which is noted."""
    if request.store is None:
        yield None
        return
    folder = Path(request.store)
    try:
        folder = store_folder(request.store)
        store = MetricStore(folder)
    except (sqlite3.Error, OSError) as error:
        request.watch.note(f"the store in {folder} cannot be used, every number is computed anew: {error}")
        yield None
        return
    with closing(store):
        yield store
        with suppress(sqlite3.Error, OSError):
            store.prune(MOST_BYTES)


def store_folder(told: str | Path | None) -> Path:
    """Return the folder of the store that is told; `auto` (or None) is the one in the user's cache.

    Raises:
        OSError: The user has no folder for a cache.
    """
    return cache_folder() / "store" if told in {None, AUTO} else Path(str(told))


def describe_store(told: str | Path | None, limit: int | None) -> dict[str, Any]:
    """Return what a store holds (`MetricStore.describe`), cut back to `limit` bytes first where one is given.

    Raises:
        UsageError: There is no store there, or it cannot be used.
    """
    absent = "run dataguard validate first, or name the folder of a store with --store DIR"
    try:
        folder = store_folder(told)
    except OSError as error:
        raise UsageError("there is no store", why=str(error), fix=absent) from error
    if not (folder / INDEX).is_file():
        raise UsageError("there is no store", where=str(folder), fix=absent)
    try:
        with closing(MetricStore(folder)) as store:
            removed = 0 if limit is None else store.prune(limit)
            return {**store.describe(), **({} if limit is None else {"removed": removed})}
    except (sqlite3.Error, OSError) as error:
        fix = f"remove the folder {folder}: the next run makes it anew"
        raise UsageError("the store cannot be used", where=str(folder), why=str(error), fix=fix) from error
