"""expect_shards_to_match_manifest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import ipc

import dataguard
from tests.builders import judged, reasons, table_of

MATCH = "expect_shards_to_match_manifest"
TWO = ("data-00000-of-00002.arrow", "data-00001-of-00002.arrow")


def write(
    folder: Path, rows: dict[str, int], listed: tuple[str, ...] | None = None, info: Any = None, **state: Any
) -> Path:
    """Write streams of so many rows and, where `listed` is told, a state.json and a dataset_info.json."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, count in rows.items():
        table = table_of(input_ids=[[1, 5, 2]] * count, types={"input_ids": pa.int32()})
        with ipc.new_stream(str(folder / name), table.schema) as writer:
            writer.write_table(table)
    if listed is not None:
        files = {"_data_files": [{"filename": name} for name in listed], "_fingerprint": "0", "_split": "train"}
        (folder / "state.json").write_text(json.dumps({**files, **state}))
    if info is not None:
        (folder / "dataset_info.json").write_text(json.dumps(info))
    return folder


def split(rows: int, lengths: list[int] | None = None, **info: Any) -> dict[str, Any]:
    return {"splits": {"train": {"num_examples": rows, "shard_lengths": lengths}}, **info}


def found(result) -> list[tuple[str | None, str]]:
    return [(each.shard, each.reason) for each in result.findings]


def test_what_is_listed_and_there_holds(tmp_path):
    result = judged(MATCH, write(tmp_path, dict.fromkeys(TWO, 2), TWO, split(4, [2, 2])))
    assert result.success
    assert result.observed_value == [{"manifest": "state.json", "listed": 2}]


def test_a_shard_that_is_gone_and_one_that_is_not_listed(tmp_path):
    result = judged(MATCH, write(tmp_path, {TWO[0]: 1, "data-00007-of-00009.arrow": 1}, TWO))
    assert found(result) == [(TWO[1], "missing_shard"), ("data-00007-of-00009.arrow", "unlisted_shard")]
    assert reasons(result) == {"missing_shard": 1, "unlisted_shard": 1}


def test_rows_are_compared_shard_by_shard_where_the_manifest_tells_them(tmp_path):
    result = judged(MATCH, write(tmp_path, {TWO[0]: 4, TWO[1]: 3}, TWO, split(8, [4, 4])))
    assert found(result) == [(TWO[1], "row_count")]
    assert result.findings[0].detail == "3 rows; shard_lengths in dataset_info.json says 4"


def test_rows_are_compared_in_all_where_it_does_not(tmp_path):
    result = judged(MATCH, write(tmp_path, {TWO[0]: 4, TWO[1]: 3}, TWO, split(8)))
    assert found(result) == [(None, "row_count")]
    assert result.findings[0].value == 7


def test_what_load_dataset_counted_before_map_and_filter_is_no_fault(tmp_path):
    info = split(8, [4, 4], builder_name="json", dataset_name="corpus")
    result = judged(MATCH, write(tmp_path, {TWO[0]: 4, TWO[1]: 3}, TWO, info))
    assert result.success
    [note] = result.details["notes"]
    assert note.startswith(f"{TWO[1]}: 3 rows; ")


def test_a_data_set_that_datasets_itself_filtered_and_saved_holds(tmp_path):
    datasets = pytest.importorskip("datasets")
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"input_ids": [1, n]}) + "\n" for n in range(9)))
    loaded = datasets.load_dataset(
        "json", data_files=str(tmp_path / "rows.jsonl"), split="train", cache_dir=str(tmp_path / "cache")
    )
    loaded.filter(lambda row: row["input_ids"][1] % 2 == 0).save_to_disk(tmp_path / "saved", num_shards=2)
    assert json.loads((tmp_path / "saved" / "dataset_info.json").read_text())["splits"]["train"]["num_examples"] == 9
    result = judged(MATCH, tmp_path / "saved")
    assert result.success
    assert len(result.details["notes"]) == 1


