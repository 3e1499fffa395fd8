"""Scan a unit of a shard, or several small shards: every planned number of every row, of an earlier run or by reading them.

A task knows nothing of the others, so that any engine may run it anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from dataguard.errors import ShardFault
from dataguard.metrics.base import Metric
from dataguard.run.digests import Content, code_digest, content_of_stretch
from dataguard.run.stored import Columns, Stored, behind_each_other, loaded
from dataguard.run.timings import Stopwatch
from dataguard.shards.batch import Batch
from dataguard.shards.files import FileState
from dataguard.shards.ipc import IpcShard
from dataguard.shards.ipc_blocks import read_blocks
from dataguard.shards.model import OpenShard, Unit
from dataguard.shards.nbytes import nbytes_of
from dataguard.shards.pieces import Stretch

BLOCK_TOKENS = 1 << 19
"""Tokens that kernels see at once: few enough to stay in a core's cache from one kernel to the next."""


MOST_JOINED = 16 << 20
"""Bytes of rows past which small shards are not joined any further: compressed ones may hold far more than their files."""

_FEW = 4096
"""Rows of a block up to which it does not pay to look whether a number is the same in all of them."""

SOURCE = "source"
"""Name of the column of sources, among the numbers of a unit."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A unit of a shard, as a part of what one worker scans.

    Args:
        shard: Place of the shard in the data set.
        opened: The shard.
        unit: A range of its batches.
        source: The source of all its rows, where no column says it; None for none.
        stored: Where numbers of an earlier run lie.
        stretch: The stretch of the file to take the digest of, with its path, state and number; None for none.
    """

    shard: int
    opened: OpenShard
    unit: Unit
    source: str | None = None
    stored: Sequence[Stored] = ()
    stretch: tuple[Path, FileState, int, Stretch] | None = None


@dataclass(frozen=True)
class Task:
    """What one worker scans: a unit of a large shard, or several small shards of the same columns.

    What is done for each task would cost more than the tokens of a small shard: reading rows that have been stored,
    starting each kernel, a Polars column for each number.

    Args:
        pieces: In the order of the data set.
        roles: {role: column} of the shards.
        metrics: What their columns can give.
        tokens: The column by which batches are cut into blocks.
        source_column: The column that says each row's source.
        keys: Everything that is wanted, by what it depends on (`keys_of`); None stands for the sources.
        watch: Takes in what scanning it consists of.
    """

    pieces: Sequence[Piece]
    roles: Mapping[str, str]
    metrics: Sequence[Metric]
    tokens: str
    source_column: str | None
    keys: Mapping[str, Metric | None]
    watch: Stopwatch = field(default_factory=Stopwatch, compare=False)

    @property
    def source_key(self) -> str | None:
        """The key of the sources; None where no column says them."""
        return next((key for key, metric in self.keys.items() if metric is None), None)


def keys_of(metrics: Iterable[Metric], roles: Mapping[str, str], source_column: str | None) -> dict[str, Metric | None]:
    """Return metrics by what their numbers depend on beside the bytes of a unit, and the sources (None) likewise."""
    keys: dict[str, Metric | None] = {}
    for metric in metrics:
        read = {*metric.reads(), *metric.may_read()} & set(roles)
        columns = ",".join(f"{role}={roles[role]}" for role in sorted(read))
        keys[_key(metric.key, columns)] = metric
    return keys if source_column is None else {**keys, _key(SOURCE, source_column): None}


def _key(name: str, columns: str) -> str:
    return xxhash.xxh3_128_hexdigest(f"{code_digest()} {name} {columns}".encode())


