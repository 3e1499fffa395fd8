from __future__ import annotations

import io
import struct

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather


def test_all_rows_come_back(table, encode, shard, read):
    assert read(shard(encode("file", table))) == table.to_pylist()


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_compressed_bodies_are_read(compression, table, encode, shard, read):
    assert read(shard(encode("file", table, compression=compression))) == table.to_pylist()


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_feather_is_an_ipc_file(compression, table, tmp_path, shard, read):
    feather.write_feather(table, tmp_path / "a.feather", compression=compression, chunksize=2)
    assert read(shard((tmp_path / "a.feather").read_bytes(), "b.feather")) == table.to_pylist()


def test_what_polars_writes_is_read(shard, read):
    # Its schema message lacks the prefix: only the footer's schema can be relied on.
    frame = pl.DataFrame({"input_ids": [[1, 2], [], None], "source": pl.Series(["a", "b", "a"], dtype=pl.Categorical)})
    sink = io.BytesIO()
    frame.write_ipc(sink)
    assert read(shard(sink.getvalue())) == frame.to_dicts()


@pytest.mark.parametrize("rows", [0, 2])
def test_dictionaries_stand_before_all_batches(rows, shard, read):
    kind = pa.dictionary(pa.int8(), pa.string())
    table = pa.table(
        {"a": pa.array(["x", "y"]).dictionary_encode().cast(kind), "b": pa.array(["y", "z"]).dictionary_encode()}
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.slice(0, rows))
    assert read(shard(sink.getvalue().to_pybytes())) == table.slice(0, rows).to_pylist()


def test_a_file_without_batches_has_no_rows(table, encode, shard, read):
    assert read(shard(encode("file", table.slice(0, 0)))) == []


def test_wherever_it_is_cut_it_is_truncated(table, encode, shard, fault):
    whole = encode("file", table)
    assert {fault(shard(whole[:size])).reason for size in range(2, len(whole), 3)} == {"truncated"}


@pytest.mark.parametrize("length", [0, -1, 2**31 - 1])
def test_a_footer_that_lies_about_its_length_is_corrupt(length, table, encode, shard, fault):
    whole = encode("file", table)
    assert fault(shard(whole[:-10] + struct.pack("<i", length) + whole[-6:])).reason == "corrupt"


def with_block(whole: bytes, number: int, change: dict[int, int]) -> bytes:
    """Return a file in whose footer a block of record batches is changed: {0: offset, 1: metadata length, 2: body length}."""
    from dataguard.shards.flatbuffer import Table
    from dataguard.shards.ipc_file import _BLOCK

    size = struct.unpack("<i", whole[-10:-6])[0]
    footer = whole[-10 - size : -10]
    block = list(Table.root(footer).structs(3, _BLOCK)[number])
    packed = _BLOCK.pack(*block)
    for place, value in change.items():
        block[place] = value
    assert footer.count(packed) == 1
    return whole[: -10 - size] + footer.replace(packed, _BLOCK.pack(*block)) + whole[-10:]


@pytest.mark.parametrize(
    "change", [{0: -8}, {0: 2**60}, {0: 0}, {0: 16}, {1: 2**31 - 1}, {1: -1}, {2: 2**60}, {2: -8}, {2: 0}]
)
def test_a_footer_that_lies_about_a_batch_is_corrupt(change, table, encode, shard, fault):
    assert fault(shard(with_block(encode("file", table), 1, change))).reason in {"corrupt", "truncated"}


def test_a_batch_listed_twice_is_corrupt(table, encode, shard, fault):
    from dataguard.shards.flatbuffer import Table
    from dataguard.shards.ipc_file import _BLOCK

    whole = encode("file", table)
    footer = whole[-10 - struct.unpack("<i", whole[-10:-6])[0] : -10]
    first = dict(enumerate(Table.root(footer).structs(3, _BLOCK)[0]))
    found = fault(shard(with_block(whole, 1, first)))
    assert (found.reason, "two entries" in found.detail) == ("corrupt", True)


def test_two_files_run_together_are_told(encode, shard, fault, read):
    table = pa.table({"input_ids": pa.array([[7] * 100, [8]], pa.list_(pa.int32()))})
    twice = shard(encode("file", table) * 2)
    assert fault(twice).reason == "trailing_data"
    assert read(twice, allow=frozenset({"trailing_data"})) == table.to_pylist()


def test_columns_are_chosen_by_name(table, encode, shard, read):
    assert read(shard(encode("file", table)), ["text"]) == table.select(["text"]).to_pylist()


def test_feather_1_is_recognised_and_not_read(shard, fault):
    found = fault(shard(b"FEA1" + bytes(40), "old.feather"))
    assert (found.reason, "Feather version 1" in found.detail) == ("unsupported_layout", True)
