from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dataguard.errors import DataError
from dataguard.shards.discovery import discover

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4f4f\nsize 123456\n"
STATE = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": None}


@pytest.fixture
def stream(table, encode) -> bytes:
    return encode("stream", table)


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Return what writes files ({path: bytes, text or JSON}) into a folder called data."""

    def written(files: dict[str, Any], name: str = "data") -> Path:
        root = tmp_path / name
        root.mkdir(parents=True)
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            (root / path).write_bytes(data)
        return root

    return written


def names(*data: Path) -> list[str]:
    return [shard.name for shard in discover(data).shards]


def test_a_folder_is_walked_in_the_order_of_names(folder, stream):
    files = ["b.arrow", "a/2.arrow", "a/10.arrow", "数据/run[0] é.arrow", "c.parquet"]
    found = discover([folder(dict.fromkeys(files, stream))])
    assert [shard.name for shard in found.shards] == [
        "a/10.arrow",
        "a/2.arrow",
        "b.arrow",
        "c.parquet",
        "数据/run[0] é.arrow",
    ]
    assert [shard.folder for shard in found.shards] == ["a", "a", None, None, "数据"]
    assert found.ignored == ()


def test_brackets_are_no_pattern(folder, stream):
    root = folder({"a[1].arrow": stream, "a1.arrow": stream}, name="run[0]")
    assert names(root) == ["a1.arrow", "a[1].arrow"]
    assert names(root / "a[1].arrow") == ["a[1].arrow"]


def test_the_folder_is_the_first_one_below_data(folder, stream):
    [shard] = discover([folder({"web/2024/part.arrow": stream})]).shards
    assert (shard.name, shard.folder) == ("web/2024/part.arrow", "web")


def test_what_is_no_shard_is_listed_with_its_reason(folder, stream):
    root = folder(
        {
            "part.arrow": stream,
            ".hidden.arrow": stream,
            "_SUCCESS": b"",
            ".git/x.arrow": stream,
            "lost+found/x.arrow": stream,
            "README.md": b"# data",
            "LICENSE": b"free",
            "docs.csv.gz": b"\x1f\x8b",
            "index.json": {},
            "model.safetensors": b"\x08\0\0\0\0\0\0\0{}",
            "weights.pt": b"PK\x03\x04" + bytes(30),
            "raw.jsonl": b"{}",
            "pointer": LFS,
        }
    )
    found = discover([root])
    assert [shard.name for shard in found.shards] == ["part.arrow"]
    ignored = dict(found.ignored)
    assert set(ignored) == {
        *(".hidden.arrow", "_SUCCESS", ".git/", "lost+found/", "README.md", "LICENSE", "docs.csv.gz", "index.json"),
        *("model.safetensors", "weights.pt", "raw.jsonl", "pointer"),
    }
    assert ignored["_SUCCESS"] == "its name begins with _"
    assert ignored["README.md"] == "a sidecar"
    assert "zip" in ignored["weights.pt"]
    assert "nothing recognises it" in ignored["model.safetensors"]


def test_the_content_makes_a_shard_whatever_the_name(folder, stream, table, encode):
    root = folder(
        {"part-0": stream, "b.json": encode("parquet", table), "c.txt": encode("file", table), "d.tmp": stream}
    )
    assert names(root) == ["b.json", "c.txt", "d.tmp", "part-0"]


def test_a_shard_s_suffix_makes_a_shard_whatever_the_content(folder):
    root = folder(
        {"a.arrow": b"text", "b.parquet": LFS, "c.bin": b"\1\2", "d.npy": b"", "e.mds.zstd": b"x", "f.ds": b"x"}
    )
    assert len(names(root)) == 6


def test_a_file_named_as_data_always_is_a_shard(folder):
    root = folder({"_x.json": b"{}", "report.json": {"meta": {"dataguard": 1}}})
    assert names(root / "_x.json", root / "report.json") == ["_x.json", "report.json"]


def test_data_itself_may_be_hidden(folder, stream):
    assert names(folder({"a.arrow": stream}, name="_cache/.data")) == ["a.arrow"]


def test_what_datasets_leaves_beside_a_state_json_is_no_shard(folder, stream):
    files = [
        "cache-1.arrow",
        "tmpab.arrow",
        "indices-1.arrow",
        "data-00000-of-00001.arrow",
        "data-00001-of-00002.arrow",
    ]
    saved = folder({"state.json": STATE, **dict.fromkeys(files, stream)})
    assert names(saved) == ["data-00000-of-00001.arrow", "data-00001-of-00002.arrow"]
    assert names(folder(dict.fromkeys(files, stream), name="plain")) == sorted(files)


def test_a_file_that_state_json_lists_is_a_shard_whatever_its_name(folder, stream):
    listed = {"_data_files": [{"filename": "cache-1.arrow"}]}
    assert names(folder({"state.json": listed, "cache-1.arrow": stream, "cache-2.arrow": stream})) == ["cache-1.arrow"]


@pytest.mark.parametrize("state", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, {"_data_files": 3}, {"_data_files": [3]}])
def test_a_state_json_that_says_nothing_harms_nothing(state, folder, stream):
    found = discover([folder({"state.json": state, "a.arrow": stream})])
    assert [(shard.name, shard.split) for shard in found.shards] == [("a.arrow", None)]
    assert found.notes == ()


def test_the_split_is_the_folder_s_name_in_a_dataset_dict(folder, stream):
    part = {"data-00000-of-00001.arrow": stream, "state.json": {**STATE, "_split": "other"}}
    files = {f"{split}/{name}": content for split in ("train", "test") for name, content in part.items()}
    root = folder({"dataset_dict.json": {"splits": ["train", "test"]}, **files})
    assert [(shard.folder, shard.split) for shard in discover([root]).shards] == [("test", "test"), ("train", "train")]
    assert [(shard.folder, shard.split) for shard in discover([root / "train"]).shards] == [(None, "train")]
    [shard] = discover([root / "train" / "data-00000-of-00001.arrow"]).shards
    assert shard.split == "train"


def test_the_split_comes_from_state_json(folder, stream):
    state = {**STATE, "_split": "validation"}
    [shard] = discover([folder({"web/state.json": state, "web/data-00000-of-00001.arrow": stream})]).shards
    assert (shard.split, shard.folder) == ("validation", "web")


def test_an_output_of_ours_is_not_entered_but_may_be_data(folder, stream):
    report = {"success": True, "meta": {"dataguard": {"version": "1"}}}
    root = folder({"a.arrow": stream, "out/report.json": report, "out/quarantine/data.arrow": stream})
    found = discover([root])
    assert [shard.name for shard in found.shards] == ["a.arrow"]
    assert dict(found.ignored)["out/"] == "an output of dataguard"
    assert names(root / "out") == ["quarantine/data.arrow"]


def test_another_report_is_no_output_of_ours(folder, stream):
    assert names(folder({"out/report.json": {"success": True}, "out/a.arrow": stream})) == ["out/a.arrow"]


def test_links_are_followed_without_going_in_circles(folder, stream, tmp_path):
    root, other = folder({"a/x.arrow": stream}), folder({"y.arrow": stream}, name="other")
    (root / "a" / "back").symlink_to(root)
    (root / "b").symlink_to(other)
    (root / "link.arrow").symlink_to(other / "y.arrow")
    (root / "broken.arrow").symlink_to(tmp_path / "nowhere")
    (root / "broken").symlink_to(tmp_path / "nowhere")
    (root / "loop").symlink_to(root / "loop")
    found = discover([root])
    assert [shard.name for shard in found.shards] == ["a/x.arrow", "b/y.arrow", "broken.arrow", "link.arrow"]
    assert set(dict(found.ignored)) == {"a/back/", "broken", "loop"}


def test_a_folder_deeper_than_the_stack_is_walked(tmp_path, stream):
    depth, limit = 300, sys.getrecursionlimit()
    deepest = Path(f"{tmp_path}{'/d' * depth}")
    deepest.mkdir(parents=True)
    (deepest / "a.arrow").write_bytes(stream)
    try:
        sys.setrecursionlimit(len(inspect.stack()) + depth // 2)
        [shard] = discover([tmp_path]).shards
    finally:
        sys.setrecursionlimit(limit)
    assert shard.name == "d/" * depth + "a.arrow"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list everything")
def test_a_folder_that_cannot_be_listed_becomes_a_finding(folder, stream, fault):
    root = folder({"a.arrow": stream, "closed/b.arrow": stream})
    (root / "closed").chmod(0)
    try:
        found = discover([root])
        assert [shard.name for shard in found.shards] == ["a.arrow", "closed/"]
        assert fault(found.shards[1]).reason == "unreadable"
        with pytest.raises(DataError, match="cannot be listed"):
            discover([root / "closed"])
    finally:
        (root / "closed").chmod(0o700)


def test_a_pipe_is_never_waited_for(folder, stream):
    root = folder({"a.arrow": stream})
    os.mkfifo(root / "pipe")
    os.mkfifo(root / "pipe.arrow")
    assert names(root) == ["a.arrow", "pipe.arrow"]


def test_names_that_collide_get_as_much_of_their_paths_as_tells_them_apart(folder, stream):
    a, b = folder({"x.arrow": stream}, name="a/data"), folder({"x.arrow": stream, "y.arrow": stream}, name="b/data")
    c = folder({"z.arrow": stream}, name="c")
    assert names(b, c) == ["x.arrow", "y.arrow", "z.arrow"]
    assert names(a, b) == ["a/data/x.arrow", "b/data/x.arrow", "b/data/y.arrow"]
    assert names(a / "x.arrow", b / "x.arrow") == ["a/data/x.arrow", "b/data/x.arrow"]
    assert names(a, folder({"x.arrow": stream}, name="d")) == ["data/x.arrow", "d/x.arrow"]


def test_a_file_named_by_two_paths_is_one_shard(folder, stream):
    root = folder({"a.arrow": stream, "b.arrow": stream})
    assert names(root, root / "a.arrow") == ["a.arrow", "b.arrow"]
    assert names(root / "a.arrow", root / "." / "a.arrow") == ["a.arrow"]


def test_a_name_that_is_no_utf8_can_still_be_told(folder, stream):
    root = folder({"a.arrow": stream})
    try:
        (root / os.fsdecode(b"b\xff.arrow")).write_bytes(stream)
    except OSError:
        pytest.skip("this file system knows only UTF-8")
    found = discover([root])
    assert [shard.name for shard in found.shards] == ["a.arrow", "b\\xff.arrow"]
    assert found.shards[1].path is not None
    assert found.shards[1].path.exists()


def test_a_path_that_does_not_exist_is_an_error_that_says_where_it_ends(folder):
    root = folder({})
    with pytest.raises(DataError) as caught:
        discover([root / "no" / "such"])
    assert caught.value.why == f"there is no no in {root}"


@pytest.mark.parametrize(
    "address", ["s3://bucket/data", "gs://bucket/a.arrow", "https://host/a.parquet", "hf://datasets/a/b"]
)
def test_an_address_is_told_to_be_one(address):
    with pytest.raises(DataError, match="must be on this machine") as caught:
        discover([Path(address)])
    assert caught.value.where == address


def test_no_shard_at_all_is_an_error_that_says_what_was_seen(folder):
    with pytest.raises(DataError, match=r"README\.md \(a sidecar\)"):
        discover([folder({"README.md": b"x"})])
    with pytest.raises(DataError, match="nothing lies there"):
        discover([folder({}, name="empty")])


def test_a_data_set_saved_without_rows_is_an_error_unless_there_is_more(folder, stream):
    empty = {"state.json": {"_data_files": []}, "dataset_info.json": {}}
    with pytest.raises(DataError, match="the data set is empty"):
        discover([folder(empty)])
    split = {f"test/{name}": content for name, content in empty.items()}
    found = discover([folder({**split, "train/a.arrow": stream}, name="both")])
    assert found.notes == ("test is a data set that was saved without rows: its state.json lists no file",)
