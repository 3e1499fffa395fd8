"""Damaged files are a fault or their rows; they end neither the process nor its memory. The dice fall the same every time."""

from __future__ import annotations

import random
import resource
import struct
import sys

import pyarrow as pa
import pytest

from dataguard.errors import ShardFault
from dataguard.shards.batch import list_column
from dataguard.shards.model import Shard
from dataguard.shards.opening import open_shard
from dataguard.shards.roles import is_integer_list

LIES = (-1, 0, 1, 127, 2**31 - 1, -(2**31), 2**40, 2**60, 2**63 - 1, -(2**63))
TRIES = 250
MOST_MEGABYTES = 256


@pytest.fixture(scope="module")
def rich() -> pa.Table:
    """Return a table of every type of column that holds tokens, and some that hold other things."""
    dice = random.Random(1)
    ids = [None if row % 7 == 3 else [dice.randrange(50_000) for _ in range(dice.randrange(20))] for row in range(40)]
    return pa.table(
        {
            "input_ids": pa.array(ids, pa.list_(pa.int32())),
            "labels": pa.array(ids, pa.large_list(pa.int64())),
            "fixed": pa.array([[1, 2, 3]] * 40, pa.list_(pa.uint16(), 3)),
            "source": pa.array([("web", "code", None)[row % 3] for row in range(40)]).dictionary_encode(),
            "text": [str(row) * row for row in range(40)],
            "spans": pa.array([[[0, 1], [2, 3]]] * 40, pa.list_(pa.list_(pa.int32()))),
            "meta": [{"a": row, "b": "x"} for row in range(40)],
        }
    )


def damaged(whole: bytes, dice: random.Random) -> bytes:
    """Return bytes with some bits turned, numbers overwritten, or the end cut off; headers are hit most."""
    data = bytearray(whole)
    near = dice.choice([(0, len(data)), (0, min(2000, len(data))), (max(0, len(data) - 2500), len(data))])
    how = dice.randrange(5)
    if how < 3:
        for _ in range(dice.randrange(1, 6)):
            data[dice.randrange(*near)] ^= 1 << dice.randrange(8)
    elif how == 3:
        at = min(dice.randrange(*near) & ~3, len(data) - 8)
        data[at : at + 8] = struct.pack("<q", dice.choice(LIES))
    else:
        del data[dice.randrange(len(data)) :]
    return bytes(data)


def peak_megabytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit >> 20


@pytest.mark.parametrize(
    ("layout", "compression"),
    [("stream", None), ("file", None), ("file", "zstd"), ("stream", "lz4"), ("parquet", "snappy")],
)
def test_damage_is_a_fault_or_harmless(layout, compression, rich, encode, tmp_path):
    whole = encode(layout, rich, rows=15, compression=compression)
    path, before, clean = tmp_path / "part", peak_megabytes(), 0
    for seed in range(TRIES):
        path.write_bytes(damaged(whole, random.Random(seed)))
        try:
            opened = open_shard(Shard("part", path))
            batches = [batch for unit in opened.units for _, batch in opened.read(unit)]
            for batch in batches:
                for field, column in zip(batch.schema, batch.columns, strict=True):
                    if is_integer_list(field.type):
                        list_column(column)
                batch.to_pylist()
        except ShardFault:
            continue
        assert sum(batch.num_rows for batch in batches) == opened.rows
        clean += 1
    assert 0 < clean < TRIES
    assert peak_megabytes() - before < MOST_MEGABYTES


@pytest.mark.parametrize("layout", ["stream", "file"])
def test_a_number_that_lies_is_a_fault_or_harmless(layout, encode, tmp_path):
    table = pa.table({"input_ids": pa.array([[1, 2, 3], [4]], pa.list_(pa.int32())), "a": ["x", None]})
    whole, path, before = encode(layout, table), tmp_path / "part", peak_megabytes()
    for at in range(0, len(whole) - 8, 8):
        for lie in (-1, 2**31 - 1, 2**60):
            path.write_bytes(whole[:at] + struct.pack("<q", lie) + whole[at + 8 :])
            try:
                opened = open_shard(Shard("part", path))
                for unit in opened.units:
                    for _, batch in opened.read(unit):
                        batch.to_pylist()
            except ShardFault:
                continue
            assert opened.rows in {0, 2}
    assert peak_megabytes() - before < MOST_MEGABYTES
