from __future__ import annotations

import os
import struct

import pyarrow as pa
import pytest
from pyarrow import ipc

from dataguard.shards import ipc as ours
from dataguard.shards import proof
from dataguard.shards.flatbuffer import Table
from dataguard.shards.opening import open_shard

LIES = (-1, -(2**31), 2**31 - 1)


def test_all_rows_come_back(table, encode, shard, read):
    assert read(shard(encode("stream", table))) == table.to_pylist()


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_compressed_bodies_are_read(compression, table, encode, shard, read):
    assert read(shard(encode("stream", table, compression=compression))) == table.to_pylist()


def test_a_stream_without_batches_has_no_rows(table, encode, shard, read):
    assert read(shard(encode("stream", table.slice(0, 0)))) == []


def test_wherever_it_is_cut_no_rows_are_lost_in_silence(table, encode, shard, fault):
    whole = encode("stream", table)
    cut, reasons = shard(whole), {}
    for size in reversed(range(len(whole))):
        os.truncate(cut.path, size)
        reasons[size] = fault(cut).reason
    assert reasons[0] == "empty_file"
    assert set(reasons.values()) == {"empty_file", "truncated", "no_end_marker"}
    assert [size for size, reason in reasons.items() if reason == "no_end_marker"][::-1] == message_ends(whole)


def message_ends(stream: bytes) -> list[int]:
    """Return where messages end, by Arrow's own reading."""
    source, ends = pa.BufferReader(stream), []
    while True:
        try:
            ipc.read_message(source)
        except EOFError:
            return ends
        ends.append(source.tell())


def test_a_missing_end_marker_may_be_allowed(table, encode, shard, read):
    cut = shard(encode("stream", table)[:-8])
    assert read(cut, allow=frozenset({"no_end_marker"})) == table.to_pylist()


def test_what_follows_the_end_marker_is_told(table, encode, shard, fault, read):
    stream = encode("stream", table)
    twice = fault(shard(stream * 2))
    assert (twice.reason, f"{len(stream):,} bytes" in twice.detail) == ("trailing_data", True)
    assert "another Arrow IPC stream" in twice.detail
    garbage = shard(stream + b"\0\xff")
    assert fault(garbage).reason == "trailing_data"
    assert read(garbage, allow=frozenset({"trailing_data"})) == table.to_pylist()


def test_streams_run_together_without_a_marker_between_are_corrupt(table, encode, shard, fault):
    stream = encode("stream", table)
    assert fault(shard(stream[:-8] + stream)).reason == "corrupt"


@pytest.mark.parametrize("lie", LIES)
def test_a_lying_metadata_length_is_a_fault(lie, table, encode, shard, fault):
    stream = bytearray(encode("stream", table))
    for start in [0, *message_ends(bytes(stream))[:-1]]:
        lying = bytearray(stream)
        lying[start + 4 : start + 8] = struct.pack("<i", lie)
        assert fault(shard(lying)).reason in {"truncated", "corrupt"}


def test_a_lying_body_length_is_a_fault(table, encode, shard, fault):
    stream = encode("stream", table)
    second = message_ends(stream)[1]
    honest = struct.pack("<q", ipc.read_message(pa.BufferReader(stream[second:])).body.size)
    at = stream.index(honest, second)
    for body, reason in ((2**60, "truncated"), (-8, "corrupt"), (-(2**63), "corrupt")):
        assert fault(shard(stream[:at] + struct.pack("<q", body) + stream[at + 8 :])).reason == reason


@pytest.mark.parametrize("rows", [0, 1, 4, -1, 2**40])
def test_a_lying_number_of_rows_is_a_fault(rows, encode, shard, fault):
    table = pa.table({"input_ids": pa.array([[1, 2], [3], [4]], pa.list_(pa.int32()))})
    stream = encode("stream", table, rows=3)
    at = stream.index(struct.pack("<q", 3), message_ends(stream)[0])  # before the lengths of the columns
    lying = shard(stream[:at] + struct.pack("<q", rows) + stream[at + 8 :])
    assert fault(lying).reason == "corrupt"


@pytest.mark.parametrize("offsets", [(0, 3, 2), (0, -3, 3), (0, 2, 2**30)])
def test_offsets_that_cannot_be_are_corrupt(offsets, encode, shard, fault):
    stream = encode("stream", pa.table({"input_ids": pa.array([[71, 72], [73]], pa.list_(pa.int32()))}))
    honest = struct.pack("<3i", 0, 2, 3)
    assert stream.count(honest) == 1
    found = fault(shard(stream.replace(honest, struct.pack("<3i", *offsets))))
    assert found.reason == "corrupt"
    assert "batch 0 (rows 0 to 1" in found.detail


