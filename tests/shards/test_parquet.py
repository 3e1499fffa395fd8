from __future__ import annotations

import io
import itertools
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataguard.errors import ShardFault
from dataguard.shards import parquet
from dataguard.shards.opening import open_shard


def test_all_rows_come_back(table, encode, shard, read):
    assert read(shard(encode("parquet", table))) == table.to_pylist()


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
def test_every_compression_is_read(compression, table, encode, shard, read):
    assert read(shard(encode("parquet", table, compression=compression))) == table.to_pylist()


def test_rows_are_numbered_across_row_groups_and_batches(encode, shard, monkeypatch):
    monkeypatch.setattr(parquet, "_BATCH_BYTES", 64)
    table = pa.table({"input_ids": pa.array([[n] * 3 for n in range(100)], pa.list_(pa.int32()))})
    opened = open_shard(shard(encode("parquet", table, rows=30)))
    batches = [each for unit in opened.units for each in opened.read(unit)]
    assert len(batches) > 4
    assert all(batch.column(0)[0][0].as_py() == first for first, batch in batches)
    assert sum(batch.num_rows for _, batch in batches) == opened.rows == 100


def test_types_come_back_as_they_were_written(encode, shard):
    ids = [[1, 2], [3, 4]]
    table = pa.table(
        {
            "large": pa.array(ids, pa.large_list(pa.uint16())),
            "fixed": pa.array(ids, pa.list_(pa.int32(), 2)),
            "source": pa.array(["a", "b"]).dictionary_encode(),
            "messages": pa.array([[{"role": "user", "content": "x"}], []]),
        }
    )
    opened = open_shard(shard(encode("parquet", table)))
    assert opened.schema.equals(table.schema)
    [(_, batch)] = opened.read(opened.units[0])
    assert batch.schema.equals(table.schema)
    assert batch.to_pylist() == table.to_pylist()


def test_columns_are_top_level_names_even_with_dots_in_them(shard, encode, read):
    table = pa.table({"a.b": [[1], [2]], "a": [{"b": 3, "c": 4}] * 2, "c": [5, 6]})
    file = shard(encode("parquet", table))
    assert read(file, ["a.b"]) == [{"a.b": [1]}, {"a.b": [2]}]
    assert read(file, ["a"]) == [{"a": {"b": 3, "c": 4}}] * 2
    assert read(file, ["b", "c"]) == [{"c": 5}, {"c": 6}]
    assert read(file, ["absent"]) == [{}, {}]


def test_a_file_without_row_groups_has_no_rows(table, encode, shard, read):
    assert read(shard(encode("parquet", table.slice(0, 0)))) == []


def test_wherever_it_is_cut_it_is_a_fault(table, encode, shard, fault):
    whole = encode("parquet", table)
    assert {fault(shard(whole[:size])).reason for size in range(2, len(whole), 7)} == {"truncated"}


@pytest.mark.parametrize("length", [0, 2**31 - 1, 2**32 - 1])
def test_a_footer_that_lies_about_its_length_is_corrupt(length, table, encode, shard, fault):
    whole = encode("parquet", table)
    assert fault(shard(whole[:-8] + struct.pack("<I", length) + whole[-4:])).reason == "corrupt"


def test_bytes_lost_from_the_middle_are_truncated(table, encode, shard, fault):
    whole = encode("parquet", table)
    footer = 8 + struct.unpack("<I", whole[-8:-4])[0]
    assert fault(shard(whole[:20] + whole[-footer:])).reason == "truncated"


def test_a_page_whose_checksum_fails_is_corrupt(encode, shard, fault):
    table = pa.table({"input_ids": pa.array([list(range(1000))], pa.list_(pa.int32()))})
    whole = bytearray(encode("parquet", table, compression="none"))
    whole[whole.index(struct.pack("<4i", 500, 501, 502, 503))] ^= 1
    found = fault(shard(whole))
    assert (found.reason, "CRC" in found.detail) == ("corrupt", True)


def test_a_page_that_claims_more_than_it_can_hold_is_not_believed(encode, shard, fault):
    table = pa.table({"a": pa.array(range(1000), pa.int64())})
    sink = io.BytesIO()
    pq.write_table(table, sink, use_dictionary=False, compression="none", column_encoding={"a": "PLAIN"})
    whole = sink.getvalue()
    size = next(size for size in range(8000, 8100) if whole[4:40].count(varint(size)) == 2)  # packed and unpacked
    huge = varint(2**30 + size)  # as many bytes more as the number gets longer
    more = len(huge) - len(varint(size))
    lying = whole[:4] + whole[4:].replace(varint(size), huge, 1)[:-more]
    found = fault(shard(lying[: len(whole) - 4] + b"PAR1"))
    assert found.reason == "corrupt"


def varint(number: int) -> bytes:
    """Return a number as Thrift's compact protocol spells it."""
    number, spelled = 2 * number, b""
    while number > 127:
        spelled += bytes([number & 127 | 128])
        number >>= 7
    return spelled + bytes([number])


def test_two_files_run_together_are_told(table, encode, shard, fault):
    found = fault(shard(encode("parquet", table) * 2))
    assert found.reason == "trailing_data"


