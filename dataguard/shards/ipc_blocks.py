"""Blocks of rows of an Arrow IPC shard, each small enough to be in a core's cache when kernels see it.

Of a large record batch the skeleton is read first (`ipc_skeleton`), then the numbers of some rows at a time, into memory that
is used again and again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np
import pyarrow as pa

from dataguard.shards.batch import cuts
from dataguard.shards.files import FileState, ShardFile
from dataguard.shards.ipc import IpcShard
from dataguard.shards.ipc_skeleton import Numbers, Skeleton, ends_of, skeleton_of
from dataguard.shards.model import OpenShard, Unit
from dataguard.shards.pieces import PIECE, Pieces, Stretch, Taken, pieces_of
from dataguard.shards.proof import in_file_order
from dataguard.shards.room import LINE, Room

_EIGHT = 8
"""Numbers of a block begin at a multiple of so many, where a byte of their validity begins."""
_ROOM = Room()


def read_blocks(
    shard: IpcShard, unit: Unit, columns: Sequence[str], most: int, digested: tuple[Stretch, Taken] | None = None
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield (number of the first row, batch) of a unit as `IpcShard.read` does, in smaller batches where that can be.

    Of a large batch the numbers in lists of other columns are not read.

    Args:
        columns: Names of the columns to read.
        most: Numbers that a list column of a batch has at most, where it has more than one row.
        digested: A stretch of the file, best that of the unit (`stretches_of`), all of which is read whatever the columns,
            and what is told of each of its pieces, of some only after the last batch.

    Raises:
        ShardFault: See `OpenShard.read`.
    """
    names = in_file_order(shard.schema.names, columns)
    first = unit.first_row
    with ShardFile(shard.path, shard.state) as file:
        pieces = Pieces(file, *digested) if digested else None
        for start, stop in shard.runs(unit):
            count = sum(shard.places.rows[start:stop])
            skeleton = skeleton_of(shard, file, start, first) if stop == start + 1 else None
            if skeleton is None:
                yield from shard.read(Unit(first, count, start, stop, 0), names)
            else:
                yield from _blocks(skeleton, names, first, most, pieces or file)
            first += count
        if pieces is not None:
            pieces.read_rest()
        file.check(shard.state)


def stretches_of(shard: OpenShard, state: FileState) -> list[Stretch]:
    """Return the stretch of its file that goes with each unit: about there it lies; together they are all of it."""
    end = pieces_of(state)
    if isinstance(shard, IpcShard):
        starts = [shard.places.offsets[unit.start] // PIECE for unit in shard.units[1:]]
    else:
        starts = [end * number // len(shard.units) for number in range(1, len(shard.units))]
    bounds = [0, *accumulate(starts, max), end] if shard.units else []
    return [Stretch(start, stop) for start, stop in pairwise(bounds)]


def _blocks(
    skeleton: Skeleton, names: Sequence[str], first: int, most: int, file: Pieces | ShardFile
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield a batch's rows, some at a time, with their numbers."""
    batch = skeleton.batch.select(names)
    if not names:  # a batch that is put together of no columns would have no rows
        yield first, batch
        return
    ends = {name: ends_of(batch.column(name)) for name in names if name in skeleton.numbers}
    for start, stop in cuts([each[1:] - each[0] for each in ends.values()], batch.num_rows, most):
        owned = {name: (int(each[start]), int(each[stop])) for name, each in ends.items()}
        yield first + start, _block(batch.slice(start, stop - start), owned, skeleton.numbers, file)


def _block(
    batch: pa.RecordBatch,
    owned: Mapping[str, tuple[int, int]],
    numbers: Mapping[str, Numbers],
    file: Pieces | ShardFile,
) -> pa.RecordBatch:
    """Return rows with their numbers. owned: which numbers of a column are theirs, from the first to the one behind the last."""
    read = _read(owned, numbers, file)
    columns = [
        _filled(column, read[name], *owned[name]) if name in owned else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    block = pa.RecordBatch.from_arrays(columns, schema=batch.schema)
    block.validate()  # that each buffer is as long as its column says, whatever is wrong above: kernels do not look again
    return block


def _read(
    owned: Mapping[str, tuple[int, int]], numbers: Mapping[str, Numbers], file: Pieces | ShardFile
) -> dict[str, pa.Buffer]:
    """Read the numbers of each column from a multiple of _EIGHT on, each from the beginning of a line of the cache on."""
    places: dict[str, tuple[int, int, int, int]] = {}
    size = 0
    for name, (low, high) in owned.items():
        here = numbers[name]
        begin, end = (here.offset + number * here.width for number in (low - low % _EIGHT, high))
        start, stop = file.span(begin, end)
        size += -(size + begin - start) % LINE
        places[name] = size, start, stop, begin
        size += stop - start
    room = _ROOM.lend(size)
    view = memoryview(room)
    for at, start, stop, _ in places.values():
        file.read_into(view[at : at + stop - start], start)
    return {name: room.slice(at + begin - start) for name, (at, start, _, begin) in places.items()}


def _filled(column: pa.Array, read: pa.Buffer, low: int, high: int) -> pa.Array:
    """Return some rows of a column of lists, with their numbers.

    Args:
        column: The rows, with zeros for numbers.
        read: What was read for them.
        low, high: Which numbers of the whole column are theirs.
    """
    kind, base = column.type, low - low % _EIGHT
    validity = column.values.buffers()[0]
    if validity is not None:
        validity = validity.slice(base // _EIGHT)
    values = pa.Array.from_buffers(kind.value_type, high - base, [validity, read])
    there = (
        pa.py_buffer(np.packbits(column.is_valid().to_numpy(zero_copy_only=False), bitorder="little"))
        if column.null_count
        else None
    )
    if pa.types.is_fixed_size_list(kind):
        return pa.Array.from_buffers(kind, len(column), [there], children=[values.slice(low - base)])
    offsets = column.offsets.to_numpy()
    return pa.Array.from_buffers(
        kind, len(column), [there, pa.py_buffer(offsets - offsets.dtype.type(base))], children=[values]
    )
