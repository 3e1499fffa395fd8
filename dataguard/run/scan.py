"""Scan one unit of a shard: read its batches, and compute every planned metric for every row.

A unit knows nothing of the others, so that any engine may run it anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from dataguard.errors import ShardFault
from dataguard.metrics.base import Metric
from dataguard.shards.batch import Batch
from dataguard.shards.model import OpenShard, Unit

BLOCK_TOKENS = 1 << 17
"""Tokens that kernels see at once: few enough to stay in a core's cache from one kernel to the next."""


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
    """

    shard: int
    opened: OpenShard
    unit: Unit
    roles: Mapping[str, str]
    metrics: Sequence[Metric]
    tokens: str
    source: str | None
    source_column: str | None

    @property
    def columns(self) -> list[str]:
        """Names of the columns to read."""
        roles = {role for metric in self.metrics for role in (*metric.reads(), *metric.may_read())}
        names = {self.roles[role] for role in roles if role in self.roles}
        return sorted(names | ({self.source_column} if self.source_column else set()))


@dataclass(frozen=True)
class Scanned:
    """What a unit gave: its part of the metric table, or the fault that was found in it.

    Args:
        frame: `row`, `source` (place in `sources`, or null) and the metrics' numbers.
        sources: Names of the sources of these rows.
        tokens: How many the rows hold.
    """

    task: Task
    frame: pl.DataFrame = field(default_factory=pl.DataFrame)
    sources: Sequence[str] = ()
    tokens: int = 0
    fault: ShardFault | None = None


def scan(task: Task) -> Scanned:
    """Compute the planned numbers for every row of a unit. A fault of the shard is returned, not raised."""
    table = _Gathered()
    sources = _Sources(task)
    tokens = rows = 0
    try:
        for first, record_batch in task.opened.read(task.unit, task.columns):
            _demand(
                first == task.unit.first_row + rows, f"row {task.unit.first_row + rows:,} was expected, {first:,} came"
            )
            rows += record_batch.num_rows
            sources.take(record_batch)
            names = set(record_batch.schema.names)
            columns = {role: record_batch.column(name) for role, name in task.roles.items() if name in names}
            batch = Batch(columns, record_batch.num_rows)
            for _, block in batch.blocks(task.tokens, BLOCK_TOKENS):
                for metric in task.metrics:
                    table.take(metric, block)
                if block.has(task.tokens):
                    tokens += _tokens(block, task)
        _demand(rows == task.unit.rows, f"{task.unit.rows:,} rows were announced, {rows:,} were read")
    except ShardFault as fault:
        return Scanned(task, fault=fault)
    numbers = pl.DataFrame(
        [
            pl.Series("row", np.arange(task.unit.first_row, task.unit.first_row + rows), dtype=pl.Int64),
            sources.series(rows),
            *table.series(task.metrics),
        ]
    )
    return Scanned(task, numbers, sources.names, tokens)


def _demand(holds: bool, detail: str) -> None:  # noqa: FBT001  # a condition
    """Refuse rows whose numbers would be wrong."""
    if not holds:
        raise ShardFault("unreadable", detail)


def _tokens(block: Batch, task: Task) -> int:
    readable = any(task.tokens in metric.reads() for metric in task.metrics)
    return int(block.column(task.tokens).offsets[-1]) if readable else 0


class _Gathered:
    """Columns of the metric table, block by block; they become Polars columns once a unit."""

    def __init__(self) -> None:
        self._parts: dict[str, list[npt.NDArray[Any] | pl.Series]] = {}

    def take(self, metric: Metric, block: Batch) -> None:
        for name, numbers in metric.compute(block).items():
            self._parts.setdefault(f"{metric.key}.{name}", []).append(numbers)

    def series(self, metrics: Sequence[Metric]) -> list[pl.Series]:
        return [self._join(f"{metric.key}.{name}", kind) for metric in metrics for name, kind in metric.gives.items()]

    def _join(self, name: str, kind: Any) -> pl.Series:
        parts = self._parts.get(name, [])
        if not parts or isinstance(parts[0], pl.Series):
            return pl.concat([pl.Series(name, [], dtype=kind), *(part.alias(name) for part in parts)])  # type: ignore[union-attr]
        return pl.Series(name, np.concatenate(parts)).cast(kind)


class _Sources:
    """The source of each row of a unit, as places in a list of names."""

    def __init__(self, task: Task) -> None:
        self._column = task.source_column
        self.names: list[str] = [task.source] if task.source is not None and not task.source_column else []
        self._places: dict[str, int] = {}
        self._parts: list[npt.NDArray[np.int32]] = []

    def take(self, batch: pa.RecordBatch) -> None:
        if self._column is None:
            return
        encoded = as_strings(batch.column(self._column)).dictionary_encode()
        names = encoded.dictionary.to_pylist()
        for name in names:
            if name not in self._places:
                self._places[name] = len(self.names)
                self.names.append(name)
        places = np.array([self._places[name] for name in names] + [-1], np.int32)
        self._parts.append(places[encoded.indices.fill_null(len(names)).to_numpy(zero_copy_only=False)])

    def series(self, rows: int) -> pl.Series:
        if self._column is None:
            place = 0 if self.names else None
            return pl.Series("source", [place], dtype=pl.Int32).new_from_index(0, rows)
        places = np.concatenate(self._parts) if self._parts else np.zeros(0, np.int32)
        return pl.Series("source", places).replace(-1, None)


def as_strings(column: pa.Array) -> pa.Array:
    """Return a column of sources as strings, nulls where it is null or holds what no name can be made of."""
    try:
        return pc.cast(column, pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(len(column), pa.large_string())
