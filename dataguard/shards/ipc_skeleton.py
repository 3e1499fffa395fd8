"""A record batch of an Arrow IPC shard without the numbers in its lists: its skeleton.

A batch's message is laid out in memory that is all zeros, and only what says how rows lie (offsets, validity), all text, and
single numbers are read into their places. Arrow then reads the whole batch, and it is proven as every other: what the proof
looks at has been read. The numbers in lists are zeros, in pages that are never touched; where they stand in the file is
known.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc

from dataguard.shards.files import ShardFile
from dataguard.shards.flatbuffer import Malformed, Table
from dataguard.shards.ipc import IpcShard, options
from dataguard.shards.messages import END_MARKER, message_at
from dataguard.shards.proof import faults, prove

_BUFFER = struct.Struct("<qq")


@dataclass(frozen=True)
class Numbers:
    """Where the numbers in a column's lists stand.

    Args:
        offset: Byte of the file at which the first of them begins.
        memory: The zeros in their place.
        width: Bytes of each.
    """

    offset: int
    memory: memoryview
    width: int


@dataclass(frozen=True)
class Skeleton:
    """A batch with zeros for the numbers in its lists.

    Args:
        batch: All its columns, proven.
        numbers: Of each column of lists, by its name.
    """

    batch: pa.RecordBatch
    numbers: Mapping[str, Numbers]


def skeleton_of(shard: IpcShard, file: ShardFile, number: int, first_row: int) -> Skeleton | None:
    """Return a batch's skeleton; None where it is laid out otherwise than what is known here.

    It must then be read as a whole, and Arrow says what is wrong, if anything is.

    Args:
        file: The shard's, open.
        number: Of the batch.
        first_row: Of the batch, for the finding.

    Raises:
        ShardFault: The batch cannot be trusted.
    """
    if shard.places.dictionaries or not all(_is_known(field.type) for field in shard.schema):
        return None
    offset, size = shard.places.offsets[number], shard.places.sizes[number]
    before = len(shard.schema_message)
    message = message_at(file, offset, limit=file.size, legacy=True)
    head = message.prefix + message.metadata
    try:
        laid_out = mmap.mmap(-1, before + size + len(END_MARKER))
        view = memoryview(laid_out)
        view[:before] = shard.schema_message
        file.read_into(view[before : before + head], offset)
        view[before + size :] = END_MARKER
        body = _Body(file, offset + head, view[before + head : before + size])
        numbers = _fill(body, _buffers(bytes(view[before + message.prefix : before + head])), shard.schema)
    except (_Unknown, Malformed, OSError):
        return None
    rows = shard.places.rows[number]
    what = f"batch {number} (rows {first_row:,} to {first_row + rows - 1:,}, at byte {offset:,})"
    memory = pa.py_buffer(laid_out)
    with faults(what):
        batch = ipc.open_stream(pa.BufferReader(memory), options=options()).read_next_batch()
    prove(batch, what)
    if batch.num_rows != rows or not all(_is_shown(batch.column(name), each) for name, each in numbers.items()):
        return None
    return Skeleton(batch, numbers)


class _Unknown(Exception):
    """A batch is laid out otherwise than what is known here."""


@dataclass
class _Body:
    """The body of a message: where it stands in the file, and the zeros that it is read into."""

    file: ShardFile
    offset: int
    view: memoryview

    def place(self, start: int, length: int) -> memoryview:
        """Return the place of some bytes of it."""
        if not 0 <= start <= start + length <= len(self.view):
            raise _Unknown
        return self.view[start : start + length]

    def read(self, start: int, length: int) -> None:
        """Read some bytes of it into their place."""
        self.file.read_into(self.place(start, length), self.offset + start)


def _is_known(kind: pa.DataType) -> bool:
    """Whether a column's buffers are what `_column` takes them for."""
    if is_laid_out(kind):
        return bool(pa.types.is_integer(kind.value_type) or pa.types.is_floating(kind.value_type))
    return bool(pa.types.is_primitive(kind)) or _has_offsets(kind)


def is_laid_out(kind: pa.DataType) -> bool:
    """Whether a column has lists whose numbers stand one behind the other."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _has_offsets(kind: pa.DataType) -> bool:
    small = pa.types.is_string(kind) or pa.types.is_binary(kind)
    return bool(small or pa.types.is_large_string(kind) or pa.types.is_large_binary(kind))


def _buffers(metadata: bytes) -> Iterator[tuple[int, int]]:
    """Return (start, bytes) of each buffer of a record batch, in the body."""
    header = Table.root(metadata).table(2)
    if header is None or header.table(3) is not None:  # compressed
        raise _Unknown
    return iter([(start, length) for start, length in header.structs(2, _BUFFER)])


def _fill(body: _Body, buffers: Iterator[tuple[int, int]], schema: pa.Schema) -> dict[str, Numbers]:
    """Read every column but the numbers in lists; return where those stand."""
    numbers: dict[str, Numbers] = {}
    for field in schema:
        kind = field.type
        _whole(body, buffers)  # validity
        if not is_laid_out(kind):
            _whole(body, buffers)
            if _has_offsets(kind):
                _whole(body, buffers)
            continue
        if not pa.types.is_fixed_size_list(kind):
            _whole(body, buffers)  # offsets
        _whole(body, buffers)  # validity of the numbers
        start, length = _next(buffers)
        numbers[field.name] = Numbers(body.offset + start, body.place(start, length), kind.value_type.bit_width // 8)
    return numbers


def _whole(body: _Body, buffers: Iterator[tuple[int, int]]) -> None:
    body.read(*_next(buffers))


def _next(buffers: Iterator[tuple[int, int]]) -> tuple[int, int]:
    found = next(buffers, None)
    if found is None or found[1] < 0:
        raise _Unknown
    return found


def _is_shown(column: pa.Array, numbers: Numbers) -> bool:
    """Whether a column's numbers are those of the place that they were found at, and no copy of them (for alignment)."""
    values = column.values
    return not len(values) or values.buffers()[1].address == pa.py_buffer(numbers.memory).address


def ends_of(column: pa.Array) -> npt.NDArray[np.int64]:
    """Return where the first row's numbers begin in a whole column of lists, and where each row's end. Shape (R + 1,)."""
    if not len(column):
        return np.zeros(1, np.int64)
    if pa.types.is_fixed_size_list(column.type):
        fixed: npt.NDArray[np.int64] = np.arange(len(column) + 1, dtype=np.int64) * column.type.list_size
        return fixed
    return np.asarray(column.offsets.to_numpy(), np.int64)
