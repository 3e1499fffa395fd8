"""Files that are written as another one was: Arrow IPC or Parquet, in the same form."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import xxhash
from pyarrow import ipc, parquet

from dataguard.run.sink import Sink
from dataguard.shards.form import IpcForm, ParquetForm
from dataguard.shards.nbytes import nbytes_of

GROUP_BYTES = 64 << 20
"""A row group is collected in memory: one that is larger than this becomes several."""


class Copy(Protocol):
    """A file that grows batch by batch."""

    sink: Sink

    def write(self, batch: pa.RecordBatch, *, ends_group: bool) -> None:
        """Append rows; `ends_group` where a record batch or row group of the original ends with them."""

    def end(self) -> None:
        """Write what belongs at the end, and close the file."""

    def abandon(self) -> None:
        """Let go of the file, as it is."""


def copy_to(path: Path, schema: pa.Schema, form: IpcForm | ParquetForm, digest: xxhash.xxh3_64) -> Copy:
    """Return a file to write rows to.

    Args:
        path: The file to make.
        schema: Of the rows that will come.
        form: Of the original.
        digest: Takes in what is written.
    """
    sink = Sink(path, digest)
    try:
        return IpcCopy(sink, schema, form) if isinstance(form, IpcForm) else ParquetCopy(sink, schema, form)
    except BaseException:
        sink.close()
        raise


class IpcCopy:
    """An Arrow IPC stream or file."""

    def __init__(self, sink: Sink, schema: pa.Schema, form: IpcForm) -> None:
        self.sink, self._schema = sink, schema
        options = ipc.IpcWriteOptions(compression=form.codec, emit_dictionary_deltas=form.is_file)
        target = pa.PythonFile(sink, mode="w")
        if not form.is_file:
            self._writer = ipc.new_stream(target, schema, options=options)
        else:
            more: dict[str, Any] = {"metadata": dict(form.metadata)} if form.metadata else {}
            self._writer = ipc.new_file(target, schema, options=options, **more)

    def write(self, batch: pa.RecordBatch, *, ends_group: bool) -> None:
        if batch.num_rows:
            # Types that are equal to Arrow may still name the items of a list differently.
            self._writer.write_batch(pa.record_batch(batch.columns, schema=self._schema))

    def end(self) -> None:
        try:
            self._writer.close()
        finally:
            self.sink.close()

    def abandon(self) -> None:
        self.sink.abandon()


class ParquetCopy:
    """A Parquet file, whose row groups end where those of the original do."""

    def __init__(self, sink: Sink, schema: pa.Schema, form: ParquetForm) -> None:
        self.sink, self._schema = sink, schema
        self._waiting: list[pa.RecordBatch] = []
        self._bytes = 0
        self._writer = parquet.ParquetWriter(sink, schema, **form.options)

    def write(self, batch: pa.RecordBatch, *, ends_group: bool) -> None:
        if batch.num_rows:
            self._waiting.append(pa.record_batch(batch.columns, schema=self._schema))
            self._bytes += nbytes_of(batch)
        if self._waiting and (ends_group or self._bytes >= GROUP_BYTES):
            table = pa.Table.from_batches(self._waiting, self._schema)
            self._writer.write_table(table, row_group_size=table.num_rows)
            self._waiting, self._bytes = [], 0

    def end(self) -> None:
        try:
            self._writer.close()
        finally:
            self.sink.close()

    def abandon(self) -> None:
        self._waiting = []
        if self._writer.is_open:
            with suppress(Exception):  # of a disk that is full: closing is all that a writer can be asked to do
                self._writer.close()
            self._writer.is_open = False
        self.sink.abandon()
