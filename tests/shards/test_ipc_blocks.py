"""Blocks of rows are those that whole batches have, whatever the layout; and every piece of a stretch is told once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dataguard.errors import ShardFault
from dataguard.shards import ipc
from dataguard.shards.files import ShardFile
from dataguard.shards.ipc import IpcShard
from dataguard.shards.ipc_blocks import read_blocks, stretches_of
from dataguard.shards.model import Shard, Unit
from dataguard.shards.opening import open_shard
from dataguard.shards.pieces import PIECE, Pieces, Stretch

ROWS = 70
SHORT = [[place, place + 1, None] if place % 5 else [] if place % 2 else None for place in range(ROWS)]
LONG = [list(range(place % 7, place % 7 + 3 * (place % 11))) for place in range(ROWS)]
KINDS = (
    pa.list_(pa.int32()),
    pa.large_list(pa.int64()),
    pa.list_(pa.uint8()),
    pa.large_list(pa.float32()),
    pa.list_(pa.bool_()),
    pa.list_view(pa.int32()),
)


@pytest.fixture(autouse=True)
def _batches_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ipc, "_JOINED_BYTES", 1)


def written(path: Path, table: pa.Table, codec: str | None = None, *, file: bool = False, batch: int = 40) -> IpcShard:
    options = pa.ipc.IpcWriteOptions(compression=codec)
    make = pa.ipc.new_file if file else pa.ipc.new_stream
    with pa.OSFile(str(path), "wb") as sink, make(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=batch)
    shard = open_shard(Shard(path.name, path))
    assert isinstance(shard, IpcShard)
    return shard


def table_of(kind: pa.DataType, *, nulls: bool) -> pa.Table:
    rows: list[Any] = SHORT if nulls else LONG
    if kind == pa.list_(pa.bool_()):
        rows = [row and [None if each is None else each % 2 == 0 for each in row] for row in rows]
    others = {
        "text": [f"row {place}" if place % 3 else None for place in range(ROWS)],
        "number": pa.array(range(ROWS), pa.int16()),
        "flag": [place % 2 == 0 for place in range(ROWS)],
        "fixed": pa.array([[place, 1, None] if place % 4 else None for place in range(ROWS)], pa.list_(pa.int64(), 3)),
        "mask": pa.array([row and [1] * len(row) for row in LONG], pa.list_(pa.int8())),
    }
    return pa.table({"ids": pa.array(rows, kind), **others})


def blocks(shard: IpcShard, columns: list[str], most: int) -> tuple[list[tuple[int, int]], pa.Table]:
    """Read all units; return (first row, rows) of each batch, and the rows, copied while they are good."""
    found = []
    copies = []
    for unit in shard.units:
        for first, batch in read_blocks(shard, unit, columns, most):
            batch.validate(full=True)
            found.append((first, batch.num_rows))
            copies.append(pa.RecordBatch.from_pylist(batch.to_pylist(), schema=batch.schema))
    return found, pa.Table.from_batches(copies)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("form", ["stream", "file", "zstd"])
@pytest.mark.parametrize("nulls", [False, True], ids=["plain", "nulls"])
@pytest.mark.parametrize("most", [1, 9, 64, 10_000])
def test_the_rows_are_those_of_whole_batches(
    kind: pa.DataType, form: str, nulls: bool, most: int, tmp_path: Path
) -> None:
    table = table_of(kind, nulls=nulls)
    shard = written(tmp_path / "a.arrow", table, "zstd" if form == "zstd" else None, file=form == "file")
    for columns in (table.column_names, ["ids", "mask"], ["text"], ["fixed", "number"]):
        found, read = blocks(shard, columns, most)
        assert read.equals(table.select([name for name in table.column_names if name in columns]))
        assert [first for first, _ in found] == [sum(rows for _, rows in found[:at]) for at in range(len(found))]


def test_batches_without_rows_are_passed_over(tmp_path: Path) -> None:
    table = table_of(pa.list_(pa.int32()), nulls=True)
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        for rows in (0, 5, 0, 0, 7, 0):
            (batch,) = table.slice(0, rows).combine_chunks().to_batches() or [
                pa.RecordBatch.from_pylist([], table.schema)
            ]
            writer.write_batch(batch)
    shard = open_shard(Shard("a.arrow", tmp_path / "a.arrow"))
    assert isinstance(shard, IpcShard)
    found, read = blocks(shard, table.column_names, 100)
    assert found == [(0, 5), (5, 7)]
    assert read.num_rows == 12


@pytest.mark.parametrize("most", [1, 8, 1 << 19])
def test_rows_are_there_without_a_column(tmp_path: Path, most: int) -> None:
    shard = written(tmp_path / "x", table_of(pa.list_(pa.int32()), nulls=False))
    rows = [batch.num_rows for unit in shard.units for _, batch in read_blocks(shard, unit, [], most)]
    assert sum(rows) == shard.rows > 0


def test_a_sliced_column_is_read_as_it_is(tmp_path: Path) -> None:
    table = table_of(pa.list_(pa.int32()), nulls=True)
    batch = table.combine_chunks().to_batches()[0].slice(13, 41)
    shard = written(tmp_path / "a.arrow", pa.Table.from_batches([batch]))
    assert blocks(shard, table.column_names, 10)[1].equals(pa.Table.from_batches([batch]))


def test_a_block_has_at_most_so_many_numbers_of_each_column_or_one_row(tmp_path: Path) -> None:
    lengths = [3, 3, 50, 1, 1, 1, 20, 0, 0, 4]
    table = pa.table({"ids": [[1] * each for each in lengths], "labels": [[1] * (10 - at) for at in range(10)]})
    shard = written(tmp_path / "a.arrow", table)
    found, _ = blocks(shard, ["ids"], 8)
    assert [rows for _, rows in found] == [2, 1, 2, 1, 1, 2, 1]  # at most a quarter of 8 rows
    assert [rows for _, rows in blocks(shard, ["ids", "labels"], 20)[0]] == [2, 1, 3, 3, 1]


def test_batches_that_are_kept_stay_as_they_are(tmp_path: Path) -> None:
    table = table_of(pa.list_(pa.int32()), nulls=False)
    shard = written(tmp_path / "a.arrow", table)
    kept = [batch for unit in shard.units for _, batch in read_blocks(shard, unit, table.column_names, 9)]
    assert pa.Table.from_batches(kept).equals(table)


def test_numbers_that_nobody_asks_for_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shard = written(tmp_path / "a.arrow", pa.table({"ids": [[1] * 5000] * 4, "other": [[2] * 100_000] * 4}), batch=4)
    read = []
    into = ShardFile.read_into
    monkeypatch.setattr(
        ShardFile, "read_into", lambda self, view, at: (read.append(len(view)), into(self, view, at))[1]
    )
    blocks(shard, ["ids"], 1 << 20)
    assert sum(read) < 8 * 100_000 * 4


@pytest.mark.parametrize("columns", [["ids"], ["text"], ["ids", "fixed", "mask"]], ids=str)
@pytest.mark.parametrize("kind", [pa.list_(pa.int32()), pa.list_(pa.bool_())], ids=str)
def test_every_piece_of_the_file_is_told_once_whatever_is_read(
    kind: pa.DataType, columns: list[str], tmp_path: Path
) -> None:
    table = table_of(kind, nulls=True)
    path = tmp_path / "a.arrow"
    shard = written(path, pa.concat_tables([table] * 900), batch=20_000, file=True)
    told: dict[int, bytes] = {}
    stretches = stretches_of(shard, shard.state)

    def take(number: int, piece: memoryview) -> None:
        assert number not in told
        told[number] = bytes(piece)

    assert len(shard.units) == len(stretches)
    for unit, stretch in zip(shard.units, stretches, strict=True):
        for _ in read_blocks(shard, unit, columns, 1000, (stretch, take)):
            pass
    assert b"".join(told[number] for number in sorted(told)) == path.read_bytes()
    assert {len(piece) for piece in told.values()} >= {PIECE}


@pytest.mark.parametrize(
    ("size", "stretch"), [(1, (0, 1)), (PIECE, (0, 1)), (PIECE + 1, (1, 2)), (40 * PIECE + 7, (2, 41)), (0, (0, 0))]
)
def test_what_nobody_has_read_is_read_at_the_end(size: int, stretch: tuple[int, int], tmp_path: Path) -> None:
    content = bytes(place // 251 % 256 for place in range(size))
    (tmp_path / "a").write_bytes(content)
    told: list[tuple[int, bytes]] = []
    with ShardFile(tmp_path / "a") as file:
        pieces = Pieces(file, Stretch(*stretch), lambda number, piece: told.append((number, bytes(piece))))
        for start, stop in ((3 * PIECE + 5, 4 * PIECE), (0, 1), (20 * PIECE, 22 * PIECE + 1)):
            if stop <= size:
                low, high = pieces.span(start, stop)
                pieces.read_into(memoryview(bytearray(high - low)), low)
        pieces.read_rest()
    assert sorted(told) == [(at, content[at * PIECE : (at + 1) * PIECE]) for at in range(*stretch)]


def test_batches_that_a_footer_names_in_another_order_have_stretches_too(tmp_path: Path) -> None:
    shard = written(tmp_path / "a.arrow", pa.table({"ids": [[1] * 50_000] * 4}), batch=1, file=True)
    places = shard.places
    units = [Unit(at, 1, at, at + 1, 0) for at in range(4)]
    for field in (places.offsets, places.sizes):
        field.reverse()
    turned = IpcShard(shard.path, shard.state, shard.layout, shard.schema, 4, units, places, shard.schema_message)
    stretches = stretches_of(turned, shard.state)
    covered = [piece for start, stop in stretches for piece in range(start, stop)]
    assert covered == list(range(-(-shard.state.size // PIECE)))


@pytest.mark.parametrize("place", ["first", "last"])
def test_offsets_that_run_backwards_are_found_before_a_row_is_given(place: str, tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    written(path, pa.table({"ids": pa.array([[9, 9]] * ROWS, pa.list_(pa.int32()))}), batch=ROWS)
    number = 2 if place == "first" else 2 * ROWS - 4
    good = b"".join(each.to_bytes(4, "little") for each in (number, number + 2, number + 4))
    bad = b"".join(each.to_bytes(4, "little") for each in (number, number + 1000, number + 4))
    content = path.read_bytes()
    assert content.count(good) == 1
    path.write_bytes(content.replace(good, bad))
    shard = open_shard(Shard("a.arrow", path))
    assert isinstance(shard, IpcShard)
    with pytest.raises(ShardFault) as fault:
        next(read_blocks(shard, shard.units[0], ["ids"], 8))
    with pytest.raises(ShardFault) as whole:
        list(shard.read(shard.units[0]))
    assert (fault.value.reason, fault.value.detail) == (whole.value.reason, whole.value.detail)


@pytest.mark.parametrize("change", ["grown", "shrunk"])
def test_a_file_that_changes_under_the_reading_is_unreadable(change: str, tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    shard = written(path, pa.table({"ids": pa.array([[7] * 5000] * ROWS, pa.list_(pa.int32()))}), batch=ROWS)

    def read() -> None:
        for first, _ in read_blocks(shard, shard.units[0], ["ids"], 20_000):
            if first == 0:
                content = path.read_bytes()
                path.write_bytes(content + b"more" if change == "grown" else content[:2000])

    with pytest.raises(ShardFault, match="unreadable"):
        read()
