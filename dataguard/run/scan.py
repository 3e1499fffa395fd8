"""Scan one unit of a shard: every planned number for every row, from an earlier run or by reading its batches.

A unit knows nothing of the others, so that any engine may run it anywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
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
from dataguard.run.store import Stored, code_digest, digest_of_stretch
from dataguard.run.timings import Stopwatch
from dataguard.shards.batch import Batch
from dataguard.shards.files import FileState
from dataguard.shards.model import OpenShard, Unit

BLOCK_TOKENS = 1 << 19
"""Tokens that kernels see at once: few enough to stay in a core's cache from one kernel to the next."""


SOURCE = "source"
"""Name of the column of sources, among the numbers of a unit."""


@dataclass(frozen=True)
class Task:
    """What one worker scans.

    Args:
        shard: Place of the shard in the data set.
        opened: The shard.
        unit: A range of its batches.
        roles: {role: column} of the shard.
        metrics: What its columns can give.
        tokens: The column by which batches are cut into blocks.
        source: The source of all its rows, where no column says it; None for none.
        source_column: The column that says each row's source.
        keys: Everything that is wanted, by what it depends on (`keys_of`); None stands for the sources.
        stored: Where numbers of an earlier run lie.
        stretch: Path, state, number and count of the stretch of the file to take the digest of; None for none.
    """

    shard: int
    opened: OpenShard
    unit: Unit
    roles: Mapping[str, str]
    metrics: Sequence[Metric]
    tokens: str
    source: str | None
    source_column: str | None
    keys: Mapping[str, Metric | None]
    stored: Sequence[Stored] = ()
    stretch: tuple[Path, FileState, int, int] | None = None

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
    """What a unit gave: its numbers, or the fault that was found in it.

    Args:
        frames: The numbers of each metric, and the sources, by key (`Task.keys`), all of the unit's rows.
        fresh: The keys whose numbers were computed now.
        digest: Of the stretch of the file that was asked for.
        seconds: What scanning it consisted of, by the name of each part.
    """

    task: Task
    frames: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    fresh: Collection[str] = ()
    digest: bytes | None = None
    fault: ShardFault | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)

    def numbers(self) -> list[pl.Series]:
        """Return the columns of the metric table, named `METRIC.NUMBER`."""
        wanted = self.task.keys.items()
        return [
            column.alias(f"{metric.key}.{column.name}")
            for key, metric in wanted
            if metric is not None
            for column in self.frames[key]
        ]


def scan(task: Task) -> Scanned:
    """Return every wanted number of a unit: what is stored as it is, the rest computed from its rows.

    A fault of the shard is returned, not raised.
    """
    frames: dict[str, pl.DataFrame] = {}
    watch = Stopwatch()
    for stored in task.stored:
        with watch("store"):
            frames.update(stored.load() or {})
    missing = {key: metric for key, metric in task.keys.items() if key not in frames}
    digest = None
    try:
        if missing:
            frames.update(_computed(task, missing, watch))
        if task.stretch is not None:
            with watch("digest"):
                digest = digest_of_stretch(*task.stretch)
    except ShardFault as fault:
        return Scanned(task, fault=fault, seconds=watch.seconds())
    return Scanned(task, frames, frozenset(missing), digest, seconds=watch.seconds())


def _computed(task: Task, wanted: Mapping[str, Metric | None], watch: Stopwatch) -> dict[str, pl.DataFrame]:
    """Read a unit once, and compute what is wanted of every row."""
    metrics = {key: metric for key, metric in wanted.items() if metric is not None}
    table = _Gathered(metrics, watch)
    sources: list[pa.Array] = []
    source_column = task.source_column if None in wanted.values() else None
    rows = 0
    read = task.opened.read(task.unit, _columns(task, metrics.values(), source_column))
    for first, record_batch in watch.each("read", read):
        _demand(first == task.unit.first_row + rows, f"row {task.unit.first_row + rows:,} was expected, {first:,} came")
        rows += record_batch.num_rows
        if source_column is not None:
            sources.append(as_strings(record_batch.column(source_column)))
        names = set(record_batch.schema.names)
        columns = {role: record_batch.column(name) for role, name in task.roles.items() if name in names}
        for _, block in Batch(columns, record_batch.num_rows).blocks(task.tokens, BLOCK_TOKENS):
            table.take(block)
    _demand(rows == task.unit.rows, f"{task.unit.rows:,} rows were announced, {rows:,} were read")
    with watch("tables"):
        frames = table.frames()
    if source_column is not None and task.source_key is not None:
        column = pl.Series(SOURCE, pa.chunked_array(sources, pa.large_string()), dtype=pl.String)
        frames[task.source_key] = column.to_frame()
    return frames


def _columns(task: Task, metrics: Iterable[Metric], source_column: str | None) -> list[str]:
    """Return the names of the columns to read."""
    roles = {role for metric in metrics for role in (*metric.reads(), *metric.may_read())}
    names = {task.roles[role] for role in roles if role in task.roles}
    return sorted(names | ({source_column} if source_column else set()))


def _demand(holds: bool, detail: str) -> None:  # noqa: FBT001  # a condition
    """Refuse rows whose numbers would be wrong."""
    if not holds:
        raise ShardFault("unreadable", detail)


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
                self._parts.setdefault((key, name), []).append(numbers)

    def frames(self) -> dict[str, pl.DataFrame]:
        return {
            key: pl.DataFrame([self._joined(key, name, kind) for name, kind in metric.gives.items()])
            for key, metric in self._metrics.items()
        }

    def _joined(self, key: str, name: str, kind: Any) -> pl.Series:
        parts = self._parts.get((key, name), [])
        if not parts or isinstance(parts[0], pl.Series):
            return pl.concat([pl.Series(name, [], dtype=kind), *(part.alias(name) for part in parts)])  # type: ignore[union-attr]
        return pl.Series(name, np.concatenate(parts)).cast(kind)


def as_strings(column: pa.Array) -> pa.Array:
    """Return a column of sources as strings, nulls where it is null or holds what no name can be made of."""
    try:
        return pc.cast(column, pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(len(column), pa.large_string())
