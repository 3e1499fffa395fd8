"""Every shape that tokens come in, from the file to the verdict. Id 9 is the one fault that each data set holds."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import dataguard
from dataguard.errors import DataError
from dataguard.result import Result

RANGE, INTACT = "expect_token_ids_to_be_in_vocabulary", "expect_shards_to_be_intact"
ROWS = [[1, 2, 3], [], None, [4, 9, 5], [6]]


def validated(data: Any, **options: Any) -> Result:
    types = ("expect_shards_to_be_intact", RANGE, "expect_rows_not_to_be_null")
    suite: Mapping[str, Any] = {
        "name": "shapes",
        "expectations": [{"type": each} for each in types],
        "meta": {"dataguard": {"vocabulary": {"size": 9}}},
    }
    return dataguard.validate(data, suite=suite, store=None, jobs=2, **options)


def beyond(result: Result) -> list[tuple[str | None, int | None, int | None]]:
    """Return (shard, row, position) of every id beyond the vocabulary."""
    [verdict] = [each for each in result.results if each.type == RANGE]
    assert verdict.unjudged is None
    return [(each.shard, each.row, each.position) for each in verdict.findings]


def broken(result: Result) -> dict[str | None, str]:
    """Return {shard: reason} of the shards that are not intact."""
    [verdict] = [each for each in result.results if each.type == INTACT]
    return {each.shard: each.reason for each in verdict.findings}


def ignored(result: Result) -> list[str]:
    [verdict] = [each for each in result.results if each.type == INTACT]
    return list(verdict.details.get("ignored", []))


def write(path: Path, *tables: pa.Table) -> Path:
    """Write a stream, each table a batch of its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with ipc.new_stream(str(path), tables[0].schema) as writer:
        for table in tables:
            for batch in table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]:
                writer.write_batch(batch)
    return path


def ids(rows: Any = ROWS, kind: pa.DataType | None = None, **columns: Any) -> pa.Table:
    return pa.table({"input_ids": pa.array(rows, kind or pa.list_(pa.int32())), **columns})


