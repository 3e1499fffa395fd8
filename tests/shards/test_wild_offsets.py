"""Lists without rows whose offset points anywhere: Arrow does not prove it, and ends the process when it follows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import dataguard
from dataguard.errors import ShardFault
from dataguard.shards.proof import prove

WILD = 1 << 20


def _wild(kind: pa.DataType, offset: int, values: pa.Array) -> pa.Array:
    width = 8 if pa.types.is_large_list(kind) else 4
    return pa.Array.from_buffers(
        kind, 0, [None, pa.py_buffer(offset.to_bytes(width, "little", signed=True))], children=[values]
    )


SHAPES: dict[str, Callable[[int], pa.Array]] = {
    "ids": lambda at: _wild(pa.list_(pa.int32()), at, pa.array([], pa.int32())),
    "large": lambda at: _wild(pa.large_list(pa.int32()), at, pa.array([], pa.int32())),
    "nulls": lambda at: _wild(pa.list_(pa.null()), at, pa.nulls(0)),
    "text": lambda at: _wild(pa.list_(pa.string()), at, pa.array([], pa.string())),
    "in a struct": lambda at: pa.StructArray.from_arrays([SHAPES["ids"](at)], names=["inside"]),
    "in lists": lambda at: pa.ListArray.from_arrays(pa.array([0], pa.int32()), SHAPES["ids"](at)),
}


def write(path: Path, batches: list[pa.RecordBatch]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


@pytest.mark.parametrize("name", ["input_ids", "other"])
@pytest.mark.parametrize("at", [WILD, -1, 1])
@pytest.mark.parametrize("shape", SHAPES)
def test_they_are_corrupt(shape: str, at: int, name: str) -> None:
    with pytest.raises(ShardFault, match="corrupt"):
        prove(pa.record_batch({name: SHAPES[shape](at)}), "batch 0")


@pytest.mark.parametrize("shape", SHAPES)
def test_sound_ones_hold(shape: str, tmp_path: Path) -> None:
    empty = pa.record_batch({"other": SHAPES[shape](0)})
    prove(empty, "batch 0")
    column = pa.array([[1, 2], [3]], pa.list_(pa.int32()))
    rows = pa.record_batch({"input_ids": column})
    write(tmp_path / "data" / "x.arrow", [rows, rows.slice(1, 0), rows])
    assert dataguard.validate(tmp_path / "data", vocab_size=9, store=None).meta["rows"] == 4
