"""Some rows of an Arrow IPC shard, without the numbers of the others.

To copy twelve rows of a thousand, Arrow reads the numbers of all. Here a batch's message is laid out in memory that is all
zeros, and only what is needed is read into its place: everything that says how rows lie (offsets, validity), all text, and
the numbers of the rows that are wanted. Arrow then reads the whole batch, and it is proven as every other: what the proof
looks at has been read. The numbers of the other rows are zeros, in pages that are never touched.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc

from dataguard.shards.files import ShardFile
from dataguard.shards.flatbuffer import Malformed, Table
from dataguard.shards.ipc import IpcShard, options
from dataguard.shards.messages import END_MARKER, message_at
from dataguard.shards.model import Unit
from dataguard.shards.proof import faults, prove

_BUFFER = struct.Struct("<qq")
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


class _Unknown(Exception):
    """A batch is laid out otherwise than what is known here: it is read as a whole, and Arrow says what is wrong."""


def _sparse(shard: IpcShard, number: int, first: int, wanted: Rows) -> pa.RecordBatch | None:
    """Return a batch with some of its rows; None where it must be read as a whole."""
    if shard.places.dictionaries or not all(_is_known(field.type) for field in shard.schema):
        return None
    offset, size = shard.places.offsets[number], shard.places.sizes[number]
    before = len(shard.schema_message)
    with ShardFile(shard.path, shard.state) as file:
        message = message_at(file, offset, limit=file.size, legacy=True)
        head = message.prefix + message.metadata
        try:
            laid_out = mmap.mmap(-1, before + size + len(END_MARKER))
            view = memoryview(laid_out)
            view[:before] = shard.schema_message
            file.read_into(view[before : before + head], offset)
            view[before + size :] = END_MARKER
            body = _Body(file, offset + head, view[before + head : before + size])
            _fill(body, _buffers(bytes(view[before + message.prefix : before + head])), shard.schema, wanted)
        except (_Unknown, Malformed, OSError):
            return None
        file.check(shard.state)
    rows = shard.places.rows[number]
    what = f"batch {number} (rows {first:,} to {first + rows - 1:,}, at byte {offset:,})"
    with faults(what):
        batch = ipc.open_stream(pa.BufferReader(pa.py_buffer(laid_out)), options=options()).read_next_batch()
    prove(batch, what)
    return batch if batch.num_rows == rows else None


@dataclass
class _Body:
    """The body of a message: where it stands in the file, and the zeros that it is read into."""

    file: ShardFile
    offset: int
    view: memoryview

    def read(self, start: int, stop: int) -> memoryview:
        """Read some bytes of it into their place, and return them."""
        if not 0 <= start <= stop <= len(self.view):
            raise _Unknown
        part = self.view[start:stop]
        self.file.read_into(part, self.offset + start)
        return part


def _is_known(kind: pa.DataType) -> bool:
    """Whether a column's buffers are what `_column` takes them for."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _is_plain(kind.value_type)
    return bool(pa.types.is_primitive(kind)) or _has_offsets(kind)


def _is_plain(kind: pa.DataType) -> bool:
    """Whether each value is a number of some whole bytes."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _has_offsets(kind: pa.DataType) -> bool:
    small = pa.types.is_string(kind) or pa.types.is_binary(kind)
    return bool(small or pa.types.is_large_string(kind) or pa.types.is_large_binary(kind))


def _buffers(metadata: bytes) -> Iterator[tuple[int, int]]:
    """Return (start, bytes) of each buffer of a record batch, in the body."""
    header = Table.root(metadata).table(2)
    if header is None or header.table(3) is not None:  # compressed
        raise _Unknown
    return iter([(start, length) for start, length in header.structs(2, _BUFFER)])


def _fill(body: _Body, buffers: Iterator[tuple[int, int]], schema: pa.Schema, wanted: Rows) -> None:
    """Read what is needed of every column.

    Args:
        wanted: Numbers in the batch of the rows whose numbers are wanted.
    """
    for field in schema:
        _column(body, buffers, field.type, wanted)


def _column(body: _Body, buffers: Iterator[tuple[int, int]], kind: pa.DataType, wanted: Rows) -> None:
    _whole(body, buffers)  # validity
    if pa.types.is_fixed_size_list(kind):
        ends: Sequence[Rows] = (wanted * kind.list_size, (wanted + 1) * kind.list_size)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        offsets = _offsets(_whole(body, buffers), 8 if pa.types.is_large_list(kind) else 4)
        if wanted.size and wanted[-1] + 1 >= offsets.size:
            raise _Unknown
        ends = (offsets[wanted], offsets[wanted + 1])
    else:
        _whole(body, buffers)
        if _has_offsets(kind):
            _whole(body, buffers)
        return
    _whole(body, buffers)  # validity of the values
    start, length = _next(buffers)
    width = kind.value_type.bit_width // 8
    for begin, end in zip(*(each.tolist() for each in ends), strict=True):
        if not 0 <= begin * width <= end * width <= length:
            raise _Unknown
        body.read(start + begin * width, start + end * width)


def _offsets(content: memoryview, width: int) -> Rows:
    if len(content) % width:
        raise _Unknown
    return np.frombuffer(bytes(content), f"<i{width}").astype(np.int64)


def _whole(body: _Body, buffers: Iterator[tuple[int, int]]) -> memoryview:
    start, length = _next(buffers)
    return body.read(start, start + length)


def _next(buffers: Iterator[tuple[int, int]]) -> tuple[int, int]:
    found = next(buffers, None)
    if found is None or found[1] < 0:
        raise _Unknown
    return found
