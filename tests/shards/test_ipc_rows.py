"""Rows that are read by themselves are those that a whole batch has, and the proof of the batch is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dataguard.errors import ShardFault
from dataguard.shards import ipc, ipc_skeleton
from dataguard.shards.ipc import IpcShard
from dataguard.shards.ipc_rows import read_rows
from dataguard.shards.model import Shard
from dataguard.shards.opening import open_shard

ROWS = 40
LISTS = [[place, place + 1, None] if place % 5 else [] if place % 2 else None for place in range(ROWS)]
KINDS = (
    pa.list_(pa.int32()),
    pa.large_list(pa.int64()),
    pa.list_(pa.uint8()),
    pa.list_(pa.float32()),
    pa.list_(pa.bool_()),
    pa.list_(pa.string()),
    pa.list_view(pa.int32()),
    pa.list_(pa.list_(pa.int32())),
)


@pytest.fixture(autouse=True)
def _batches_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ipc, "_JOINED_BYTES", 1)


def opened(path: Path, table: pa.Table, codec: str | None = None, *, file: bool = False) -> IpcShard:
    options = pa.ipc.IpcWriteOptions(compression=codec)
    make = pa.ipc.new_file if file else pa.ipc.new_stream
    with pa.OSFile(str(path), "wb") as sink, make(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=16)
    shard = open_shard(Shard(path.name, path))
    assert isinstance(shard, IpcShard)
    return shard


def values(kind: pa.DataType) -> list[Any]:
    if (
        pa.types.is_list(kind)
        and not pa.types.is_integer(kind.value_type)
        and not pa.types.is_floating(kind.value_type)
    ):
        inner = {pa.bool_(): True, pa.string(): "a"}.get(kind.value_type, [1])
        return [None if row is None else [None if each is None else inner for each in row] for row in LISTS]
    return LISTS


def same(shard: IpcShard, wanted: list[int]) -> list[int]:
    """Compare the wanted rows with those of whole batches; return the numbers of the first rows."""
    rows = np.array(wanted, np.int64)
    firsts = []
    for unit in shard.units:
        for (first, batch), (at, whole) in zip(read_rows(shard, unit, rows), shard.read(unit), strict=True):
            assert (first, batch.num_rows, batch.schema) == (at, whole.num_rows, whole.schema)
            firsts.append(first)
            for row in (row - first for row in wanted if first <= row < first + batch.num_rows):
                assert batch.slice(row, 1).equals(whole.slice(row, 1))
    return firsts


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("form", ["stream", "file", "lz4"])
@pytest.mark.parametrize("wanted", [[], [0], [3, 17, 39], list(range(ROWS))], ids=len)
def test_the_wanted_rows_are_those_of_the_whole_batch(
    kind: pa.DataType, form: str, wanted: list[int], tmp_path: Path
) -> None:
    others = {
        "text": [f"row {place}" if place % 3 else None for place in range(ROWS)],
        "number": pa.array(range(ROWS), pa.int16()),
        "flag": [place % 2 == 0 for place in range(ROWS)],
        "fixed": pa.array([[place, 1] if place % 4 else None for place in range(ROWS)], pa.list_(pa.int64(), 2)),
        "named": pa.array([f"{place % 2}" for place in range(ROWS)]).dictionary_encode() if len(wanted) == 1 else None,
    }
    columns = {name: each for name, each in others.items() if each is not None}
    table = pa.table({"ids": pa.array(values(kind), kind), **columns})
    shard = opened(tmp_path / "a.arrow", table, "lz4" if form == "lz4" else None, file=form == "file")
    assert same(shard, wanted) == [0, 16, 32]


def test_numbers_of_other_rows_are_not_read(tmp_path: Path) -> None:
    shard = opened(tmp_path / "a.arrow", pa.table({"ids": pa.array([[7, 7]] * ROWS, pa.list_(pa.int32()))}))
    (first, batch), *_ = read_rows(shard, shard.units[0], np.array([2]))
    assert first == 0
    assert batch.column("ids").to_pylist() == [[0, 0], [0, 0], [7, 7], *([[0, 0]] * 13)]


def test_small_batches_are_joined_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ipc, "_JOINED_BYTES", 1 << 20)
    shard = opened(tmp_path / "a.arrow", pa.table({"ids": LISTS}))
    assert same(shard, [3]) == [0]


@pytest.mark.parametrize("wanted", [[], [5], [20]], ids=str)
def test_offsets_that_run_backwards_are_found_whichever_row_is_wanted(wanted: list[int], tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    opened(path, pa.table({"ids": pa.array([[9, 9]] * ROWS, pa.list_(pa.int32()))}))
    content = path.read_bytes()
    good = b"".join(number.to_bytes(4, "little") for number in (8, 10, 12))
    bad = b"".join(number.to_bytes(4, "little") for number in (8, 1000, 12))
    path.write_bytes(content.replace(good, bad))
    shard = open_shard(Shard("a.arrow", path))
    assert isinstance(shard, IpcShard)
    with pytest.raises(ShardFault) as fault:
        list(read_rows(shard, shard.units[0], np.array(wanted, np.int64)))
    with pytest.raises(ShardFault) as whole:
        list(shard.read(shard.units[0]))
    assert (fault.value.reason, fault.value.detail) == (whole.value.reason, whole.value.detail)


def test_a_file_that_changed_is_unreadable(tmp_path: Path) -> None:
    table = pa.table({"ids": pa.array([[7, 7]] * ROWS, pa.list_(pa.int32()))})
    shard = opened(tmp_path / "a.arrow", table)
    opened(tmp_path / "a.arrow", pa.concat_tables([table, table]))
    with pytest.raises(ShardFault, match="changed"):
        list(read_rows(shard, shard.units[0], np.array([2])))


def test_every_layout_that_is_known_is_read_by_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IpcShard, "read", lambda *_: pytest.fail("it was read as a whole"))
    for kind in KINDS[:4]:
        shard = opened(tmp_path / "a.arrow", pa.table({"ids": pa.array(LISTS, kind), "text": ["a"] * ROWS}))
        assert len(list(read_rows(shard, shard.units[0], np.array([2])))) == 3
    assert ipc_skeleton._is_known(pa.timestamp("us"))
    assert not ipc_skeleton._is_known(pa.list_view(pa.int32()))
