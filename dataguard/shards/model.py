"""What a shard is, and what every layout offers: proven record batches with the rows' numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa


@dataclass(frozen=True)
class Shard:
    """One file (or table in memory) of tokenized rows, not opened yet.

    Args:
        name: The path inside DATA, with `/`; what reports call it.
        path: Where it lies; None for a table in memory.
        folder: The first folder below DATA, where there is one.
        split: The split of a DatasetDict (or of an HF dataset's state.json) that it belongs to.
        table: The rows, for data in memory.
        is_named: DATA names the file itself: it is judged whatever it holds.
    """

    name: str
    path: Path | None = None
    folder: str | None = None
    split: str | None = None
    table: pa.Table | None = None
    is_named: bool = False


@dataclass(frozen=True)
class Unit:
    """A range of a shard's batches (or row groups): what one worker scans.

    Args:
        first_row: Number of the unit's first row in its shard.
        rows: How many rows it has.
        start: Its first batch or row group.
        stop: The batch or row group behind its last.
        size: Bytes in the file, or in memory, about.
    """

    first_row: int
    rows: int
    start: int
    stop: int
    size: int


class OpenShard(Protocol):
    """A shard whose outer structure has been proven (magic, lengths, footer), ready to be read."""

    @property
    def layout(self) -> str:
        """For people: `Arrow IPC stream`, `Arrow IPC file`, `Parquet`, `table`."""

    @property
    def schema(self) -> pa.Schema:
        """The columns as they stand in the file."""

    @property
    def rows(self) -> int:
        """How many rows it has."""

    @property
    def units(self) -> Sequence[Unit]:
        """In file order, without gaps, covering all rows."""

    def read(self, unit: Unit, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield (number of the batch's first row in the shard, batch), each batch proven by `validate(full=True)`.

        Args:
            unit: One of `units`.
            columns: Names of the columns to read; None for all. Order and types are the file's.

        Raises:
            ShardFault: The shard cannot be trusted, or changed since it was opened.
        """
        ...
