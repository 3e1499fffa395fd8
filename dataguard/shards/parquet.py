"""Parquet, row group by row group, in batches of a few megabytes.

Arrow decodes pages; before it does, the footer's length and the place of every column chunk are checked against the file.
Pages are read one by one (`buffer_size`), not a whole column chunk at once, and their checksums are verified where there
are any.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from dataguard.errors import ShardFault
from dataguard.shards.files import FileState, ShardFile
from dataguard.shards.model import Unit
from dataguard.shards.proof import faults, in_file_order, prove, unique_names, units_of
from dataguard.shards.sniffing import Kind

_MAGIC = b"PAR1"
_TAIL = 8
"""Bytes of the footer's length and the magic at the end."""
_BATCH_BYTES = 8 << 20
_BUFFER_BYTES = 1 << 20
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "FLOAT": 4, "DOUBLE": 8}
_OTHER_WIDTH = 16


@dataclass
class ParquetShard:
    """A shard in Parquet; see `OpenShard`. It holds no file open, and can be sent to another process.

    Args:
        batch_rows: Rows of a batch, for each row group.
        footer: Bytes of the footer.
    """

    path: Path
    state: FileState
    schema: pa.Schema
    rows: int
    units: Sequence[Unit]
    batch_rows: Sequence[int]
    footer: int
    layout: str = Kind.PARQUET.value

    def read(self, unit: Unit, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield (number of the first row, batch) of a unit; see `OpenShard.read`."""
        names = in_file_order(self.schema.names, columns)
        first_row = unit.first_row
        with ShardFile(self.path, self.state) as file, _reader(self.path, self.footer) as reader:
            for group in range(unit.start, unit.stop):
                for batch in self._read_group(reader, group, first_row, names):
                    yield first_row, batch
                    first_row += batch.num_rows
            file.check(self.state)
        with ShardFile(self.path, self.state):
            pass  # Arrow opened the path by itself: it must still lead to the file that was checked

    def _read_group(
        self, reader: parquet.ParquetFile, group: int, first_row: int, names: list[str]
    ) -> Iterator[pa.RecordBatch]:
        what = f"row group {group}"
        with faults(what):
            expected = reader.metadata.row_group(group).num_rows
            # A name with a dot in it also selects the nested column of that path; `select` leaves that out again.
            batches = reader.iter_batches(self.batch_rows[group], row_groups=[group], columns=names)
        row = first_row
        while True:
            where = f"{what}, from row {row:,} on"
            with faults(where):
                batch = next(batches, None)
                if batch is None:
                    break
                batch = batch.select(names)
            prove(batch, where)
            row += batch.num_rows
            yield batch
        if row - first_row != expected:
            raise ShardFault("corrupt", f"{what} gave {row - first_row:,} rows; the footer says {expected:,}")


@contextmanager
def _reader(path: Path, footer: int) -> Iterator[parquet.ParquetFile]:
    """Open with Arrow. Nothing that the footer holds can be longer than the footer, whatever it says of itself."""
    with faults("the footer"):
        source = pa.OSFile(os.fsencode(path))
    with source:
        with faults("the footer"):
            reader = parquet.ParquetFile(
                source,
                buffer_size=_BUFFER_BYTES,
                pre_buffer=False,
                page_checksum_verification=True,
                thrift_string_size_limit=max(footer, _BUFFER_BYTES),
                thrift_container_size_limit=max(footer, 1024),
            )
        yield reader


def open_parquet(path: Path) -> ParquetShard:
    """Return a Parquet file whose footer has been read and fits the file.

    Raises:
        ShardFault: See `expect_shards_to_be_intact`.
    """
    with ShardFile(path) as file:
        footer = _footer(file)
        with _reader(path, footer) as reader:
            with faults("the footer"):
                schema, metadata = reader.schema_arrow, reader.metadata
                unique_names(schema)
                groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
                counts = [group.num_rows for group in groups]
                sizes = [_check_places(group, number, file.size, footer) for number, group in enumerate(groups)]
                batch_rows = [_batch_rows(group) for group in groups]
            if min(counts, default=0) < 0 or sum(counts) != metadata.num_rows:
                raise ShardFault(
                    "corrupt", f"the row groups hold {sum(counts):,} rows; the footer says {metadata.num_rows:,}"
                )
        with ShardFile(path, file.state):
            pass  # as in `read`
        return ParquetShard(
            path, file.state, schema, sum(counts), units_of(zip(counts, sizes, strict=True)), batch_rows, footer
        )


def _footer(file: ShardFile) -> int:
    """Return the footer's length, which lies inside the file."""
    if file.size < len(_MAGIC) + _TAIL:
        raise ShardFault("truncated", f"the file ends after {file.size} bytes, before its footer")
    tail = file.read(file.size - _TAIL, _TAIL)
    if tail[4:] == b"PARE":
        raise ShardFault("unsupported_layout", "its footer is encrypted")
    if tail[4:] != _MAGIC:
        raise ShardFault(
            "truncated", f"the file ends at byte {file.size:,} without a footer: it was cut, or never finished"
        )
    length = int.from_bytes(tail[:4], "little")
    if not 0 < length <= file.size - len(_MAGIC) - _TAIL:
        raise ShardFault("corrupt", f"the footer claims {length:,} bytes of a file of {file.size:,}")
    return length


def _check_places(group: parquet.RowGroupMetaData, number: int, size: int, footer: int) -> int:
    """Return the bytes of a row group, all of whose column chunks lie between the magic and the footer."""
    total = 0
    for place in range(group.num_columns):
        chunk = group.column(place)
        what = f"column {chunk.path_in_schema!r} of row group {number}"
        if chunk.file_path:
            raise ShardFault("unsupported_layout", f"{what} lies in another file, {chunk.file_path!r}")
        start, length = chunk.data_page_offset, chunk.total_compressed_size
        if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
            start = chunk.dictionary_page_offset
        if start < len(_MAGIC) or length < 0 or chunk.num_values < 0:
            raise ShardFault(
                "corrupt", f"{what} stands at byte {start:,} with {length:,} bytes and {chunk.num_values:,} values"
            )
        if start + length > size:
            raise ShardFault("truncated", f"{what} ends at byte {start + length:,} of a file of {size:,}")
        if start + length > size - footer - _TAIL:
            raise ShardFault("corrupt", f"{what} reaches into the footer, to byte {start + length:,}")
        total += length
    return total


def _batch_rows(group: parquet.RowGroupMetaData) -> int:
    """Return how many rows make a batch of about 8 MB once they are decoded."""
    size = 0
    for place in range(group.num_columns):
        chunk = group.column(place)
        width = _WIDTHS.get(chunk.physical_type, _OTHER_WIDTH)
        size += max(chunk.total_uncompressed_size, chunk.num_values * width)
    rows: int = group.num_rows
    return max(1, min(rows, rows * _BATCH_BYTES // max(size, 1)))
