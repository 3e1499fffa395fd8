"""Arrow IPC, streams and files alike: messages at known places, read batch by batch into buffers of known size.

Arrow's own readers take a whole stream in order, and hold a file open or mapped. Here the places of all messages are found
first, without reading a body; then any batch is read by itself: its schema, its dictionaries and its own message are
copied into one buffer as a little stream, which Arrow reads without another copy.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
from pyarrow import ipc

from dataguard.shards.files import FileState, ShardFile
from dataguard.shards.messages import END_MARKER, Message, MessageKind, refuse_lying_sizes
from dataguard.shards.model import Unit
from dataguard.shards.proof import check_schema, faults, in_file_order, prove, units_of
from dataguard.shards.sniffing import Kind

_JOINED_BYTES = 2 << 20
"""Batches smaller than this are read together and joined: some producers write one for each document."""


@dataclass
class Places:
    """Where a shard's messages stand; numbers in arrays, since there may be a million batches.

    Args:
        dictionaries: In the order in which they are to be read, each with the number of the first batch that sees it.
    """

    offsets: array[int] = field(default_factory=lambda: array("q"))
    sizes: array[int] = field(default_factory=lambda: array("q"))
    rows: array[int] = field(default_factory=lambda: array("q"))
    dictionaries: list[Message] = field(default_factory=list)
    seen_from: list[int] = field(default_factory=list)

    def add(self, message: Message) -> None:
        """Take note of the next dictionary or batch, in file order."""
        if message.kind is MessageKind.DICTIONARY:
            self.dictionaries.append(message)
            self.seen_from.append(len(self.offsets))
        else:
            self.offsets.append(message.offset)
            self.sizes.append(message.size)
            self.rows.append(message.rows)

    def needed(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yield (offset, size) of the messages that make batches start to stop readable, in the order to read them."""
        ahead = bisect_right(self.seen_from, start)
        latest: dict[int, int] = {}
        for number, message in enumerate(self.dictionaries[:ahead]):
            if not message.is_delta:
                latest[message.dictionary] = number
        for number, message in enumerate(self.dictionaries[:ahead]):
            if number >= latest.get(message.dictionary, 0):
                yield message.offset, message.size
        for batch in range(start, stop):
            while batch > start and ahead < len(self.seen_from) and self.seen_from[ahead] <= batch:
                yield self.dictionaries[ahead].offset, self.dictionaries[ahead].size
                ahead += 1
            yield self.offsets[batch], self.sizes[batch]


@dataclass(frozen=True)
class IpcShard:
    """A shard in Arrow IPC; see `OpenShard`. It holds no file open, and can be sent to another process."""

    path: Path
    state: FileState
    layout: str
    schema: pa.Schema
    rows: int
    units: Sequence[Unit]
    places: Places
    schema_message: bytes = field(repr=False)

    def read(self, unit: Unit, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield (number of the first row, batch) of a unit; see `OpenShard.read`."""
        yield from self._batches(unit, in_file_order(self.schema.names, columns), _joined)

    def read_apart(self, unit: Unit) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield the same with all columns, but each record batch of the file by itself, however small."""
        yield from self._batches(unit, self.schema.names, list)

    def _batches(
        self, unit: Unit, names: list[str], put_together: Callable[[list[pa.RecordBatch]], list[pa.RecordBatch]]
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        first_row = unit.first_row
        with ShardFile(self.path, self.state) as file:
            for start, stop in self.runs(unit):
                for batch in put_together(self._read(file, start, stop, first_row, names)):
                    yield first_row, batch
                    first_row += batch.num_rows
            file.check(self.state)

    def runs(self, unit: Unit) -> Iterator[tuple[int, int]]:
        """Yield the runs of batches that are read at once: one large batch, or many small ones."""
        start, size = unit.start, 0
        for batch in range(unit.start, unit.stop):
            if batch > start and size + self.places.sizes[batch] > _JOINED_BYTES:
                yield start, batch
                start, size = batch, 0
            size += self.places.sizes[batch]
        yield start, unit.stop

    def _read(self, file: ShardFile, start: int, stop: int, first_row: int, names: list[str]) -> list[pa.RecordBatch]:
        stream = self._stream(file, start, stop)
        reading = options()  # all columns: their bytes have been read, and a shard is intact as a whole or not at all
        batches = []
        row = first_row
        reader = None
        for number in range(start, stop):
            rows = f"rows {row:,} to {row + self.places.rows[number] - 1:,}"
            what = f"batch {number} ({rows}, at byte {self.places.offsets[number]:,})"
            with faults(what):
                reader = reader or ipc.open_stream(pa.BufferReader(stream), options=reading)
                batch = reader.read_next_batch()
            prove(batch, what)
            batches.append(batch.select(names))
            row += batch.num_rows
        return batches

    def _stream(self, file: ShardFile, start: int, stop: int) -> pa.Buffer:
        """Return a stream of some batches alone, in one buffer."""
        messages = list(self.places.needed(start, stop))
        size = len(self.schema_message) + sum(size for _, size in messages) + len(END_MARKER)
        with faults(f"batches {start} to {stop - 1}, {size:,} bytes"):
            buffer = pa.allocate_buffer(size)
        view = memoryview(buffer).cast("B")
        at = len(self.schema_message)
        view[:at] = self.schema_message
        for offset, length in messages:
            message = view[at : at + length]
            file.read_into(message, offset)
            refuse_lying_sizes(message, offset)
            at += length
        view[at:] = END_MARKER
        return buffer


def options() -> ipc.IpcReadOptions:
    """Return options that copy what is not aligned, since kernels are compiled for aligned numbers alone."""
    if hasattr(ipc, "Alignment"):
        return ipc.IpcReadOptions(ensure_alignment=ipc.Alignment.DataTypeSpecific)
    return ipc.IpcReadOptions()


def _joined(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    if len(batches) < 2 or not batches[0].num_columns:
        return batches
    try:
        joined: list[pa.RecordBatch] = pa.Table.from_batches(batches).combine_chunks().to_batches()
    except pa.ArrowException:  # a type that Arrow cannot join
        return batches
    return joined if sum(batch.num_rows for batch in joined) == sum(batch.num_rows for batch in batches) else batches


@lru_cache(maxsize=64)
def _schema_of(message: bytes) -> tuple[pa.Schema, bytes]:
    """Return a schema, checked, and its message: the same objects for all shards that begin alike."""
    schema = ipc.read_schema(pa.py_buffer(message))
    check_schema(schema)
    return schema, message


def opened(path: Path, state: FileState, kind: Kind, places: Places, schema_message: bytes) -> IpcShard:
    """Return the shard, now that the places of its messages are known.

    Raises:
        ShardFault: `corrupt`, `unsupported_layout`: Arrow does not accept the schema; `duplicate_column`.
    """
    with faults("the schema"):
        schema, schema_message = _schema_of(schema_message)
    units = units_of(zip(places.rows, places.sizes, strict=True))
    return IpcShard(path, state, kind.value, schema, sum(places.rows), units, places, schema_message)
