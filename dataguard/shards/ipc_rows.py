"""Some rows of an Arrow IPC shard, without the numbers of the others.

To copy twelve rows of a thousand, Arrow reads the numbers of all. Here a batch's skeleton is read (`ipc_skeleton`), and
then the numbers of the rows that are wanted into their places; those of the others stay zeros.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataguard.shards.files import ShardFile
from dataguard.shards.ipc import IpcShard
from dataguard.shards.ipc_skeleton import Numbers, ends_of, skeleton_of
from dataguard.shards.model import Unit

_FEW = 8
"""A batch is read as a whole where more than one row in so many is wanted."""

Rows = npt.NDArray[np.int64]


def read_rows(shard: IpcShard, unit: Unit, rows: Rows) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield (number of the first row, batch) of a unit as `IpcShard.read` does, in batches of the same rows.

    Args:
        rows: Numbers, in the shard and rising, of the rows that are wanted. The numbers in lists of others may be zeros.

    Raises:
        ShardFault: See `OpenShard.read`.
    """
    first = unit.first_row
    for start, stop in shard.runs(unit):
        count = sum(shard.places.rows[start:stop])
        begin, end = np.searchsorted(rows, [first, first + count])
        batch = None
        if stop == start + 1 and (end - begin) * _FEW <= count:
            batch = _sparse(shard, start, first, rows[begin:end] - first)
        if batch is None:
            yield from shard.read(Unit(first, count, start, stop, 0))
        else:
            yield first, batch
        first += count


def _sparse(shard: IpcShard, number: int, first: int, wanted: Rows) -> pa.RecordBatch | None:
    """Return a batch with some of its rows; None where it must be read as a whole."""
    with ShardFile(shard.path, shard.state) as file:
        skeleton = skeleton_of(shard, file, number, first)
        if skeleton is not None:
            for name, numbers in skeleton.numbers.items():
                _read_numbers(file, skeleton.batch.column(name), numbers, wanted)
        file.check(shard.state)
    return None if skeleton is None else skeleton.batch


def _read_numbers(file: ShardFile, column: pa.Array, numbers: Numbers, wanted: Rows) -> None:
    """Read the numbers of some rows of a column into their places."""
    ends = ends_of(column) * numbers.width
    for start, stop in zip(ends[wanted].tolist(), ends[wanted + 1].tolist(), strict=True):
        file.read_into(numbers.memory[start:stop], numbers.offset + start)