def test_a_compressed_buffer_that_lies_is_not_believed(encode, shard, fault):
    table = pa.table({"input_ids": pa.array([[7] * 1000], pa.list_(pa.int32()))})
    stream = encode("stream", table, compression="zstd")
    honest = struct.pack("<q", 4000)
    assert stream.count(honest) == 1
    found = fault(shard(stream.replace(honest, struct.pack("<q", 2**50))))
    assert (found.reason, "claim" in found.detail) == ("corrupt", True)


def test_a_big_endian_schema_is_unsupported(encode, shard, fault):
    stream = bytearray(encode("stream", pa.table({"a": [1]})))
    schema = Table.root(bytes(stream[8 : 8 + struct.unpack_from("<i", stream, 4)[0]])).table(2)
    vtable = 8 + schema.position - struct.unpack_from("<i", stream, 8 + schema.position)[0]
    # Little endian is left out of the table; another field's place, which holds no 0, stands in for it.
    stream[vtable + 4 : vtable + 6] = stream[vtable + 6 : vtable + 8]
    assert fault(shard(stream)).reason == "unsupported_layout"


def test_the_framing_from_before_arrow_0_15_is_read(table, shard, read, fault):
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, table.schema, options=ipc.IpcWriteOptions(use_legacy_format=True)) as writer:
        writer.write_table(table, max_chunksize=2)
    stream = sink.getvalue().to_pybytes()
    assert stream[:4] != b"\xff\xff\xff\xff"
    assert read(shard(stream)) == table.to_pylist()
    assert fault(shard(stream[:-4])).reason == "no_end_marker"
    assert fault(shard(stream[:-6])).reason == "truncated"


@pytest.fixture(params=[1, 2 << 20], ids=["apart", "joined"])
def joined(request, monkeypatch) -> None:
    """Read small batches one by one, each as a unit of its own, or all together."""
    monkeypatch.setattr(ours, "_JOINED_BYTES", request.param)
    monkeypatch.setattr(proof.units_of, "__defaults__", (request.param,))


@pytest.mark.usefixtures("joined")
def test_dictionaries_are_those_that_stand_before_a_batch(shard, read):
    kind = pa.dictionary(pa.int8(), pa.string())
    parts = [["a", "b"], ["c"], ["c", "d"], ["e"]]
    batches = [pa.record_batch({"source": pa.array(part).dictionary_encode().cast(kind)}) for part in parts]
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    assert read(shard(sink.getvalue().to_pybytes())) == [{"source": each} for part in parts for each in part]


@pytest.mark.usefixtures("joined")
def test_dictionaries_that_only_grow_are_read(shard, read):
    kind = pa.dictionary(pa.int8(), pa.string())
    values = pa.array(["a", "b", "c"])
    arrays = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), values[:2]),
        pa.DictionaryArray.from_arrays(pa.array([2, 0], pa.int8()), values),
    ]
    sink = pa.BufferOutputStream()
    schema = pa.schema({"source": kind})
    with ipc.new_stream(sink, schema, options=ipc.IpcWriteOptions(emit_dictionary_deltas=True)) as writer:
        for array in arrays:
            writer.write_batch(pa.record_batch([array], schema=schema))
        assert writer.stats.num_dictionary_deltas == 1
    assert read(shard(sink.getvalue().to_pybytes())) == [{"source": each} for each in ("a", "b", "c", "a")]


def test_many_small_batches_come_as_one(encode, shard):
    table = pa.table({"input_ids": pa.array([[n] for n in range(100)], pa.list_(pa.int32())), "a": ["x"] * 100})
    opened = open_shard(shard(encode("stream", table, rows=1)))
    batches = [batch for unit in opened.units for _, batch in opened.read(unit)]
    assert len(batches) == 1
    assert batches[0].to_pylist() == table.to_pylist()


def test_columns_are_chosen_by_name_in_the_order_of_the_file(table, encode, shard, read):
    stream = shard(encode("stream", table))
    chosen = read(stream, ["text", "absent", "input_ids"])
    assert chosen == table.select(["input_ids", "text"]).to_pylist()
    assert list(chosen[0]) == ["input_ids", "text"]
    assert read(stream, []) == [{}] * 5
    assert read(stream, ["absent"]) == [{}] * 5