@dataclass(frozen=True)
class Scanned:
    """What some pieces of a task gave: their numbers, or the fault that was found in one.

    Args:
        task: What was scanned.
        pieces: Those of its pieces that this is about, in their order; one alone where there is a fault.
        frames: The numbers of each metric, and the sources, by key (`Task.keys`): all rows of the first piece, then all of
            the next one.
        fresh: The keys whose numbers were computed now.
        digests: Of the stretch of each piece's file that was asked for (`Content.total`).
    """

    task: Task
    pieces: Sequence[Piece]
    frames: Mapping[str, Columns] = field(default_factory=dict)
    fresh: Collection[str] = ()
    digests: Sequence[int | None] = ()
    fault: ShardFault | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Rows of all pieces."""
        return sum(piece.unit.rows for piece in self.pieces)

    def numbers(self) -> list[pl.Series]:
        """Return the columns of the metric table, named `METRIC.NUMBER`."""
        wanted = self.task.keys.items()
        return [
            column.alias(f"{metric.key}.{name}")
            for key, metric in wanted
            if metric is not None
            for name, column in self.frames[key].items()
        ]


def _strings(column: pa.Array) -> pa.Array:
    return pc.cast(column, pa.large_string())


def as_strings(column: pa.Array) -> pa.Array:
    """Return a column of sources as strings, nulls where it is null or holds what no name can be made of."""
    try:
        return _strings(column)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(len(column), pa.large_string())


def scan(task: Task) -> list[Scanned]:
    """Return every wanted number of some pieces: what is stored as it is, the rest computed from their rows.

    A fault of a shard is returned, not raised. Pieces that cannot be scanned together are scanned one by one.
    """
    if len(task.pieces) > 1:
        with suppress(_Apart):
            return _together(task)
    return [_alone(task, piece) for piece in task.pieces]


class _Apart(Exception):
    """Pieces cannot be scanned together."""


def _alone(task: Task, piece: Piece) -> Scanned:
    with task.watch("store"):
        frames = loaded([piece.stored]) or {}
    missing = {key: metric for key, metric in task.keys.items() if key not in frames}
    try:
        digest = None
        if missing:
            numbers, digest = _computed(task, piece, missing)
            frames.update(numbers)
        digest = _digest(task, piece) if digest is None else digest
    except ShardFault as fault:
        return Scanned(task, [piece], fault=fault)
    return Scanned(task, [piece], frames, frozenset(missing), [digest])


def _digest(task: Task, piece: Piece) -> int | None:
    """Return the digest that is wanted with a piece."""
    if piece.stretch is None:
        return None
    path, state, _, stretch = piece.stretch
    with task.watch("digest"):
        return content_of_stretch(path, state, stretch)


def _together(task: Task) -> list[Scanned]:
    """Scan pieces as if they were one; a shard that is not intact is left out, and told by itself.

    Raises:
        _Apart: Stored numbers are not what was written, a piece holds far more than its file announced, or rows cannot be
            joined.
    """
    with task.watch("store"):
        frames = loaded([piece.stored for piece in task.pieces])
    if frames is None:
        raise _Apart
    missing = {key: metric for key, metric in task.keys.items() if key not in frames}
    columns = _columns(task, missing)
    sound: list[Piece] = []
    faulty: list[Scanned] = []
    digests: list[int | None] = []
    joined = _Joining(task, missing)
    for piece in task.pieces:
        try:
            with task.watch("read"):
                own = (
                    list(_demanded(piece.opened.read(piece.unit, columns), piece.unit, MOST_JOINED)) if missing else []
                )
            digests.append(_digest(task, piece))
        except ShardFault as fault:
            faulty.append(Scanned(task, [piece], fault=fault))
            continue
        joined.take(own)
        sound.append(piece)
    if faulty and frames:
        raise _Apart  # what is stored of the others stands among the rows of those
    if not sound:
        return faulty
    frames.update(joined.numbers())
    return [Scanned(task, sound, frames, frozenset(missing), digests), *faulty]


class _Joining:
    """The rows of small shards, put together as far as memory allows, and what is computed of them."""

    def __init__(self, task: Task, wanted: Mapping[str, Metric | None]) -> None:
        self._task, self._wanted = task, wanted
        self._waiting: list[pa.RecordBatch] = []
        self._size = 0
        self._parts: list[dict[str, Columns]] = []

    def take(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Take the rows of the next shard.

        Raises:
            _Apart: Rows cannot be joined.
        """
        for batch in batches:
            self._waiting.append(batch)
            self._size += nbytes_of(batch)
        if self._size > MOST_JOINED:
            self._compute()

    def numbers(self) -> dict[str, Columns]:
        """Return what is wanted of all rows; `take` says what is raised."""
        if self._waiting or not self._parts:  # shards without rows have numbers, too: none of each
            self._compute()
        return {key: behind_each_other([part[key] for part in self._parts]) for key in self._wanted}

    def _compute(self) -> None:
        try:
            self._parts.append(_numbers_of(self._task, _joined(self._waiting), self._wanted, _strings))
        except (ShardFault, pa.ArrowException) as error:
            raise _Apart from error
        self._waiting, self._size = [], 0


def _demanded(
    batches: Iterable[tuple[int, pa.RecordBatch]], unit: Unit, most: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a unit.

    Args:
        batches: As they are read.
        most: Bytes that they may have together; None for any number.

    Raises:
        ShardFault: They are not the rows that were announced.
        _Apart: They have more bytes than `most`.
    """
    rows = size = 0
    for first, batch in batches:
        _demand(first == unit.first_row + rows, f"row {unit.first_row + rows:,} was expected, {first:,} came")
        rows, size = rows + batch.num_rows, size + nbytes_of(batch)
        if most is not None and size > most:
            raise _Apart
        yield batch
    _demand(rows == unit.rows, f"{unit.rows:,} rows were announced, {rows:,} were read")


def _joined(batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Return the rows of several shards that have the same columns as one batch.

    Raises:
        ArrowException: Arrow cannot join columns of their types.
    """
    names = batches[0].schema.names if batches else []
    if not names:
        return list(batches)
    columns = {name: pa.concat_arrays([batch.column(name) for batch in batches]) for name in names}
    return [pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))]