@pytest.mark.parametrize("number", [pa.int8(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()])
@pytest.mark.parametrize("layout", [pa.list_, pa.large_list, pa.list_view, pa.large_list_view])
def test_every_list_of_every_number_is_judged(layout, number, tmp_path):
    result = validated(write(tmp_path / "a.arrow", ids(kind=layout(number))))
    assert beyond(result) == [("a.arrow", 3, 1)]
    assert (result.meta["rows"], result.meta["tokens"]) == (5, 7)
    assert result.unexpected("expect_rows_not_to_be_null")["row"].to_list() == [2]


def test_lists_of_a_fixed_size_are_judged(tmp_path):
    rows = [[1, 2], None, [3, 9]]
    result = validated(write(tmp_path / "a.arrow", ids(rows, pa.list_(pa.uint16(), 2))))
    assert (beyond(result), result.meta["tokens"]) == ([("a.arrow", 2, 1)], 4)


@pytest.mark.parametrize("kind", [pa.ListViewArray, pa.LargeListViewArray])
def test_list_views_may_overlap_and_stand_in_any_order(kind, tmp_path):
    number = pa.int32() if kind is pa.ListViewArray else pa.int64()
    values = pa.array([1, 2, 9, 3, 4], pa.int32())
    offsets, sizes = pa.array([3, 0, 1, 5, 2], number), pa.array([2, 5, 3, 0, 1], number)
    table = pa.table({"input_ids": kind.from_arrays(offsets, sizes, values)})
    result = validated(write(tmp_path / "a.arrow", table))
    assert beyond(result) == [("a.arrow", 1, 2), ("a.arrow", 2, 1), ("a.arrow", 4, 0)]
    assert result.meta["tokens"] == 11


def test_windows_that_overlap_sixty_times_are_judged():
    values = pa.array(np.arange(3000) % 9, pa.int32())
    starts = np.arange(0, 2000, 16, dtype=np.int32)
    views = pa.ListViewArray.from_arrays(pa.array(starts), pa.array(np.full(125, 1000, np.int32)), values)
    assert validated(pa.table({"input_ids": views})).meta["tokens"] == 125_000


def test_list_views_that_spell_out_a_few_values_without_end_are_a_fault(tmp_path):
    rows = 20_000
    views = pa.ListViewArray.from_arrays(
        pa.array(np.zeros(rows, np.int32)),
        pa.array(np.full(rows, 10_000, np.int32)),
        pa.array([1] * 10_000, pa.int32()),
    )
    result = validated(
        [write(tmp_path / "views.arrow", pa.table({"input_ids": views})), write(tmp_path / "a.arrow", ids())]
    )
    assert broken(result) == {"views.arrow": "unsupported_layout"}
    assert beyond(result) == [("a.arrow", 3, 1)]


@pytest.mark.parametrize("layout", ["list", "fixed"])
def test_lists_of_nulls_that_take_no_bytes_are_a_fault(layout, tmp_path):
    count = 2**31 - 1
    if layout == "list":
        buffers = [None, pa.py_buffer(np.array([0, count], np.int32))]
        lists = pa.Array.from_buffers(pa.list_(pa.null()), 1, buffers, children=[pa.nulls(count)])
    else:
        lists = pa.FixedSizeListArray.from_arrays(pa.nulls(count), count)
    result = validated(
        [write(tmp_path / "n.arrow", pa.table({"input_ids": lists})), write(tmp_path / "a.arrow", ids())]
    )
    assert broken(result) == {"n.arrow": "corrupt"}


def test_lists_of_nulls_are_rows_with_null_elements(tmp_path):
    result = validated(write(tmp_path / "a.arrow", ids([[None, None], [], None], pa.list_(pa.null()))))
    assert result.unexpected("expect_rows_not_to_be_null")["reason"].to_list() == ["null_element", "null_row"]


def test_a_column_of_nothing_but_nulls_is_no_list(tmp_path):
    write(tmp_path / "a.arrow", ids())
    write(tmp_path / "b.arrow", pa.table({"input_ids": pa.nulls(3)}))
    [verdict] = [each for each in validated(tmp_path).results if each.type == RANGE]
    assert "b.arrow (column input_ids is null)" in str(verdict.unjudged)


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_columns_beside_the_tokens_may_be_anything(suffix, tmp_path):
    others: dict[str, pa.Array] = {
        "source": pa.array(["web", "code", None, "web", "code"]).dictionary_encode(),
        "text": pa.array(["a", None, "ccc", "d" * 40, "é"], pa.large_string()),
        "messages": pa.array([[{"role": "user", "content": "x"}]] * 5),
        "spans": pa.array([[[0, 1], [2, 3]], [], None, [[1, 2]], [[]]], pa.list_(pa.list_(pa.int64()))),
        "meta": pa.array([{"a": {"b": [1]}}, None, {"a": None}, {"a": {"b": None}}, {"a": {"b": []}}]),
        "pairs": pa.array([[("k", 1)], [], None, [("k", None)], []], pa.map_(pa.string(), pa.int32())),
        "none": pa.nulls(5),
        "when": pa.array([0, 1, None, 3, 4], pa.timestamp("us")),
    }
    if suffix == "arrow":
        others |= {
            "view": pa.array(["a", None, "ccc", "d" * 40, "é"], pa.string_view()),
            "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, 5], pa.int32()), pa.array(["x", "y"])),
            "union": pa.UnionArray.from_sparse(pa.array([0] * 5, pa.int8()), [pa.array(range(5))]),
            "half": pa.array(np.zeros(5, np.float16)),
        }
    path = tmp_path / f"a.{suffix}"
    table = ids(**others)
    if suffix == "arrow":
        write(path, table)
    else:
        pq.write_table(table, path)
    result = validated(path)
    assert beyond(result) == [(f"a.{suffix}", 3, 1)]
    assert {each["source"]: each["rows"] for each in result.meta["sources"]} == {"web": 2, "code": 2, None: 1}


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_sources_may_be_text_of_any_kind(kind, tmp_path):
    sources = pa.array(["web", "code", None, "code", "web"]).cast(kind)
    result = validated(write(tmp_path / "a.arrow", ids(source=sources)))
    assert {each["source"]: each["rows"] for each in result.meta["sources"]} == {"web": 2, "code": 2, None: 1}


def test_a_source_column_of_nothing_but_nulls_gives_no_source(tmp_path):
    result = validated(write(tmp_path / "a.arrow", ids(source=pa.nulls(5))))
    assert [each["source"] for each in result.meta["sources"]] == [None]


def test_dictionaries_may_grow_and_change_from_batch_to_batch(tmp_path):
    parts = [
        ids([[1], [9]], source=pa.array(each).dictionary_encode())
        for each in (["web", "code"], ["books", "web"], ["maths", "maths"])
    ]
    result = validated(write(tmp_path / "a.arrow", *parts))
    assert beyond(result) == [("a.arrow", row, 0) for row in (1, 3, 5)]
    assert {each["source"]: each["rows"] for each in result.meta["sources"]} == {
        "web": 2,
        "code": 1,
        "books": 1,
        "maths": 2,
    }


def test_several_schemas_in_one_folder_are_judged_each_by_its_own(tmp_path):
    write(tmp_path / "a.arrow", ids())
    write(tmp_path / "b.arrow", ids(kind=pa.large_list(pa.int64()), extra=pa.nulls(5)))
    pq.write_table(ids([[9]]), tmp_path / "c.parquet")
    assert beyond(validated(tmp_path)) == [("a.arrow", 3, 1), ("b.arrow", 3, 1), ("c.parquet", 0, 0)]


def test_a_dataset_dict_may_have_empty_splits(tmp_path):
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    for split, files in (("train", ["data-00000-of-00001.arrow"]), ("test", [])):
        (tmp_path / split).mkdir()
        (tmp_path / split / "dataset_info.json").write_text("{}")
        listed = [{"filename": name} for name in files]
        (tmp_path / split / "state.json").write_text(json.dumps({"_data_files": listed, "_split": None}))
    write(tmp_path / "train" / "data-00000-of-00001.arrow", ids())
    result = validated(tmp_path)
    assert beyond(result) == [("train/data-00000-of-00001.arrow", 3, 1)]
    assert any("test is a data set that was saved without rows" in note for note in result.meta["notes"])


def indices(rows: int = 5) -> pa.Table:
    return pa.table({"indices": pa.array(range(rows), pa.uint64())})


@pytest.mark.parametrize("name", ["indices-shuffle.arrow", "cache-1f2e.arrow", "z.arrow"])
def test_row_numbers_that_datasets_caches_are_no_shard(name, tmp_path):
    write(tmp_path / "data.arrow", ids())
    write(tmp_path / name, indices())
    result = validated(tmp_path)
    assert beyond(result) == [("data.arrow", 3, 1)]
    assert ignored(result) == [f"{name}: it holds the numbers of rows, as datasets caches a selection"]
    assert result.meta["rows"] == 5


def test_row_numbers_that_state_json_lists_are_no_shard(tmp_path):
    write(tmp_path / "dataset.arrow", ids())
    write(tmp_path / "indices.arrow", indices(2))
    state = {"_data_files": [{"filename": "dataset.arrow"}], "_indices_data_files": [{"filename": "indices.arrow"}]}
    (tmp_path / "state.json").write_text(json.dumps(state))
    result = validated(tmp_path)
    assert beyond(result) == [("dataset.arrow", 3, 1)]
    assert "indices.arrow: it holds the numbers of rows, says state.json" in ignored(result)


def test_row_numbers_that_are_named_are_judged_as_asked(tmp_path):
    write(tmp_path / "data.arrow", ids())
    [verdict] = [
        each
        for each in validated([tmp_path / "data.arrow", write(tmp_path / "indices.arrow", indices())]).results
        if each.type == RANGE
    ]
    assert "indices.arrow (no column input_ids)" in str(verdict.unjudged)


def test_nothing_but_row_numbers_is_an_error_that_names_the_column(tmp_path):
    write(tmp_path / "z.arrow", indices())
    with pytest.raises(DataError, match="indices"):
        validated(tmp_path)


def test_a_column_called_indices_beside_others_is_a_column_like_any(tmp_path):
    assert beyond(validated(write(tmp_path / "a.arrow", ids(indices=pa.array(range(5), pa.uint64()))))) == [
        ("a.arrow", 3, 1)
    ]


def test_real_row_numbers_are_no_shard(fixtures):
    result = validated(fixtures / "shards" / "hf_indices")
    assert any(each.startswith("indices-shuffle.arrow: ") for each in ignored(result))


def test_batches_and_shards_without_rows_change_nothing(tmp_path):
    none = ids([])
    write(tmp_path / "a.arrow", none, ids(), none, ids([[9]]), none)
    write(tmp_path / "b.arrow", none)
    pq.write_table(none, tmp_path / "c.parquet")
    with ipc.new_stream(str(tmp_path / "d.arrow"), none.schema):
        pass
    result = validated(tmp_path)
    assert beyond(result) == [("a.arrow", 3, 1), ("a.arrow", 5, 0)]
    assert (result.meta["rows"], broken(result)) == (6, {})


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_rows_may_have_one_token_or_ten_million(suffix, tmp_path):
    long = np.full(10_000_000, 3, np.int32)
    long[9_999_999] = 9
    offsets = np.array([0, 1, 10_000_001, 10_000_002], np.int32)
    values = np.concatenate([[1], long, [9]]).astype(np.int32)
    table = pa.table({"input_ids": pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))})
    path = tmp_path / f"a.{suffix}"
    if suffix == "arrow":
        write(path, table)
    else:
        pq.write_table(table, path)
    result = validated(path)
    assert beyond(result) == [(f"a.{suffix}", 1, 9_999_999), (f"a.{suffix}", 2, 0)]
    assert result.meta["tokens"] == 10_000_002


