"""Read rejected rows again, from the shards that they stand in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataguard.errors import ShardFault
from dataguard.run.damaged import not_copied
from dataguard.run.dataset import Dataset
from dataguard.run.listed import Listed
from dataguard.run.quarantine import Rejected
from dataguard.run.taking import take_rows
from dataguard.shards.ipc import IpcShard
from dataguard.shards.ipc_rows import read_rows
from dataguard.shards.model import OpenShard, Unit

TEXTS = ("types", "reasons")


def read_rejected(dataset: Dataset, rejected: Path) -> Iterator[Rejected]:
    """Yield the rejected rows of every shard with all their columns, batch by batch, in the order of DATA.

    Args:
        dataset: The shards.
        rejected: rejected.parquet: shard, row, types, reasons; sorted as DATA is.

    Raises:
        OutputError: A shard changed since it was judged.
        FoundLate: A shard is not intact.
    """
    with Listed(rejected, TEXTS) as listed:
        for shard, opened in zip(dataset.shards, dataset.opened, strict=True):
            if opened is not None and listed.shard == shard.name:
                try:
                    yield from _of_shard(shard.name, opened, listed)
                except ShardFault as fault:
                    raise not_copied("the quarantine", shard.name, fault) from fault
            listed.skip(shard.name)


def _of_shard(name: str, opened: OpenShard, listed: Listed) -> Iterator[Rejected]:
    for unit in opened.units:
        wanted = listed.take(name, unit.first_row + unit.rows)
        if wanted is None:
            continue
        for first, batch in batches_with(opened, unit, wanted.rows):
            begin, end = np.searchsorted(wanted.rows, [first, first + batch.num_rows])
            if begin < end:
                here = wanted.slice(begin, end)
                yield Rejected(
                    schema=opened.schema,
                    shard=name,
                    batch=take_rows(batch, here.rows - first),
                    rows=here.rows,
                    expectations=here.texts[0],
                    reasons=here.texts[1],
                )


def batches_with(opened: OpenShard, unit: Unit, rows: npt.NDArray[np.int64]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield (number of the first row, batch) of a unit; of rows that are not wanted the numbers may be zeros."""
    return read_rows(opened, unit, rows) if isinstance(opened, IpcShard) else opened.read(unit)