def test_two_columns_of_one_name_are_told(encode, shard, fault):
    array = pa.array([[1]], pa.list_(pa.int32()))
    table = pa.table([array, array], names=["input_ids", "input_ids"])
    for layout in ("parquet", "stream", "file"):
        found = fault(shard(encode(layout, table)))
        assert (found.reason, "input_ids" in found.detail) == ("duplicate_column", True)


def test_an_encrypted_footer_is_unsupported(shard, fault):
    assert fault(shard(b"PARE" + bytes(20) + b"PARE")).reason == "unsupported_layout"


def test_row_groups_whose_data_lie_elsewhere_are_unsupported(tmp_path, shard, fault):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    metadata = pq.read_metadata(tmp_path / "a.parquet")
    metadata.set_file_path("a.parquet")
    metadata.write_metadata_file(tmp_path / "_metadata")
    assert fault(shard((tmp_path / "_metadata").read_bytes(), "metadata.parquet")).reason == "unsupported_layout"


def unread(encode, mark: str = "words that stand in one place only") -> tuple[pa.Table, bytes]:
    """Return a table with a column of text that a test does not ask for, and its bytes, uncompressed."""
    table = pa.table({"input_ids": pa.array([[1, 2]], pa.list_(pa.int32())), "text": [mark]})
    return table, encode("parquet", table, compression="none")


def test_a_damaged_page_of_a_column_that_nobody_asks_for_is_found_by_its_checksum(encode, shard, fault):
    _, whole = unread(encode)
    found = fault(shard(whole.replace(b"one place", b"two place", 1)), columns=["input_ids"])
    assert (found.reason, "checksum" in found.detail, "'text'" in found.detail) == ("corrupt", True, True)


def test_a_lost_page_of_a_column_that_nobody_asks_for_is_found_by_its_header(encode, shard, fault):
    table = pa.table({"input_ids": pa.array([[1, 2]], pa.list_(pa.int32())), "text": ["x" * 5000]})
    sink = io.BytesIO()
    pq.write_table(table, sink, use_dictionary=False, compression="none", write_statistics=False)
    whole = sink.getvalue()
    start = pq.read_metadata(io.BytesIO(whole)).row_group(0).column(1).data_page_offset
    found = fault(shard(whole[:start] + bytes(64) + whole[start + 64 :]), columns=["input_ids"])
    assert (found.reason, "'text'" in found.detail) == ("corrupt", True)


def test_checksums_of_pages_that_are_right_hold(encode, shard, read):
    table, whole = unread(encode)
    assert read(shard(whole), ["input_ids"]) == table.select(["input_ids"]).to_pylist()
    assert read(shard(encode("parquet", table, compression="zstd")), ["text"]) == table.select(["text"]).to_pylist()


def test_a_turned_bit_never_leaves_a_part_of_a_column_out_in_silence(shard, read):
    """A row that becomes two moves those after it beside others, and Arrow drops the last one without a word."""
    rows = [[7] * 40, [8] * 40, [9] * 40]
    table = pa.table(
        {"input_ids": pa.array(rows, pa.list_(pa.int32())), "labels": pa.array(rows, pa.list_(pa.int32()))}
    )
    sink = io.BytesIO()
    pq.write_table(table, sink, use_dictionary=False, compression="none", column_encoding="PLAIN")
    whole = sink.getvalue()
    start = whole.index(struct.pack("<3i", 7, 7, 7))
    dropped = faults = 0
    for at, bit in itertools.product(range(start - 60, start), range(8)):
        file = shard(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
        try:
            found = read(file)
        except ShardFault:
            faults += 1
            try:
                theirs = pq.read_table(file.path, columns=["input_ids"])["input_ids"].to_pylist()
            except (OSError, pa.ArrowException):
                continue
            dropped += sum(len(row or []) for row in theirs) < 120
        else:
            assert sum(len(row["input_ids"] or [0]) for row in found) == 120
    assert dropped
    assert faults > dropped


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[1, 2], None, [], [3]], pa.list_(pa.int32())),
        pa.array([[1, 2], None, [3, None]], pa.list_(pa.int32(), 2)),
        pa.array([[[1], [], None], None, [], [[2, 3]]], pa.list_(pa.large_list(pa.int64()))),
        pa.array([[{"a": [1, 2], "b": 1}], None, [], [{"a": None, "b": 2}, None]]),
        pa.array([{"a": [1, 2], "b": 1}, None, {"a": [], "b": None}]),
        pa.array([{"a": {"b": {"c": [[1]]}}}, {"a": {"b": None}}, None]),
        pa.array(["x", None, "x"]).dictionary_encode(),
        pa.array([b"x", None]),
        pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int32())),
        pa.nulls(3),
        pa.array([], pa.list_(pa.int32())),
        pa.array([[]], pa.list_(pa.struct({"a": pa.list_(pa.int8())}))),
    ],
    ids=lambda array: str(array.type)[:40],
)
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_columns_of_every_shape_take_as_many_entries_as_were_written(array, version, shard, read):
    table = pa.table({"column": array})
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=2, data_page_version=version)
    assert read(shard(sink.getvalue())) == table.to_pylist()
