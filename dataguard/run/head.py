"""The first rows of each shard, for a look that need not take long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from dataguard.run.dataset import Dataset
from dataguard.shards.model import OpenShard, Unit


@dataclass(frozen=True)
class Head:
    """The first rows of a shard; see `OpenShard`. What lies behind them is not read, and therefore not proven.

    Nothing is stored of it between runs: a store takes numbers of whole files.
    """

    whole: OpenShard
    layout: str
    schema: pa.Schema
    rows: int
    units: Sequence[Unit]

    def read(self, unit: Unit, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield (number of the first row, batch) of a unit; see `OpenShard.read`."""
        end = unit.first_row + unit.rows
        for first, batch in self.whole.read(unit, columns):
            yield first, batch if first + batch.num_rows <= end else batch.slice(0, end - first)
            if first + batch.num_rows >= end:
                return


def first_rows(dataset: Dataset, most: int) -> Dataset:
    """Return a data set that ends with the first `most` rows of each shard; shards that are shorter stay whole."""
    opened = (None if each is None else each if each.rows <= most else _head(each, most) for each in dataset.opened)
    manifests = tuple(replace(each, claims=()) for each in dataset.manifests)  # they are about whole shards
    return replace(dataset, opened=tuple(opened), manifests=manifests)


def _head(shard: OpenShard, most: int) -> Head:
    units = [replace(unit, rows=min(unit.rows, most - unit.first_row)) for unit in shard.units if unit.first_row < most]
    return Head(shard, shard.layout, shard.schema, most, units)


def describe_head(dataset: Dataset, most: int | None) -> dict[str, Any]:
    """Return what a report says of it: whether it is partial, by which option, and how many rows nobody read."""
    left_out = sum(each.whole.rows - each.rows for each in dataset.opened if isinstance(each, Head))
    return {"partial": left_out > 0, **({} if most is None else {"head": most, "rows_not_read": left_out})}
