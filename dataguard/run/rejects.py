"""Read rejected rows again, from the shards that they stand in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from dataguard.errors import ShardFault
from dataguard.run.damaged import not_copied
from dataguard.run.dataset import Dataset
from dataguard.run.quarantine import Rejected
from dataguard.run.taking import take_rows
from dataguard.shards.ipc import IpcShard
from dataguard.shards.ipc_rows import read_rows
from dataguard.shards.model import OpenShard


def read_rejected(dataset: Dataset, rejected: Path) -> Iterator[Rejected]:
    """Yield the rejected rows of every shard with all their columns, batch by batch, in the order of DATA.

    Args:
        dataset: The shards.
        rejected: rejected.parquet: shard, row, types, reasons; sorted as DATA is.

    Raises:
        OutputError: A shard changed since it was judged.
        FoundLate: A shard is not intact.
    """
    table = pl.scan_parquet(rejected)
    affected = set(table.select(pl.col("shard").unique()).collect(engine="streaming")["shard"])
    for shard, opened in zip(dataset.shards, dataset.opened, strict=True):
        if opened is not None and shard.name in affected:
            rows = table.filter(pl.col("shard") == shard.name).collect(engine="streaming")
            try:
                yield from _of_shard(opened, rows)
            except ShardFault as fault:
                raise not_copied("the quarantine", shard.name, fault) from fault


def _of_shard(opened: OpenShard, rejected: pl.DataFrame) -> Iterator[Rejected]:
    rows = rejected["row"].to_numpy()
    for unit in opened.units:
        if not _within(rows, unit.first_row, unit.rows).any():
            continue
        batches = read_rows(opened, unit, rows) if isinstance(opened, IpcShard) else opened.read(unit)
        for first, batch in batches:
            here = np.flatnonzero(_within(rows, first, batch.num_rows))
            if here.size:
                part = rejected[here]
                yield Rejected(
                    schema=opened.schema,
                    shard=part["shard"][0],
                    batch=take_rows(batch, (rows[here] - first).tolist()),
                    rows=rows[here].tolist(),
                    expectations=part["types"].to_list(),
                    reasons=part["reasons"].to_list(),
                )


def _within(rows: np.ndarray, first: int, count: int) -> np.ndarray:
    return (rows >= first) & (rows < first + count)