def test_the_rows_of_a_shard_that_is_not_intact_are_not_counted(tmp_path):
    folder = write(tmp_path, dict.fromkeys(TWO, 2), TWO, split(4))
    whole = (folder / TWO[1]).read_bytes()
    (folder / TWO[1]).write_bytes(whole[: len(whole) // 2])
    assert judged(MATCH, folder).success
    write(folder, {}, TWO, split(5, [3, 2]))
    assert found(judged(MATCH, folder)) == [(TWO[0], "row_count")]


def test_only_the_selected_shards_are_compared(tmp_path):
    folder = write(tmp_path, {TWO[0]: 2, "other.arrow": 2}, TWO, split(9, [2, 7]))
    assert judged(MATCH, folder / TWO[0]).success
    assert found(judged(MATCH, folder / "other.arrow")) == [("other.arrow", "unlisted_shard")]


def test_the_splits_of_a_dataset_dict_are_compared_with_its_folders(tmp_path):
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    for name in ("train", "extra"):
        write(tmp_path / name, {"data-00000-of-00001.arrow": 1}, ("data-00000-of-00001.arrow",))
    assert found(judged(MATCH, tmp_path)) == [("test/", "missing_shard"), ("extra/", "unlisted_shard")]


def test_each_split_is_compared_with_its_own_rows(tmp_path):
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    info = {"splits": {"train": {"num_examples": 2}, "test": {"num_examples": 9}}}
    for name in ("train", "test"):
        write(tmp_path / name, {"data-00000-of-00001.arrow": 2}, ("data-00000-of-00001.arrow",), info, _split=None)
    result = judged(MATCH, tmp_path)
    assert [each.detail for each in result.findings] == ["2 rows; num_examples in test/dataset_info.json says 9"]


def test_a_selection_saved_beside_the_rows_is_told_and_not_counted(tmp_path):
    indices = [{"filename": "indices.arrow"}]
    folder = write(tmp_path, {"dataset.arrow": 4}, ("dataset.arrow",), split(2), _indices_data_files=indices)
    (folder / "indices.arrow").write_bytes(b"row numbers")
    result = judged(MATCH, folder)
    assert result.success
    assert "indices.arrow" in result.details["notes"][0]


@pytest.mark.parametrize(
    ("state", "reason", "about"),
    [
        (b"{", "bad_field", "state.json"),
        (b'{"_fingerprint": "0"}', "bad_field", "state.json"),
        (b'{"_data_files": 3}', "bad_field", "state.json"),
        (b'{"_data_files": [{"filename": 3}]}', "bad_field", "state.json"),
        (b'{"_data_files": [{"filename": "a.arrow"}, {"filename": "../x.arrow"}]}', "bad_field", "state.json"),
        (b'{"_data_files": [{"filename": "a.arrow"}, {"filename": "/etc/passwd"}]}', "bad_field", "state.json"),
        (b'{"_data_files": [{"filename": "a.arrow"}, {"filename": ""}]}', "bad_field", "state.json"),
        (b'{"_data_files": [{"filename": "a.arrow"}, {"filename": "./a.arrow"}]}', "index_inconsistent", "state.json"),
    ],
)
def test_a_manifest_that_cannot_be_right_is_the_finding(state, reason, about, tmp_path):
    folder = write(tmp_path, {"a.arrow": 1})
    (folder / "state.json").write_bytes(state)
    assert found(judged(MATCH, folder)) == [(about, reason)]


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        (split(-1), "bad_field"),
        (split(True), "bad_field"),
        (split(2, "x"), "bad_field"),
        (split(2, [1, -1]), "bad_field"),
        (split(3, [2]), "index_inconsistent"),
    ],
)
def test_numbers_of_rows_that_cannot_be_right_are_the_finding(info, reason, tmp_path):
    result = judged(MATCH, write(tmp_path, {"a.arrow": 2}, ("a.arrow",), info))
    assert found(result) == [("dataset_info.json", reason)]


@pytest.mark.parametrize("name", ["\\ud800.arrow", "\\udcff.arrow", "\\u001b[31m.arrow", "a\\nb.arrow", "x" * 5000])
def test_a_name_that_no_file_can_have_is_missing_and_can_be_told(name, tmp_path):
    folder = write(tmp_path / "data", {"a.arrow": 1})
    listed = f'{{"_data_files": [{{"filename": "a.arrow"}}, {{"filename": "{name}"}}]}}'
    (folder / "state.json").write_text(listed)
    suite = {"name": "m", "expectations": [{"type": MATCH}]}
    result = dataguard.validate(folder, suite=suite, out=tmp_path / "out", store=None)
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert report["results"][0]["result"]["details"]["reasons"] == {"missing_shard": 1}
    assert result.results[0].findings[0].shard


@pytest.mark.parametrize("other", [b"[1]", b'{"epoch": 3}', b'"x"'])
def test_a_state_json_of_something_else_is_no_manifest(other, tmp_path):
    folder = write(tmp_path, {"a.arrow": 1})
    (folder / "state.json").write_bytes(other)
    assert judged(MATCH, folder).unjudged is not None


def test_without_a_manifest_it_cannot_be_judged(tmp_path):
    result = judged(MATCH, write(tmp_path, {"a.arrow": 1}))
    assert not result.success
    assert "no manifest" in str(result.unjudged)
    assert judged(MATCH, {"input_ids": [[1]]}).unjudged is not None


def mds(name: str, samples: Any) -> dict[str, Any]:
    return {"raw_data": {"basename": name}, "zip_data": {"basename": f"{name}.zstd"}, "samples": samples}


def test_an_index_json_of_streaming_is_compared_by_either_name(tmp_path):
    folder = write(tmp_path, {"shard.00000.mds": 2, "shard.00002.mds": 2, "shard.00001.mds.zstd": 1})
    shards = [mds(f"shard.0000{place}.mds", 1) for place in (0, 1, 3)]
    (folder / "index.json").write_text(json.dumps({"version": 2, "shards": shards}))
    result = judged(MATCH, folder)
    assert sorted(found(result), key=str) == [
        ("shard.00000.mds", "row_count"),
        ("shard.00002.mds", "unlisted_shard"),
        ("shard.00003.mds", "missing_shard"),
    ]


def test_an_index_json_with_fields_that_are_none_is_a_finding(tmp_path):
    folder = write(tmp_path, {"shard.00000.mds": 1})
    shards = [mds("shard.00000.mds", "1"), {"raw_data": None, "samples": 1}]
    (folder / "index.json").write_text(json.dumps({"shards": shards}))
    assert reasons(judged(MATCH, folder)) == {"bad_field": 2}


def test_an_index_json_of_chunks_lists_files(tmp_path):
    folder = write(tmp_path, {"chunk-0-0.bin": 1})
    chunks = [{"filename": "chunk-0-0.bin"}, {"filename": "chunk-0-1.bin"}]
    (folder / "index.json").write_text(json.dumps({"chunks": chunks}))
    assert found(judged(MATCH, folder)) == [("chunk-0-1.bin", "missing_shard")]


def test_real_data_sets_match_what_is_saved_beside_them(shared):
    result = dataguard.validate(
        shared / "data" / "shards" / "tiny", suite={"name": "m", "expectations": [{"type": MATCH}]}, store=None
    )
    [verdict] = [each for each in result.results if each.type == MATCH]
    assert verdict.success
    assert len(verdict.observed_value) > 40
    assert "notes" not in verdict.details
