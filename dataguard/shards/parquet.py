"""Parquet, row group by row group, in batches of a few megabytes.

Arrow decodes pages; before it does, the footer and the pages' headers are read here and every size checked against the file.
Pages are read one by one (`buffer_size`), not a whole column chunk at once, and their checksums are verified where there
are any. Columns that nobody asks for are not decoded, but their pages are walked all the same.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from dataguard.errors import ShardFault
from dataguard.shards.files import FileState, ShardFile
from dataguard.shards.model import Unit
from dataguard.shards.parquet_footer import RowGroup, read_footer
from dataguard.shards.parquet_levels import entries
from dataguard.shards.parquet_pages import check_pages
from dataguard.shards.proof import check_schema, faults, in_file_order, prove, units_of
from dataguard.shards.sniffing import Kind

_BATCH_BYTES = 8 << 20
_BUFFER_BYTES = 1 << 20


@dataclass(frozen=True)
class ParquetShard:
    """A shard in Parquet; see `OpenShard`. It holds no file open, and can be sent to another process.

    Args:
        groups: Its row groups.
        footer: Bytes of the footer.
    """

    path: Path
    state: FileState
    schema: pa.Schema
    rows: int
    units: Sequence[Unit]
    groups: Sequence[RowGroup]
    footer: int
    layout: str = Kind.PARQUET.value

    def read(self, unit: Unit, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield (number of the first row, batch) of a unit; see `OpenShard.read`."""
        names = in_file_order(self.schema.names, columns)
        first_row = unit.first_row
        with ShardFile(self.path, self.state) as file, arrow_reader(self.path, self.state, self.footer) as reader:
            for group in range(unit.start, unit.stop):
                self._check_pages(file, group, set(names))
                for batch in self._read_group(reader, group, first_row, names):
                    yield first_row, batch
                    first_row += batch.num_rows
            file.check(self.state)

    def _check_pages(self, file: ShardFile, group: int, names: set[str]) -> None:
        chunks = self.groups[group].chunks
        for place, top in enumerate(self.groups[group].tops):
            start, size, values = chunks[3 * place : 3 * place + 3]
            what = f"column {top!r} of row group {group}"
            check_pages(file, start, size, values, what, verify=top not in names)

    def _read_group(
        self, reader: parquet.ParquetFile, group: int, first_row: int, names: list[str]
    ) -> Iterator[pa.RecordBatch]:
        what = f"row group {group}"
        with faults(what):
            # A name with a dot in it also selects the nested column of that path; `select` leaves that out again.
            batches = reader.iter_batches(_batch_rows(self.groups[group]), row_groups=[group], columns=names)
        row, held = first_row, Counter[str]()
        while True:
            where = f"{what}, from row {row:,} on"
            with faults(where):
                batch = next(batches, None)
                if batch is None:
                    break
                batch = batch.select(names)
            prove(batch, where)
            row += batch.num_rows
            held.update({name: count for name in names if (count := entries(batch.column(name))) is not None})
            yield batch
        if row - first_row != self.groups[group].rows:
            detail = f"{what} gave {row - first_row:,} rows; the footer says {self.groups[group].rows:,}"
            raise ShardFault("corrupt", detail)
        self._refuse_what_is_left(group, held)

    def _refuse_what_is_left(self, group: int, held: Mapping[str, int]) -> None:
        """Refuse a row group of whose columns Arrow left something out: then rows do not stand beside their own."""
        tops, values = self.groups[group].tops, self.groups[group].chunks[2::3]
        first_leaves = dict(zip(reversed(tops), reversed(values), strict=True))
        for name, count in held.items():
            if count != first_leaves.get(name, count):
                detail = f"the rows of column {name!r} in row group {group} take {count:,} of its {first_leaves[name]:,} values"
                raise ShardFault("corrupt", detail)


@contextmanager
def arrow_reader(path: Path, state: FileState, footer: int) -> Iterator[parquet.ParquetFile]:
    """Open a proven file with Arrow. Nothing that its footer holds can be longer than the footer, whatever it says of itself.

    Args:
        state: Of the file. Arrow opens the path by itself, which must still lead there when it has been read.
        footer: Bytes of the footer.

    Raises:
        ShardFault: Arrow does not accept the footer, or the file is another one now.
    """
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
    with ShardFile(path, state):
        pass


def open_parquet(path: Path, allow: frozenset[str] = frozenset()) -> ParquetShard:
    """Return a Parquet file whose footer has been read and fits the file.

    Raises:
        ShardFault: See `expect_shards_to_be_intact`.
    """
    with ShardFile(path) as file:
        footer = read_footer(file, allow)
        with arrow_reader(path, file.state, footer.size) as reader, faults("the schema"):
            schema = reader.schema_arrow
            check_schema(schema)
        units = units_of((group.rows, group.size) for group in footer.groups)
        rows = sum(group.rows for group in footer.groups)
        return ParquetShard(path, file.state, schema, rows, units, footer.groups, footer.size)


def _batch_rows(group: RowGroup) -> int:
    """Return how many rows make a batch of about 8 MB once they are decoded."""
    return max(1, min(group.rows, group.rows * _BATCH_BYTES // max(group.decoded, 1)))
