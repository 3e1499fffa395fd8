"""Numbers of earlier runs, so that an unchanged shard is not scanned again.

A store is a folder: `index.sqlite`, and segment files to which units of shards append their numbers. The index says which
numbers of which shard stand where; it gets a line only once the bytes are written, so that a run that is killed leaves
nothing but bytes that no line points to. Every process appends to a segment of its own. What tokenizers say lies beside them,
and so do verdicts (`memory`).

Numbers are found by what they depend on: the shard's content, the metric with its arguments, and the code that computes
them. For the content stands what the file system says of the file (device, inode, size, times) once that is older than the
entry by two seconds; otherwise its digest.
"""

from __future__ import annotations

import io
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
import xxhash

from dataguard.errors import UsageError
from dataguard.run.cache import store_folder
from dataguard.run.memory import kept_verdicts
from dataguard.run.request import Request
from dataguard.run.stored import Blob, Columns, Stored
from dataguard.run.unchanged import SETTLED_NS
from dataguard.shards.files import FileState

Thing = TypeVar("Thing")

INDEX, TOKENIZERS = "index.sqlite", "tokenizers"
SEGMENT_BYTES = 64 << 20
MOST_BYTES = 10 << 30
"""Bytes of segments that a store is cut back to at the end of a run, the oldest first."""
PATIENCE = 30.0
"""Seconds to wait for another run that writes into the same store."""

_VERSION = 4
_TABLES = (
    """create table shard (id integer primary key, digest text not null, device int, inode int, size int,
        mtime_ns int, ctime_ns int, seen_ns int)""",
    "create index shard_by_file on shard (size, inode)",
    "create table blob (id integer primary key, segment text, start int, length int, checksum int, keys text)",
    """create table part (digest text, start int, stop int, blob int, first int, rows int,
        primary key (digest, start, stop, blob)) without rowid""",
    f"pragma user_version = {_VERSION}",
)
_MOST_ASKED = 200
"""Files or units in one query: SQLite takes some hundred values in one."""

UnitKey = tuple[str, int, int]
"""Digest of a shard, first batch of a unit and the one behind its last."""


def _signed(number: int) -> int:
    """Return a 64-bit number as SQLite holds it."""
    return number - (1 << 64) if number >= 1 << 63 else number


