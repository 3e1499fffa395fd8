"""Small files in every layout, and what comes out when they are opened and read."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

from dataguard.errors import ShardFault
from dataguard.shards.model import Shard
from dataguard.shards.opening import open_shard


@pytest.fixture(scope="session")
def table() -> pa.Table:
    """Return five rows, in two batches of a dictionary, text and lists, with nulls and an empty row."""
    ids = [[1, 5, 2], [], None, [1, 6, 7, 8, 2], [1, None]]
    return pa.table(
        {
            "input_ids": pa.array(ids, pa.list_(pa.int32())),
            "source": pa.array(["web", "code", None, "web", "数据"]).dictionary_encode(),
            "text": ["a", "b", "c", None, "é"],
        }
    )


@pytest.fixture(scope="session")
def encode() -> Callable[..., bytes]:
    """Return what gives a table's bytes: encode(layout, table, rows=of a batch, compression=None)."""

    def encoded(layout: str, table: pa.Table, rows: int = 2, compression: str | None = None) -> bytes:
        sink = io.BytesIO()
        if layout == "parquet":
            pq.write_table(
                table, sink, row_group_size=rows, compression=compression or "snappy", write_page_checksum=True
            )
            return sink.getvalue()
        new = {"stream": ipc.new_stream, "file": ipc.new_file}[layout]
        with new(sink, table.schema, options=ipc.IpcWriteOptions(compression=compression)) as writer:
            writer.write_table(table, max_chunksize=rows)
        return sink.getvalue()

    return encoded


@pytest.fixture
def shard(tmp_path: Path) -> Callable[..., Shard]:
    """Return what writes bytes into a file and gives its shard: shard(data, name)."""

    def written(data: bytes, name: str = "part-0.arrow") -> Shard:
        path = tmp_path / name
        path.write_bytes(data)
        return Shard(name, path)

    return written


@pytest.fixture(scope="session")
def read() -> Callable[..., list[dict[str, Any]]]:
    """Return what opens a shard and gives all its rows, having checked that units and row numbers fit."""

    def rows(
        shard: Shard, columns: list[str] | None = None, allow: frozenset[str] = frozenset()
    ) -> list[dict[str, Any]]:
        opened = open_shard(shard, allow)
        found: list[dict[str, Any]] = []
        for unit in opened.units:
            assert unit.first_row == len(found)
            for first_row, batch in opened.read(unit, columns):
                assert first_row == len(found)
                found += batch.to_pylist() if batch.num_columns else [{}] * batch.num_rows
            assert len(found) == unit.first_row + unit.rows
        assert len(found) == opened.rows
        return found

    return rows


@pytest.fixture(scope="session")
def fault(read: Callable[..., list[dict[str, Any]]]) -> Callable[..., ShardFault]:
    """Return what opens and reads a shard and gives the fault that it must have."""

    def raised(shard: Shard, **options: Any) -> ShardFault:
        with pytest.raises(ShardFault) as caught:
            read(shard, **options)
        return caught.value

    return raised
