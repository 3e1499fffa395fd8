from __future__ import annotations

import gzip
import os
import pickle
import sqlite3
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dataguard.errors import ShardFault
from dataguard.shards.model import Shard
from dataguard.shards.opening import misnamed, open_shard

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4f4f\nsize 123456\n"


def test_the_content_decides_not_the_name(table, encode, shard, read):
    for layout, name, known_as in (
        ("parquet", "a.arrow", "Parquet"),
        ("file", "b.parquet", "Arrow IPC file"),
        ("stream", "c.json", "Arrow IPC stream"),
    ):
        written = shard(encode(layout, table), name)
        assert open_shard(written).layout == known_as
        assert read(written) == table.to_pylist()


@pytest.mark.parametrize(
    ("name", "layout", "expected"),
    [
        ("a.parquet", "Arrow IPC file", True),
        ("a.arrow", "Parquet", True),
        ("a.arrow", "Arrow IPC stream", False),
        ("a.arrow", "Arrow IPC file", False),
        ("a.arrows", "Arrow IPC file", False),
        ("a.feather", "Arrow IPC file", False),
        ("a.feather", "Arrow IPC stream", True),
        ("A.PARQUET", "Parquet", False),
        ("a.npy", "Parquet", True),
        ("a.json", "Parquet", True),
        ("part-0", "Parquet", False),
        ("part-0.v2", "Parquet", False),
    ],
)
def test_a_name_misleads_where_its_suffix_says_another_layout(name, layout, expected):
    assert misnamed(Shard(name, Path(name)), layout) is expected


def test_a_table_in_memory_has_no_name_to_mislead(table):
    assert not misnamed(Shard("table", table=table), "table")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty_file"),
        (LFS, "lfs_pointer"),
        (b"not a shard\n", "not_recognised"),
        (bytes(4096), "not_recognised"),
        (b"ARROW1", "truncated"),
        (b"PAR1", "truncated"),
        (b"\xff\xff\xff\xff", "truncated"),
        (b"\xff\xff\xff\xff\0\0\0\0", "corrupt"),
        (b"MMIDIDX\0\0" + bytes(30), "unsupported_layout"),
        (gzip.compress(b"x", mtime=0), "unsupported_layout"),
        (b"\x28\xb5\x2f\xfd" + bytes(9), "unsupported_layout"),
        (b"PK\x03\x04" + bytes(30), "unsupported_layout"),
        (b"\x89HDF\r\n\x1a\n" + bytes(30), "unsupported_layout"),
        (
            b"\x01\0\0\0" + (24).to_bytes(4, "little") + (30).to_bytes(4, "little") + b'{"a": 1}    ',
            "unsupported_layout",
        ),
    ],
)
def test_what_is_no_readable_shard_has_a_reason(data, reason, shard, fault):
    assert fault(shard(data)).reason == reason


def test_an_array_an_archive_and_a_data_base_are_named(tmp_path, fault):
    np.save(tmp_path / "a.npy", np.arange(3))
    with tarfile.open(tmp_path / "b.tar", "w") as archive:
        archive.add(tmp_path / "a.npy", "a.npy")
    with sqlite3.connect(tmp_path / "c.bin") as base:
        base.execute("create table t (x)")
    base.close()
    for name, what in (("a.npy", "NumPy"), ("b.tar", "tar"), ("c.bin", "SQLite")):
        found = fault(Shard(name, tmp_path / name))
        assert (found.reason, what in found.detail) == ("unsupported_layout", True)


def test_what_cannot_be_opened_is_unreadable(tmp_path, fault):
    os.mkfifo(tmp_path / "pipe.arrow")
    (tmp_path / "folder.arrow").mkdir()
    (tmp_path / "gone.arrow").symlink_to(tmp_path / "nowhere")
    for name in ("pipe.arrow", "folder.arrow", "gone.arrow", "never.arrow", "nul\0byte.arrow"):
        assert fault(Shard(name, tmp_path / name)).reason == "unreadable"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_unreadable(table, encode, shard, fault):
    written = shard(encode("stream", table))
    written.path.chmod(0)
    assert fault(written).reason == "unreadable"


@pytest.mark.parametrize("layout", ["stream", "file", "parquet"])
@pytest.mark.parametrize("change", ["append", "replace", "remove", "touch"])
def test_a_file_that_changes_after_it_was_opened_is_unreadable(layout, change, table, encode, shard):
    data = encode(layout, table)
    written = shard(data)
    opened = open_shard(written)
    os.utime(written.path, ns=(1, 1))
    opened = open_shard(written)
    if change == "append":
        written.path.write_bytes(data + b"x")
    elif change == "replace":
        other = written.path.with_name("other")
        other.write_bytes(data)
        other.replace(written.path)
    elif change == "remove":
        written.path.unlink()
    else:
        os.utime(written.path)
    with pytest.raises(ShardFault, match="unreadable"):
        list(opened.read(opened.units[0]))


@pytest.mark.parametrize("layout", ["stream", "file", "parquet"])
def test_a_file_that_changes_while_it_is_read_is_unreadable(layout, table, encode, shard):
    written = shard(encode(layout, table))
    opened = open_shard(written)
    batches = opened.read(opened.units[0])
    next(batches)
    os.utime(written.path, ns=(1, 1))
    with pytest.raises(ShardFault, match="unreadable"):
        list(batches)


@pytest.mark.parametrize("layout", ["stream", "file", "parquet"])
def test_an_open_shard_holds_no_file_and_can_be_sent_elsewhere(layout, table, encode, shard):
    descriptors = Path("/proc/self/fd")
    before = len([*descriptors.iterdir()]) if descriptors.exists() else 0
    opened = pickle.loads(pickle.dumps(open_shard(shard(encode(layout, table)))))
    batches = [batch for unit in opened.units for _, batch in opened.read(unit)]
    assert pa.Table.from_batches(batches).to_pylist() == table.to_pylist()
    assert before == (len([*descriptors.iterdir()]) if descriptors.exists() else 0)


def test_a_name_of_a_column_that_is_no_utf8_is_corrupt(encode, shard, fault):
    stream = encode("stream", pa.table({"input_ids": [[1]], "meta": [{"inner": 1}]}))
    assert stream.count(b"inner") == 1
    assert fault(shard(stream.replace(b"inner", b"inn\xffr"))).reason == "corrupt"


@pytest.mark.parametrize("layout", ["stream", "file", "parquet"])
def test_paths_are_taken_literally(layout, table, encode, shard, read):
    for name in ("run[0] é 100%.arrow", "数据 *?.parquet"):
        assert read(shard(encode(layout, table), name)) == table.to_pylist()


def test_a_path_that_is_no_utf8_is_read(tmp_path, table, encode, read):
    path = tmp_path / os.fsdecode(b"part-\xff.parquet")
    try:
        path.write_bytes(encode("parquet", table))
    except OSError:
        pytest.skip("this file system knows only UTF-8")
    assert read(Shard("part", path)) == table.to_pylist()