def test_offsets_may_begin_before_and_end_beyond_two_to_the_thirty_one():
    """The values are 2 GiB of pages that nobody writes to, of which the rows own the last few; memory holds none of them."""
    values = np.zeros(2**31 + 100, np.uint8)
    values[2**31 + 6] = 9
    offsets = pa.array(np.array([2**31 - 4, 2**31 + 5, 2**31 + 8, 2**31 + 8, 2**31 + 100], np.int64))
    table = pa.table({"input_ids": pa.LargeListArray.from_arrays(offsets, pa.array(values))})
    result = validated(table)
    assert (beyond(result), result.meta["tokens"]) == ([("table", 1, 1)], 104)
    assert beyond(validated(table.slice(1, 2))) == [("table", 0, 1)]


@pytest.mark.slow
def test_a_column_may_hold_more_than_two_to_the_thirty_one_values():
    """A batch of 2.2 billion tokens, of pages that nobody writes to."""
    rows, length = 2200, 1_000_000
    values = np.zeros(rows * length, np.uint8)
    values[2_199_999_999] = 9
    offsets = pa.array(np.arange(rows + 1, dtype=np.int64) * length)
    result = validated(pa.table({"input_ids": pa.LargeListArray.from_arrays(offsets, pa.array(values))}))
    assert (beyond(result), result.meta["tokens"]) == ([("table", 2199, 999_999)], 2_200_000_000)


