"""How a shard was written: what a copy of some of its rows needs to be the same kind of file.

Only what a file tells is here. Which level its codec worked at, or which version its pages have, no reader can know.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import ipc

from dataguard.shards.files import ShardFile
from dataguard.shards.flatbuffer import Table
from dataguard.shards.ipc import IpcShard
from dataguard.shards.messages import message_at
from dataguard.shards.model import OpenShard
from dataguard.shards.parquet import ParquetShard, arrow_reader
from dataguard.shards.proof import faults
from dataguard.shards.sniffing import Kind

_CODECS = {0: "lz4", 1: "zstd"}
_SCHEMA_KEY = b"ARROW:schema"
_DICTIONARIES = frozenset({"PLAIN_DICTIONARY", "RLE_DICTIONARY"})


@dataclass(frozen=True)
class IpcForm:
    """Of an Arrow IPC stream or file.

    Args:
        is_file: Whether it has a footer.
        codec: What compresses the bodies of its batches; None for nothing.
        metadata: Of the footer.
    """

    is_file: bool
    codec: str | None = None
    metadata: Mapping[bytes, bytes] | None = None


@dataclass(frozen=True)
class ParquetForm:
    """Of a Parquet file.

    Args:
        options: Arguments of `pyarrow.parquet.ParquetWriter`.
    """

    options: Mapping[str, Any]


def form_of(opened: OpenShard) -> IpcForm | ParquetForm | None:
    """Return how a shard was written; None for a table in memory.

    Raises:
        ShardFault: It changed since it was opened.
    """
    if isinstance(opened, IpcShard):
        return _ipc_form(opened)
    return _parquet_form(opened) if isinstance(opened, ParquetShard) else None


def batches_of(opened: OpenShard) -> Iterator[tuple[int, pa.RecordBatch, bool]]:
    """Yield (number of the first row, batch, whether a record batch or row group of the file ends with it).

    No batch reaches over such an end, so that what is written of each can end there, too.

    Raises:
        ShardFault: See `OpenShard.read`.
    """
    ends = _ends(opened)
    end = next(ends, 0)
    for unit in opened.units:
        batches = opened.read_apart(unit) if isinstance(opened, IpcShard) else opened.read(unit)
        for first, batch in batches:
            while end < first + batch.num_rows:
                end = next(ends)
            yield first, batch, isinstance(opened, IpcShard) or first + batch.num_rows == end


def _ends(opened: OpenShard) -> Iterator[int]:
    """Yield the number of the row behind each row group; a shard that has none is one."""
    if not isinstance(opened, ParquetShard):
        yield opened.rows
        return
    row = 0
    for group in opened.groups:
        row += group.rows
        yield row


def _ipc_form(opened: IpcShard) -> IpcForm:
    is_file = opened.layout == Kind.ARROW_FILE.value
    codec = None
    with ShardFile(opened.path, opened.state) as file:
        if opened.places.offsets:
            message = message_at(file, opened.places.offsets[0], limit=file.size, legacy=True)
            header = Table.root(file.read(message.offset + message.prefix, message.metadata)).table(2)
            compression = header.table(3) if header else None
            codec = _CODECS.get(compression.int8(0)) if compression else None
    return IpcForm(is_file, codec, _footer_metadata(opened) if is_file else None)


def _footer_metadata(opened: IpcShard) -> Mapping[bytes, bytes] | None:
    with faults("the footer"), pa.OSFile(os.fsencode(opened.path)) as source:
        found = getattr(ipc.open_file(source), "metadata", None)  # pyarrow 17 cannot tell
    return dict(found) if found else None


def _parquet_form(opened: ParquetShard) -> ParquetForm:
    with arrow_reader(opened.path, opened.state, opened.footer) as reader, faults("the footer"):
        footer = reader.metadata
        options: dict[str, Any] = {"store_schema": _SCHEMA_KEY in (footer.metadata or {})}
        if footer.num_row_groups and footer.num_columns:
            group = footer.row_group(0)
            options |= _column_options([group.column(place) for place in range(footer.num_columns)])
    return ParquetForm(options)


def _column_options(columns: list[Any]) -> dict[str, Any]:
    codecs = {each.path_in_schema: _parquet_codec(each.compression) for each in columns}
    names = set(codecs.values())
    return {
        "compression": names.pop() if len(names) == 1 else codecs,
        "use_dictionary": [each.path_in_schema for each in columns if _DICTIONARIES & set(each.encodings)],
        "write_statistics": [each.path_in_schema for each in columns if each.is_stats_set],
        "use_deprecated_int96_timestamps": any(each.physical_type == "INT96" for each in columns),
        # Before Arrow 14 the items of a list were called "item" in the file; anything else than that is the standard's name.
        "use_compliant_nested_type": not any(each.path_in_schema.endswith(".list.item") for each in columns),
    }


def _parquet_codec(name: str) -> str:
    return "NONE" if name == "UNCOMPRESSED" else str(name)
