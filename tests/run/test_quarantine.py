"""The quarantine opens with datasets.load_from_disk, and holds the rejected rows as they were."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from dataguard.errors import OutputError
from dataguard.run import hf_folder, quarantine
from dataguard.run.quarantine import Rejected, write_quarantine, write_rejected
from dataguard.run.storable import ORIGINAL_TYPE
from dataguard.run.taking import take_rows

datasets.disable_progress_bars()
INT, TEXTS = pa.int32(), pa.list_(pa.string())
IDS = pa.array([[1, 2], [3], [], [4]], pa.list_(INT))


def rejected(columns: dict[str, pa.Array] | pa.RecordBatch, shard: str = "a.arrow", first: int = 0) -> Rejected:
    """Return all rows of some columns as rejected for the same reason."""
    batch = columns if isinstance(columns, pa.RecordBatch) else pa.record_batch(columns)
    count = batch.num_rows
    types, reasons = pa.array([["expect_x"]] * count, TEXTS), pa.array([["bad"]] * count, TEXTS)
    return Rejected(batch.schema, shard, batch, np.arange(first, first + count), types, reasons)


def loaded(place: Path) -> Any:
    return datasets.load_from_disk(str(place))


def test_rows_open_as_they_were_with_what_they_failed(tmp_path: Path) -> None:
    part = Rejected(
        schema=pa.schema([("input_ids", pa.list_(INT)), ("id", pa.string())]),
        shard="train/a.arrow",
        batch=pa.record_batch({"input_ids": pa.array([[1, 2], None], pa.list_(INT)), "id": pa.array(["x", None])}),
        rows=np.array([4, 91]),
        expectations=pa.array([["expect_a", "expect_b"], ["expect_a"]]),
        reasons=pa.array([["negative", "duplicate"], ["null_row"]]),
    )
    summary = write_quarantine(tmp_path / "q", [part])
    data = loaded(tmp_path / "q")
    assert data.to_list() == [
        {
            "input_ids": [1, 2],
            "id": "x",
            "dataguard_shard": "train/a.arrow",
            "dataguard_row": 4,
            "dataguard_expectations": ["expect_a", "expect_b"],
            "dataguard_reasons": ["negative", "duplicate"],
        },
        {
            "input_ids": None,
            "id": None,
            "dataguard_shard": "train/a.arrow",
            "dataguard_row": 91,
            "dataguard_expectations": ["expect_a"],
            "dataguard_reasons": ["null_row"],
        },
    ]
    assert data.features["dataguard_row"] == datasets.Value("int64")
    assert (summary.rows, summary.schemas, summary.complete) == (2, 1, True)


def test_is_laid_out_as_datasets_lays_it_out(tmp_path: Path) -> None:
    write_quarantine(tmp_path / "q", [rejected({"input_ids": IDS})])
    datasets.Dataset.from_dict({"input_ids": [[1]]}).save_to_disk(str(tmp_path / "theirs"))
    files = {path.name for path in (tmp_path / "q").iterdir()}
    assert (
        files
        == {path.name for path in (tmp_path / "theirs").iterdir()}
        == {
            "data-00000-of-00001.arrow",
            "dataset_info.json",
            "state.json",
        }
    )
    ours, theirs = (json.loads((tmp_path / name / "state.json").read_text()) for name in ("q", "theirs"))
    assert ours.keys() == theirs.keys()


def test_several_shards_of_one_schema_are_one_data_set(tmp_path: Path) -> None:
    parts = [
        rejected({"input_ids": IDS}, "a.arrow"),
        rejected({"input_ids": pa.array([[9]], pa.list_(pa.field("element", INT)))}, "b.parquet"),
    ]
    write_quarantine(tmp_path / "q", parts)
    assert loaded(tmp_path / "q")["dataguard_shard"][:] == ["a.arrow"] * 4 + ["b.parquet"]


@pytest.mark.parametrize(
    "other",
    [
        pa.schema([("tokens", pa.list_(INT))]),
        pa.schema([("input_ids", pa.list_(pa.int64()))]),
        pa.schema([pa.field("input_ids", pa.list_(INT), nullable=False)]),
        pa.schema([("input_ids", pa.large_list(INT))]),
    ],
    ids=["name", "value type", "nullability", "list type"],
)
def test_several_schemas_make_a_dict_of_data_sets(tmp_path: Path, other: pa.Schema) -> None:
    batch = pa.record_batch([pa.array([[7]], other.field(0).type)], schema=other)
    parts = [rejected({"input_ids": IDS}), rejected(batch, "b"), rejected({"input_ids": IDS}, "c")]
    summary = write_quarantine(tmp_path / "q", parts)
    data = loaded(tmp_path / "q")
    assert list(data) == ["schema-0", "schema-1"]
    assert data["schema-0"]["dataguard_shard"][:] == ["a.arrow"] * 4 + ["c"] * 4
    assert data["schema-1"][other.names[0]][:] == [[7]]
    assert summary.schemas == 2


def test_metadata_alone_makes_no_schema_of_its_own(tmp_path: Path) -> None:
    other = pa.record_batch({"input_ids": IDS}).replace_schema_metadata({"tokenizer": "gpt2"})
    write_quarantine(tmp_path / "q", [rejected({"input_ids": IDS}), rejected(other)])
    assert len(loaded(tmp_path / "q")) == 8


def test_more_schemas_than_files_may_be_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quarantine, "MOST_OPEN", 2)
    parts = [rejected({f"column_{number}": IDS}, str(number)) for _ in range(2) for number in range(5)]
    write_quarantine(tmp_path / "q", parts)
    data = loaded(tmp_path / "q")
    assert {name: len(data[name]) for name in data} == {f"schema-{number}": 8 for number in range(5)}


TYPES: dict[str, pa.Array] = {
    "list_view": pa.array([[1, 2], None, []], pa.list_view(INT)),
    "large_list_view": pa.array([[1, 2], None, []], pa.large_list_view(INT)),
    "large_list": pa.array([[1, 2], None, []], pa.large_list(INT)),
    "fixed_size_list": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.field("element", INT), 2)),
    "items not null": pa.array([[1, 2], [3], []], pa.list_(pa.field("item", pa.uint16(), nullable=False))),
    "dictionary": pa.array(["a", None, "b"]).dictionary_encode(),
    "list of dictionary": pa.array([["a"], None, []], pa.list_(pa.dictionary(INT, pa.string()))),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], INT), pa.array(["a", "b"])),
    "string_view": pa.array(["a", None, "b"], pa.string_view()),
    "binary_view": pa.array([b"a", None, b"b"], pa.binary_view()),
    "list of string_view": pa.array([["a"], None, []], pa.list_(pa.string_view())),
    "decimal32": pa.array([1, None, 2], pa.decimal32(5, 2)),
    "decimal64": pa.array([1, None, 2], pa.decimal64(5, 2)),
    "decimal256": pa.array([1, None, 2], pa.decimal256(5, 2)),
    "struct": pa.array([{"a": 1}, None, {"a": None}], pa.struct([("a", INT)])),
    "list of struct": pa.array([[{"a": 1}], None, []], pa.list_(pa.struct([("a", INT)]))),
    "timestamp": pa.array([1, None, 2], pa.timestamp("ms", "+02:00")),
    "uuid": pa.array([b"0123456789abcdef"] * 3, pa.uuid()),
    "null": pa.nulls(3),
}


@pytest.mark.parametrize("name", TYPES)
def test_every_type_opens_with_the_same_values(tmp_path: Path, name: str) -> None:
    array = TYPES[name]
    write_quarantine(tmp_path / "q", [rejected({"input_ids": IDS[:3], "x": array})])
    plain = array.storage if isinstance(array, pa.ExtensionArray) else array
    assert loaded(tmp_path / "q")[:]["x"] == plain.to_pylist()


@pytest.mark.parametrize(
    ("array", "rows"),
    [
        (pa.array([[("a", 1)], None], pa.map_(pa.string(), INT)), [[{"key": "a", "value": 1}], None]),
        (
            pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
            [{"months": 1, "days": 2, "nanoseconds": 3}, None],
        ),
        (
            pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["x", "y"])]),
            ["1", "y"],
        ),
    ],
    ids=["map", "interval", "union"],
)
def test_a_type_that_datasets_lacks_becomes_the_nearest_and_is_named(
    tmp_path: Path, array: pa.Array, rows: list[Any]
) -> None:
    write_quarantine(tmp_path / "q", [rejected({"x": array})])
    data = loaded(tmp_path / "q")
    assert data[:]["x"] == rows
    assert data.data.schema.field("x").metadata == {ORIGINAL_TYPE: str(array.type).encode()}


def test_a_class_label_stays_one(tmp_path: Path) -> None:
    features = datasets.Features(label=datasets.ClassLabel(names=["no", "yes"]), x=datasets.Value("int64"))
    table = datasets.Dataset.from_dict({"label": [1, 0], "x": [1, 2]}, features=features).data.table
    write_quarantine(tmp_path / "q", [rejected(table.to_batches()[0])])
    data = loaded(tmp_path / "q")
    assert data.features["label"].names == ["no", "yes"]
    assert data.features["dataguard_shard"] == datasets.Value("string")


@pytest.mark.parametrize(
    "told",
    [
        b"no JSON",
        b"\xff",
        b"[]",
        b'{"info": {"features": {"input_ids": {"_type": "Unheard"}}}}',
        b'{"info": {"features": {"input_ids": {"_type": "List", "feature": {"_type": ["x"]}}}}}',
        b'{"info": {"features": {"input_ids": 3}}}',
    ],
)
def test_features_that_nobody_can_read_do_not_keep_it_from_opening(tmp_path: Path, told: bytes) -> None:
    batch = pa.record_batch({"input_ids": IDS}).replace_schema_metadata({"huggingface": told, "tokenizer": "gpt2"})
    write_quarantine(tmp_path / "q", [rejected(batch)])
    assert loaded(tmp_path / "q")["input_ids"][:] == IDS.to_pylist()
    with pa.ipc.open_stream(tmp_path / "q" / "data-00000-of-00001.arrow") as reader:
        assert reader.schema.metadata == {b"tokenizer": b"gpt2"}


def test_a_quarantine_that_is_validated_again_names_its_own_shard_and_row(tmp_path: Path) -> None:
    write_quarantine(tmp_path / "one", [rejected({"input_ids": IDS}, "old", first=100)])
    with pa.ipc.open_stream(tmp_path / "one" / "data-00000-of-00001.arrow") as reader:
        batch = reader.read_next_batch()
    write_quarantine(tmp_path / "two", [rejected(batch, "new")])
    data = loaded(tmp_path / "two")
    assert data.column_names == loaded(tmp_path / "one").column_names
    assert data["dataguard_shard"][:] == ["new"] * 4
    assert data["dataguard_row"][:] == [0, 1, 2, 3]


def test_full_files_are_followed_by_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hf_folder, "FILE_BYTES", 1000)
    write_quarantine(tmp_path / "q", [rejected({"input_ids": IDS}, first=first) for first in range(0, 40, 4)])
    names = sorted(path.name for path in (tmp_path / "q").glob("*.arrow"))
    assert len(names) > 2
    assert names == [f"data-{number:05d}-of-{len(names):05d}.arrow" for number in range(len(names))]
    assert loaded(tmp_path / "q")["dataguard_row"][:] == list(range(40))


def test_stops_copying_at_the_limit_and_says_so(tmp_path: Path) -> None:
    read = []

    def parts() -> Iterator[Rejected]:
        for first in range(0, 400, 4):
            read.append(first)
            yield rejected({"input_ids": IDS}, first=first)

    summary = write_quarantine(tmp_path / "q", parts(), limit=1000)
    assert not summary.complete
    assert 900 < summary.bytes <= 1000
    assert loaded(tmp_path / "q")["dataguard_row"][:] == list(range(summary.rows))
    assert len(read) < 20


def test_copies_nothing_where_the_limit_is_0(tmp_path: Path) -> None:
    summary = write_quarantine(tmp_path / "q", [rejected({"input_ids": IDS})], limit=0)
    assert (summary.rows, summary.complete) == (0, False)
    assert not (tmp_path / "q").exists()


def test_writes_nothing_where_no_row_was_rejected(tmp_path: Path) -> None:
    summary = write_quarantine(tmp_path / "q", [])
    assert (summary.rows, summary.complete) == (0, True)
    assert not (tmp_path / "q").exists()


def test_rows_that_share_one_large_value_are_written_in_small_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quarantine, "PIECE_BYTES", 100_000)
    book = pa.DictionaryArray.from_arrays(pa.array([0] * 100, INT), pa.array(["x" * 10_000]))
    write_quarantine(tmp_path / "q", [rejected({"text": book})])
    with pa.ipc.open_stream(tmp_path / "q" / "data-00000-of-00001.arrow") as reader:
        batches = list(reader)
    assert max(batch.nbytes for batch in batches) < 110_000
    assert sum(batch.num_rows for batch in batches) == 100


def test_the_fingerprint_follows_the_content(tmp_path: Path) -> None:
    def fingerprint(name: str, ids: pa.Array) -> str:
        write_quarantine(tmp_path / name, [rejected({"input_ids": ids})])
        return str(json.loads((tmp_path / name / "state.json").read_text())["_fingerprint"])

    assert fingerprint("a", IDS) == fingerprint("b", IDS)
    assert fingerprint("c", pa.array([[1, 2], [3], [], [5]], pa.list_(INT))) != fingerprint("d", IDS)


def test_a_place_that_cannot_be_written_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file/q"):
        write_quarantine(tmp_path / "file" / "q", [rejected({"input_ids": IDS})])


def test_a_fault_of_a_shard_passes_through_and_leaves_no_file_open(tmp_path: Path) -> None:
    def parts() -> Iterator[Rejected]:
        yield rejected({"input_ids": IDS})
        msg = "the shard changed"
        raise RuntimeError(msg)

    with pytest.raises(RuntimeError, match="changed"):
        write_quarantine(tmp_path / "q", parts())


@pytest.mark.parametrize("name", TYPES)
def test_takes_rows_of_any_type(name: str) -> None:
    batch = pa.record_batch({"x": TYPES[name], "y": pa.array([1, 2, 3])})
    for places in ([0, 2], [1], []):
        taken = take_rows(batch, places)
        taken.validate(full=True)
        assert taken.schema == batch.schema
        assert taken.to_pylist() == [batch.to_pylist()[place] for place in places]


def test_the_skip_list_names_every_row(tmp_path: Path) -> None:
    frame = pl.DataFrame({"shard": ["a"], "row": [3], "expectations": [["expect_x"]], "reasons": [["bad"]]})
    write_rejected(tmp_path / "rejected.parquet", frame)
    assert pl.read_parquet(tmp_path / "rejected.parquet").to_dicts() == [
        {"shard": "a", "row": 3, "types": ["expect_x"], "reasons": ["bad"]}
    ]
    write_rejected(tmp_path / "none.parquet", frame.clear())
    assert pl.read_parquet(tmp_path / "none.parquet").schema == pl.read_parquet(tmp_path / "rejected.parquet").schema
