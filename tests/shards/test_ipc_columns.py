"""A shard is intact as a whole: a column that nobody asked for is proven too."""

from __future__ import annotations

import struct
from pathlib import Path

import pyarrow as pa
import pytest

from dataguard.errors import ShardFault
from dataguard.shards.model import Shard
from dataguard.shards.opening import open_shard


def test_a_corrupt_column_is_found_though_another_is_read(tmp_path: Path) -> None:
    table = pa.table({"input_ids": [[1, 2], [3]], "other": [[1001, 1002, 1003], [1004, 1005]]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    good, bad = struct.pack("<3i", 0, 3, 5), struct.pack("<3i", 0, 5, 3)
    data = sink.getvalue().to_pybytes()
    assert data.count(good) == 1
    (tmp_path / "part.arrow").write_bytes(data.replace(good, bad))
    shard = open_shard(Shard("part.arrow", tmp_path / "part.arrow"))
    with pytest.raises(ShardFault, match="corrupt"):
        list(shard.read(shard.units[0], ["input_ids"]))
