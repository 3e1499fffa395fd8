"""Tables that are in memory already: pyarrow's, Polars', and those of `datasets`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dataguard.shards.model import Shard, Unit
from dataguard.shards.nbytes import nbytes_of
from dataguard.shards.proof import UNIT_BYTES, check_schema, in_file_order, prove, units_of

LAYOUT = "table"
_BATCH_BYTES = 8 << 20


def shards_of(data: object) -> list[Shard] | None:
    """Return a table in memory as shards; None where it is none that is known.

    A pyarrow Table or RecordBatch, a Polars DataFrame or LazyFrame and a datasets.Dataset are one shard, called `table`; a
    datasets.DatasetDict is one for each split, with the split's name. All columns are taken, whatever a Dataset's format
    hides; its indices (after shuffle or select) are applied, which copies the rows. Neither Polars nor datasets is
    imported.
    """
    if _is(data, "datasets", "DatasetDict"):
        splits: dict[str, Any] = dict(data)  # type: ignore[call-overload]  # it is a dict
        return [Shard(str(name), split=str(name), table=_table(part)) for name, part in splits.items()]
    table = _table(data)
    return None if table is None else [Shard(LAYOUT, table=table)]


def _table(data: Any) -> pa.Table | None:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if _is(data, "polars", "LazyFrame"):
        data = data.collect(engine="streaming")
    if _is(data, "polars", "DataFrame"):
        return data.to_arrow()
    if _is(data, "datasets", "Dataset"):
        return data.with_format("arrow")[:]
    return None


def _is(data: object, package: str, name: str) -> bool:
    """Whether an object is of a class of another package, or derives from one, without importing that package."""
    return any(kind.__name__ == name and kind.__module__.split(".")[0] == package for kind in type(data).__mro__)


@dataclass(frozen=True)
class TableShard:
    """A table in memory; see `OpenShard`. It was proven when it was opened, and cannot change after that.

    Args:
        batches: Slices of the table's own batches, each of some megabytes.
    """

    schema: pa.Schema
    rows: int
    units: Sequence[Unit]
    batches: Sequence[pa.RecordBatch]
    layout: str = LAYOUT

    def read(self, unit: Unit, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield (number of the first row, batch) of a unit; see `OpenShard.read`."""
        names = in_file_order(self.schema.names, columns)
        first_row = unit.first_row
        for batch in self.batches[unit.start : unit.stop]:
            yield first_row, batch.select(names)
            first_row += batch.num_rows


def open_table(table: pa.Table) -> TableShard:
    """Return a table in memory, proven.

    Raises:
        ShardFault: `corrupt`: offsets or lengths are wrong; `duplicate_column`.
    """
    check_schema(table.schema)
    slices: list[pa.RecordBatch] = []
    for number, batch in enumerate(table.to_batches()):
        prove(batch, f"batch {number}")
        rows = max(1, batch.num_rows * _BATCH_BYTES // max(nbytes_of(batch), 1))
        slices += [batch.slice(start, rows) for start in range(0, batch.num_rows, rows)]
    units = units_of(((each.num_rows, nbytes_of(each)) for each in slices), UNIT_BYTES)
    return TableShard(table.schema, table.num_rows, units, slices)