class MetricStore:
    """A store that is open. All methods are for the thread that opened it; `Blob.load` is for any.

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
        if not self._is_current():
            self._make_anew()
        self._newest = self._index.execute("select ifnull(max(id), 0) from shard").fetchone()[0]
        self._segment: Path | None = None

    def _is_current(self) -> bool:
        return bool(self._index.execute("pragma user_version").fetchone()[0] == _VERSION)

    def _make_anew(self) -> None:
        """Make the tables; those of another version go, with all that they knew."""
        with self.at_once():
            if not self._is_current():  # another run may have been faster
                for table in ("part", "blob", "shard"):
                    self._index.execute(f"drop table if exists {table}")
                for statement in _TABLES:
                    self._index.execute(statement)

    def digest(self, state: FileState) -> str | None:
        """Return the digest of an unchanged file, where one is known."""
        return self.digests([state]).get(state)

    def digests(self, states: Iterable[FileState]) -> dict[FileState, str]:
        """Return the digests of unchanged files, as far as they are known."""
        known: dict[FileState, str] = {}
        for some in _in_groups(states):
            pairs = ", ".join(["(?, ?)"] * len(some))
            query = f"""select device, inode, size, mtime_ns, ctime_ns, seen_ns, digest from shard
                where (size, inode) in (values {pairs}) order by id"""  # noqa: S608  # question marks alone
            wanted = set(some)
            values = [value for state in some for value in (state.size, state.inode)]
            for *facts, seen_ns, digest in self._index.execute(query, values):
                state = FileState(*facts)
                if state in wanted and seen_ns - SETTLED_NS > max(state.mtime_ns, state.ctime_ns):
                    known[state] = digest
        return known

    def seen_sizes(self, states: Iterable[FileState]) -> set[int]:
        """Return the sizes that files had which were known when the store was opened.

        Then it may pay to take the digest of one that looks new. Files of this run do not count: many data sets are cut to
        one size, and each would be read twice.
        """
        seen: set[int] = set()
        for some in _in_groups({state.size for state in states}):
            sizes = ", ".join(["(?)"] * len(some))
            query = f"""with asked (size) as (values {sizes}) select size from asked
                where exists (select 1 from shard where shard.size = asked.size and shard.id <= ?)"""  # noqa: S608  # as above
            seen.update(size for (size,) in self._index.execute(query, [*some, self._newest]))
        return seen

    def remember(self, state: FileState, digest: str, seen_ns: int) -> None:
        """Take note of a file's digest.

        Args:
            seen_ns: When its state was taken, before its bytes were read.
        """
        self._index.execute(
            "insert into shard (digest, device, inode, size, mtime_ns, ctime_ns, seen_ns) values (?, ?, ?, ?, ?, ?, ?)",
            (digest, state.device, state.inode, state.size, state.mtime_ns, state.ctime_ns, seen_ns),
        )

    def find(self, wanted: Mapping[UnitKey, AbstractSet[str]]) -> dict[UnitKey, list[Stored]]:
        """Return where the numbers of units lie, as far as they are stored; of several the newest.

        Args:
            wanted: The keys that are wanted of each unit.
        """
        blobs: dict[int, Blob] = {}
        known: dict[tuple[str, int, AbstractSet[str]], dict[str, int]] = {}  # units that were stored together are alike
        found: dict[UnitKey, list[Stored]] = {}
        for some in _in_groups(wanted):
            triples = ", ".join(["(?, ?, ?)"] * len(some))
            query = f"""select part.digest, part.start, part.stop, part.first, part.rows,
                blob.id, blob.segment, blob.start, blob.length, blob.checksum, blob.keys
                from part join blob on part.blob = blob.id
                where (part.digest, part.start, part.stop) in (values {triples}) order by blob.id desc"""  # noqa: S608  # as above
            for digest, start, stop, first, rows, blob, segment, at, length, checksum, keys in self._index.execute(
                query, [value for unit in some for value in unit]
            ):
                unit = digest, start, stop
                newer = frozenset(key for stored in found.get(unit, ()) for key in stored.places)
                alike = keys, id(wanted[unit]), newer
                if alike not in known:
                    own = wanted[unit] - newer
                    known[alike] = {key: place for place, key in enumerate(keys.split()) if key in own}
                places = known[alike]
                if places:
                    blobs.setdefault(blob, Blob(self._folder / segment, at, length, checksum, keys))
                    found.setdefault(unit, []).append(Stored(blobs[blob], places, first, rows))
        return found

    def add(self, units: Sequence[tuple[UnitKey | None, int]], frames: Mapping[str, Columns]) -> None:
        """Store numbers.

        Args:
            units: Each with how many rows it has, in the order in which they stand in the frames; None for one of which
                nothing can be stored.
            frames: By key.
        """
        with self.at_once():
            segment, at, length, checksum = self._append(frames)
            row = self._index.execute(
                "insert into blob (segment, start, length, checksum, keys) values (?, ?, ?, ?, ?)",
                (segment, at, length, _signed(checksum), " ".join(frames)),
            )
            first = 0
            for unit, rows in units:
                if unit is not None:
                    part = (*unit, row.lastrowid, first, rows)
                    self._index.execute("insert or replace into part values (?, ?, ?, ?, ?, ?)", part)
                first += rows

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Write to the index all of what is written inside, or nothing."""
        if self._index.in_transaction:
            yield
            return
        self._index.execute("begin immediate")
        try:
            yield
            self._index.execute("commit")
        except BaseException:
            with suppress(sqlite3.Error):
                self._index.execute("rollback")
            raise

    def _append(self, frames: Mapping[str, Columns]) -> tuple[str, int, int, int]:
        """Write frames of one length side by side; return segment, place, length and checksum of the bytes."""
        columns = [
            column.alias(f"{place}.{name}")
            for place, frame in enumerate(frames.values())
            for name, column in frame.items()
        ]
        sink = io.BytesIO()
        pl.DataFrame(columns).write_ipc_stream(sink, compression="lz4")
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
        """Return folder, bytes, segments, shards, and units of shards whose numbers are kept, and verdicts."""
        segments, verdicts = self._segments(), kept_verdicts(self._folder)
        shards, units = self._index.execute(
            "select count(distinct digest), count(*) from (select distinct digest, start, stop from part)"
        ).fetchone()
        return {
            "folder": str(self._folder.absolute()),
            "bytes": sum(size for _, size in segments) + sum(size for *_, size in verdicts),
            "segments": len(segments),
            "shards": shards,
            "units": units,
            "verdicts": len(verdicts),
        }

    def prune(self, limit: int) -> int:
        """Remove the oldest segments until at most `limit` bytes are left; return the bytes that were removed.

        A run that reads them at this moment computes anew what it no longer finds. Verdicts go with the first segment: whoever
        is told to judge again, because numbers are gone, must not be told the verdict instead.
        """
        segments, verdicts = self._segments(), kept_verdicts(self._folder)
        total, removed = sum(size for _, size in segments) + sum(size for *_, size in verdicts), 0
        if total > limit:
            for _, verdict, size in verdicts:
                verdict.unlink(missing_ok=True)
                removed += size
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


def _in_groups(things: Iterable[Thing]) -> Iterator[list[Thing]]:
    things = iter(things)
    while some := list(islice(things, _MOST_ASKED)):
        yield some


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