def _computed(task: Task, piece: Piece, wanted: Mapping[str, Metric | None]) -> tuple[dict[str, Columns], int | None]:
    """Read a piece once, and compute what is wanted of every row; return that, and the digest where it came with it."""
    columns, content = _columns(task, wanted), Content()
    if isinstance(piece.opened, IpcShard):
        digested = piece.stretch and (piece.stretch[-1], content.take)
        read = read_blocks(piece.opened, piece.unit, columns, BLOCK_TOKENS, digested)
    else:
        digested, read = None, piece.opened.read(piece.unit, columns)
    numbers = _numbers_of(task, task.watch.each("read", _demanded(read, piece.unit)), wanted)
    if digested is None:
        return numbers, None
    task.watch.add({"read": -content.seconds, "digest": content.seconds})  # the one was counted with the other
    return numbers, content.total


def _numbers_of(
    task: Task,
    batches: Iterable[pa.RecordBatch],
    wanted: Mapping[str, Metric | None],
    strings: Callable[[pa.Array], pa.Array] = as_strings,
) -> dict[str, Columns]:
    """Compute what is wanted of every row of some batches.

    Args:
        strings: Makes strings of a column of sources.
    """
    metrics = {key: metric for key, metric in wanted.items() if metric is not None}
    table = _Gathered(metrics, task.watch)
    sources: list[pa.Array] = []
    source_column = task.source_column if None in wanted.values() else None
    for record_batch in batches:
        if source_column is not None:
            sources.append(strings(record_batch.column(source_column)))
        names = set(record_batch.schema.names)
        columns = {role: record_batch.column(name) for role, name in task.roles.items() if name in names}
        for _, block in Batch(columns, record_batch.num_rows).blocks(task.tokens, BLOCK_TOKENS):
            table.take(block)
    with task.watch("tables"):
        frames = table.columns()
    if source_column is not None and task.source_key is not None:
        column = pl.Series(SOURCE, pa.chunked_array(sources, pa.large_string()), dtype=pl.String)
        frames[task.source_key] = {SOURCE: column}
    return frames


def _columns(task: Task, wanted: Mapping[str, Metric | None]) -> list[str]:
    """Return the names of the columns to read."""
    roles = {role for metric in wanted.values() if metric for role in (*metric.reads(), *metric.may_read())}
    names = {task.roles[role] for role in roles if role in task.roles}
    return sorted(names | ({task.source_column} if None in wanted.values() and task.source_column else set()))


def _demand(holds: bool, detail: str) -> None:  # noqa: FBT001  # a condition
    """Refuse rows whose numbers would be wrong."""
    if not holds:
        raise ShardFault("unreadable", detail)


def _narrowed(numbers: npt.NDArray[Any] | pl.Series, kind: Any) -> npt.NDArray[Any] | pl.Series:
    """Return numbers in the few bytes that are kept of them, holding nothing else in memory: one of many that are the same.

    An int32 is never too small: a row has fewer than 2^31 tokens (`shards.batch.list_column`).
    """
    if isinstance(numbers, pl.Series):
        return numbers
    if numbers.size > _FEW and (numbers == numbers[0]).all():
        return np.broadcast_to(numbers[:1].astype(np.int32 if kind == pl.Int32 else numbers.dtype), numbers.shape)
    return numbers.astype(np.int32 if kind == pl.Int32 else numbers.dtype, copy=numbers.base is not None)


class _Gathered:
    """The numbers of each metric, block by block; they become Polars columns once a unit."""

    def __init__(self, metrics: Mapping[str, Metric], watch: Stopwatch) -> None:
        self._metrics, self._watch = metrics, watch
        self._parts: dict[tuple[str, str], list[npt.NDArray[Any] | pl.Series]] = {}

    def take(self, block: Batch) -> None:
        for key, metric in self._metrics.items():
            with self._watch(type(metric).__name__):
                computed = metric.compute(block)
            for name, numbers in computed.items():
                self._parts.setdefault((key, name), []).append(_narrowed(numbers, metric.gives[name]))

    def columns(self) -> dict[str, Columns]:
        return {
            key: {name: self._joined(key, name, kind) for name, kind in metric.gives.items()}
            for key, metric in self._metrics.items()
        }

    def _joined(self, key: str, name: str, kind: Any) -> pl.Series:
        parts = self._parts.pop((key, name), [])
        if not parts or isinstance(parts[0], pl.Series):
            return pl.concat([pl.Series(name, [], dtype=kind), *(part.alias(name) for part in parts)])  # type: ignore[union-attr]
        column = pl.Series(name, parts[0] if len(parts) == 1 else np.concatenate(parts))
        return column if column.dtype == kind else column.cast(kind)