def test_links_to_files_and_folders_are_followed_and_loops_are_not(tmp_path):
    data, other = tmp_path / "data", tmp_path / "other"
    write(other / "x.arrow", ids())
    write(data / "a.arrow", ids())
    (data / "file.arrow").symlink_to(other / "x.arrow")
    (data / "folder").symlink_to(other)
    (data / "loop").symlink_to(data)
    (data / "gone.arrow").symlink_to(tmp_path / "nowhere")
    result = validated(data)
    assert beyond(result) == [(name, 3, 1) for name in ("a.arrow", "file.arrow", "folder/x.arrow")]
    assert broken(result) == {"gone.arrow": "unreadable"}
    assert any(each.startswith("loop/: ") for each in ignored(result))
    linked = tmp_path / "linked"
    linked.symlink_to(data)
    assert beyond(validated(linked)) == beyond(result)


def test_names_are_taken_as_they_are(tmp_path):
    names = ["a[0-9].arrow", "a1.arrow", "run {x}%20*?.arrow", "数据 é.arrow"]
    for name in names:
        write(tmp_path / "set[1]" / name, ids())
    result = validated(tmp_path / "set[1]")
    assert beyond(result) == [(name, 3, 1) for name in sorted(names)]
    assert beyond(validated(tmp_path / "set[1]" / "a[0-9].arrow")) == [("a[0-9].arrow", 3, 1)]


def test_a_name_that_is_no_utf8_is_told_escaped(tmp_path):
    path = tmp_path / os.fsdecode(b"a\xff.arrow")
    try:
        path.touch()
    except OSError:
        pytest.skip("this file system knows only UTF-8")
    write(tmp_path / "b.arrow", ids())
    path.write_bytes((tmp_path / "b.arrow").read_bytes())
    assert beyond(validated(tmp_path)) == [("a\\xff.arrow", 3, 1), ("b.arrow", 3, 1)]
