"""The clean copy holds what remains, as it was stored; with the quarantine it is the input again, each row once."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import dataguard
from dataguard.errors import OutputError, UsageError
from dataguard.shards.form import batches_of, form_of
from dataguard.shards.hf import TOKENIZER
from dataguard.shards.model import Shard
from dataguard.shards.opening import open_shard
from tests.builders import byte_tokenizer
from tests.examples import examples

datasets.disable_progress_bars()
IDS = pa.list_(pa.int32())
LIMIT = 10
SUITE = {
    "name": "test",
    "expectations": [
        {"type": "expect_shards_to_be_intact"},
        {"type": "expect_token_ids_to_be_in_vocabulary", "kwargs": {"limit": LIMIT}},
        {"type": "expect_rows_not_to_be_null"},
    ],
}
GOOD, BAD = [1, 2, 3], [4, 99]
OTHERS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "source": (pa.string(), ["web", "code", None]),
    "about": (pa.struct([("n", pa.int64()), ("names", pa.list_(pa.string()))]), [{"n": 1, "names": ["a", None]}, None]),
    "kind": (pa.dictionary(pa.int8(), pa.string()), ["x", "y", None]),
    "share": (pa.float32(), [0.5, None]),
    "when": (pa.timestamp("ms"), [1_000, None]),
}
LAYOUTS = {"stream": ".arrow", "file": ".arrow", "parquet": ".parquet"}
CODECS = {"stream": (None, "lz4", "zstd"), "file": (None, "lz4"), "parquet": ("none", "snappy", "zstd")}


def write(path: Path, table: pa.Table, layout: str = "stream", codec: str | None = None, batch: int = 3) -> Path:
    """Write a table as a shard, in batches (or row groups) of so many rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if layout == "parquet":
        pq.write_table(table, path, row_group_size=batch, compression=codec or "snappy")
        return path
    options = pa.ipc.IpcWriteOptions(compression=codec)
    make = pa.ipc.new_stream if layout == "stream" else pa.ipc.new_file
    with make(str(path), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=batch)
    return path


def read(path: Path) -> pa.Table:
    opened = open_shard(Shard(path.name, path))
    return pa.Table.from_batches([batch for _, batch, _ in batches_of(opened)], opened.schema)


def ids(*rows: list[int] | None) -> pa.Table:
    return pa.table({"input_ids": pa.array(rows, IDS)})


def run(data: Any, out: Path, **options: Any) -> dict[str, Any]:
    """Judge with a clean copy; return meta.dataguard."""
    result = dataguard.validate(data, suite=options.pop("suite", SUITE), out=out, clean=True, store=None, **options)
    return result.to_dict()["meta"]["dataguard"]


@dataclass
class MadeUp:
    """A shard of a made-up data set; `table` is None where it was cut."""

    root: str
    name: str
    table: pa.Table | None
    layout: str
    path: Path = Path()


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.lists(st.sampled_from([GOOD, BAD, None, [], [7], [1, 99, 2]]), max_size=9))
    kind = draw(st.sampled_from([IDS, pa.large_list(pa.int64()), pa.list_view(pa.int32())]))
    columns = {"input_ids": pa.array(rows, kind)}
    for name in draw(st.lists(st.sampled_from(sorted(OTHERS)), unique=True, max_size=3)):
        other, values = OTHERS[name]
        cells = [draw(st.sampled_from(values)) for _ in rows]
        columns[name] = pa.array(cells, pa.string()).cast(other) if name == "kind" else pa.array(cells, other)
    metadata = draw(st.sampled_from([None, {"made_by": "test"}, {"made_by": "test", TOKENIZER: "dg1:0"}]))
    return pa.table(columns).replace_schema_metadata(metadata)


@st.composite
def data_sets(draw: st.DrawFn) -> list[MadeUp]:
    made = []
    for root in draw(st.sampled_from([("one",), ("one", "two")])):
        names = draw(st.lists(st.sampled_from(["a", "b", "web/a", "code/a", "web/deep/b"]), unique=True, max_size=4))
        for name in names:
            layout = draw(st.sampled_from(sorted(LAYOUTS)))
            table = draw(tables())
            broken = draw(st.sampled_from([False, False, False, True]))
            made.append(MadeUp(root, name + LAYOUTS[layout], None if broken else table, layout))
    return made


def settle(made: Sequence[MadeUp], place: Path, draw: Callable[[Any], Any]) -> list[Path]:
    """Write a made-up data set; return its roots."""
    for each in made:
        each.path = place / each.root / each.name
        table = ids(GOOD, BAD) if each.table is None else each.table
        write(each.path, table, each.layout, draw(st.sampled_from(CODECS[each.layout])), draw(st.integers(1, 4)))
        if each.table is None:
            each.path.write_bytes(each.path.read_bytes()[:-9])
    return [place / root for root in dict.fromkeys(each.root for each in made)]


def quarantined(out: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Return the rows of the quarantine by shard and row, their own columns alone."""
    rows = {}
    for path in sorted((out / "quarantine").rglob("*.arrow")):
        for row in read(path).to_pylist():
            own = {name: value for name, value in row.items() if not name.startswith("dataguard_")}
            assert (row["dataguard_shard"], row["dataguard_row"]) not in rows
            rows[row["dataguard_shard"], row["dataguard_row"]] = own
    return rows


@examples(60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(made=data_sets(), data=st.data(), jobs=st.integers(1, 2))
def test_quarantine_and_clean_copy_together_are_the_input(made: list[MadeUp], data: st.DataObject, jobs: int) -> None:
    place = Path(tempfile.mkdtemp())
    try:
        roots = settle(made, place, data.draw)
        whole = [each for each in made if each.table is not None]
        if not any(each.table is not None for each in made):
            return
        before = {path: path.read_bytes() for root in roots for path in root.rglob("*") if path.is_file()}
        meta = run(roots, place / "out", jobs=jobs)
        assert {path: path.read_bytes() for root in roots for path in root.rglob("*") if path.is_file()} == before
        check(made, whole, place, meta)
    finally:
        shutil.rmtree(place)


def check(made: Sequence[MadeUp], whole: Sequence[MadeUp], place: Path, meta: dict[str, Any]) -> None:
    """Compare the outputs with what was written, shard by shard."""
    shards = pl.read_parquet(place / "out/shards.parquet")
    names = {path: name for name, path in zip(shards["shard"], shards["path"], strict=True)}
    rejected = quarantined(place / "out")
    copies = {path for path in (place / "out/clean").rglob("*") if path.is_file() and path.name != ".dataguard.json"}
    seen = 0
    for each in whole:
        (copy,) = [path for path in copies if path.parts[-len(each.path.parts) :] and _is_copy(path, each, made)]
        copies.remove(copy)
        original = read(each.path)
        remaining = read(copy)
        assert open_shard(Shard("", copy)).layout == open_shard(Shard("", each.path)).layout
        assert remaining.schema.equals(original.schema, check_metadata=True)
        rows = iter(remaining.to_pylist())
        name = names[str(each.path)]
        merged = [rejected.pop((name, row), None) or next(rows) for row in range(original.num_rows)]
        assert next(rows, None) is None
        assert merged == original.to_pylist()
        seen += original.num_rows
    assert not copies
    assert not rejected
    accounts = meta["accounting"]
    assert accounts["clean"] + accounts["rejected"] == seen
    assert accounts["clean"] == meta["clean"]["rows"]
    assert meta["clean"]["shards"] == len(whole)


def _is_copy(path: Path, each: MadeUp, made: Sequence[MadeUp]) -> bool:
    """Whether a file of the copy is a shard's: by its path, with the root's name where there are two roots."""
    inside = path.as_posix().partition("/out/clean/")[2]
    roots = {other.root for other in made}
    return (
        inside == each.name
        if len(roots) == 1
        else inside in (each.name, f"{each.root}/{each.name}") and _fits(each, inside, made)
    )


def _fits(each: MadeUp, inside: str, made: Sequence[MadeUp]) -> bool:
    """Whether the shorter name is this shard's alone."""
    return inside != each.name or not any(other.root != each.root and other.name == each.name for other in made)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("choice", [0, 1])
def test_a_copy_is_stored_as_its_original(tmp_path: Path, layout: str, choice: int) -> None:
    table = pa.concat_tables([ids(GOOD, GOOD, GOOD, BAD)] * 3).combine_chunks()
    path = write(tmp_path / f"data/a{LAYOUTS[layout]}", table, layout, CODECS[layout][choice], batch=4)
    run(tmp_path / "data", tmp_path / "out")
    copy = tmp_path / "out/clean" / path.name
    original, copied = (open_shard(Shard("", each)) for each in (path, copy))
    assert form_of(copied) == form_of(original)
    assert [batch.num_rows for _, batch, _ in batches_of(copied)] == [3, 3, 3]


def test_a_row_group_that_is_read_in_pieces_stays_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "data/a.parquet", ids(*[GOOD, GOOD, BAD] * 10), "parquet", batch=15)
    monkeypatch.setattr("dataguard.shards.parquet._BATCH_BYTES", 100)
    run(tmp_path / "data", tmp_path / "out")
    footer = pq.ParquetFile(tmp_path / "out/clean/a.parquet").metadata
    assert [footer.row_group(number).num_rows for number in range(footer.num_row_groups)] == [10, 10]


def test_a_row_group_too_large_to_hold_becomes_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "data/a.parquet", ids(*[GOOD] * 30), "parquet", batch=30)
    monkeypatch.setattr("dataguard.shards.parquet._BATCH_BYTES", 100)
    monkeypatch.setattr("dataguard.run.copies.GROUP_BYTES", 200)
    run(tmp_path / "data", tmp_path / "out")
    footer = pq.ParquetFile(tmp_path / "out/clean/a.parquet").metadata
    assert footer.num_row_groups > 1
    assert footer.num_rows == 30


def test_a_batch_for_each_row_stays_one(tmp_path: Path) -> None:
    path = write(tmp_path / "data/a.arrow", ids(GOOD, BAD, GOOD, None, GOOD), batch=1)
    run(tmp_path / "data", tmp_path / "out")
    opened = open_shard(Shard("", tmp_path / "out/clean" / path.name))
    assert [batch.num_rows for _, batch, _ in batches_of(opened)] == [1, 1, 1]


def test_views_of_text_do_not_grow_with_every_batch(tmp_path: Path) -> None:
    texts = pa.array(["x" * 1_000] * 500, pa.string_view())
    path = write(
        tmp_path / "data/a.arrow", pa.table({"input_ids": pa.array([GOOD, BAD] * 250, IDS), "t": texts}), batch=5
    )
    run(tmp_path / "data", tmp_path / "out")
    assert (tmp_path / "out/clean" / path.name).stat().st_size < path.stat().st_size


def save(table: pa.Table, place: Path, **options: Any) -> None:
    datasets.Dataset(table).save_to_disk(str(place), **options)


def load(place: Path) -> Any:
    return datasets.load_from_disk(str(place))


def test_a_saved_data_set_opens_again(tmp_path: Path) -> None:
    save(ids(GOOD, BAD, GOOD, [7]), tmp_path / "data", num_shards=2)
    run(tmp_path / "data", tmp_path / "out")
    copy = load(tmp_path / "out/clean")
    assert copy["input_ids"][:] == [GOOD, GOOD, [7]]
    assert copy.features == load(tmp_path / "data").features
    states = [json.loads((place / "state.json").read_text()) for place in (tmp_path / "data", tmp_path / "out/clean")]
    assert states[0].pop("_fingerprint") != states[1].pop("_fingerprint")
    assert states[0] == states[1]


def test_a_shard_that_is_not_intact_is_no_file_of_the_copy(tmp_path: Path) -> None:
    save(ids(GOOD, [5], BAD, [7]), tmp_path / "data", num_shards=2)
    first = tmp_path / "data/data-00000-of-00002.arrow"
    first.write_bytes(first.read_bytes()[:-8])
    meta = run(tmp_path / "data", tmp_path / "out")
    assert load(tmp_path / "out/clean")["input_ids"][:] == [[7]]
    assert meta["clean"] == {"written": True, "rows": 1, "bytes": meta["clean"]["bytes"], "shards": 1}


def test_the_splits_of_a_dict_have_their_numbers(tmp_path: Path) -> None:
    info = {"splits": {name: {"name": name, "num_examples": 3, "num_bytes": 9} for name in ("train", "test")}}
    for split, rows in (("train", [GOOD, BAD, GOOD]), ("test", [BAD, BAD, BAD])):
        save(ids(*rows), tmp_path / "data" / split)
        (tmp_path / "data" / split / "dataset_info.json").write_text(json.dumps({**info, "dataset_size": 18}))
    (tmp_path / "data/dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    run(tmp_path / "data", tmp_path / "out")
    copy = load(tmp_path / "out/clean")
    assert {name: part.num_rows for name, part in copy.items()} == {"train": 2, "test": 0}
    assert {name: part.num_examples for name, part in copy["train"].info.splits.items()} == {"train": 2, "test": 0}
    assert copy["test"].info.dataset_size == copy["test"].info.splits["train"].num_bytes


def test_a_split_that_held_nothing_is_left_out(fixtures: Path, tmp_path: Path) -> None:
    suite = {"name": "s", "expectations": [{"type": "expect_rows_not_to_be_null"}]}
    run(fixtures / "shards/hf_empty/dict_one_empty", tmp_path / "out", suite=suite)
    assert set(load(tmp_path / "out/clean")) == {"train"}


def test_two_data_sets_given_at_once_stay_two(tmp_path: Path) -> None:
    save(ids(GOOD), tmp_path / "train")
    save(ids(GOOD, BAD, GOOD), tmp_path / "test", num_shards=2)
    run([tmp_path / "train", tmp_path / "test"], tmp_path / "out")
    assert [load(tmp_path / "out/clean" / name).num_rows for name in ("train", "test")] == [1, 2]


def test_a_file_and_a_folder_of_one_name_both_find_a_place(tmp_path: Path) -> None:
    write(tmp_path / "one/a", ids(GOOD))
    write(tmp_path / "two/a/b.arrow", ids(GOOD))
    meta = run([tmp_path / "one/a", tmp_path / "two"], tmp_path / "out")
    assert meta["clean"]["shards"] == 2


@pytest.mark.parametrize("data", ["x/../one", "one/../one/web"])
def test_no_path_leads_out_of_the_copy(tmp_path: Path, data: str) -> None:
    for name in ("x/a", "one/a", "one/web/a", "two/a"):
        write(tmp_path / f"{name}.arrow", ids(GOOD))
    before = sorted(tmp_path.rglob("*"))
    run([tmp_path / data, tmp_path / "x/../two"], tmp_path / "out")
    assert [path for path in sorted(tmp_path.rglob("*")) if "out" not in path.parts] == before
    assert len(list((tmp_path / "out/clean").rglob("*.arrow"))) >= 2


def test_rows_in_memory_become_a_data_set(tmp_path: Path) -> None:
    table = pa.table({"input_ids": pa.array([GOOD, BAD, [7]], pa.list_view(pa.int32())), "n": [1, 2, None]})
    run(table, tmp_path / "out")
    assert load(tmp_path / "out/clean").to_list() == [{"input_ids": GOOD, "n": 1}, {"input_ids": [7], "n": None}]
    run(pl.DataFrame({"input_ids": [BAD]}), tmp_path / "out")
    assert load(tmp_path / "out/clean").num_rows == 0


def test_a_dict_in_memory_becomes_one_again(tmp_path: Path) -> None:
    parts = {name: datasets.Dataset(ids(GOOD, BAD)) for name in ("train", "../test")}
    run(datasets.DatasetDict(parts), tmp_path / "out")
    assert {name: part.num_rows for name, part in load(tmp_path / "out/clean").items()} == {"train": 1, "split-1": 1}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_tokenizer_is_recorded_where_it_is_known(tmp_path: Path, layout: str) -> None:
    table = ids(GOOD).replace_schema_metadata({"made_by": "test"})
    write(tmp_path / f"data/new{LAYOUTS[layout]}", table, layout)
    told = table.replace_schema_metadata({TOKENIZER.encode(): b"dg1:other"})
    write(tmp_path / f"data/told{LAYOUTS[layout]}", told, layout)
    meta = run(tmp_path / "data", tmp_path / "out", tokenizer=byte_tokenizer())
    known = meta["vocabulary"]["fingerprint"].encode()
    copies = [read(tmp_path / f"out/clean/{name}{LAYOUTS[layout]}").schema.metadata for name in ("new", "told")]
    assert copies == [{b"made_by": b"test", TOKENIZER.encode(): known}, {TOKENIZER.encode(): b"dg1:other"}]


def test_without_an_intact_shard_there_is_no_copy(tmp_path: Path) -> None:
    path = write(tmp_path / "data/a.arrow", ids(GOOD))
    path.write_bytes(path.read_bytes()[:-8])
    assert run(tmp_path / "data", tmp_path / "out")["clean"]["written"] is False
    assert not (tmp_path / "out/clean").exists()


def test_a_shard_that_changes_before_it_is_copied_leaves_the_former_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "data/a.arrow", ids(GOOD, BAD))
    run(tmp_path / "data", tmp_path / "out")
    former = (tmp_path / "out/clean/a.arrow").read_bytes()
    rejected = dataguard.run.validate.write_rejected

    def meanwhile(*arguments: Any) -> None:
        rejected(*arguments)
        path.write_bytes(path.read_bytes() + b"more")

    monkeypatch.setattr(dataguard.run.validate, "write_rejected", meanwhile)
    with pytest.raises(OutputError, match="a shard changed during the run") as caught:
        run(tmp_path / "data", tmp_path / "out", quarantine=False)
    assert caught.value.where == "a.arrow"
    assert (tmp_path / "out/clean/a.arrow").read_bytes() == former
    assert not list((tmp_path / "out").glob(".staging-*"))


@pytest.mark.parametrize("clean", [True, False], ids=["clean copy", "quarantine"])
def test_damage_in_bytes_that_no_expectation_reads_is_the_shards_finding(tmp_path: Path, clean: bool) -> None:
    texts = pa.array([f"text {number} " * 40 for number in range(4)])
    for name in ("a", "b"):
        table = pa.table({"input_ids": pa.array([GOOD, BAD, GOOD, BAD], IDS), "text": texts})
        write(tmp_path / f"data/{name}.parquet", table, "parquet", "snappy", batch=4)
    path = tmp_path / "data/a.parquet"
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(1)
    data = bytearray(path.read_bytes())
    end = chunk.dictionary_page_offset or chunk.data_page_offset
    data[end + 40 : end + 80] = b"\xff" * 40
    path.write_bytes(data)
    result = dataguard.validate(
        tmp_path / "data", suite=SUITE, out=tmp_path / "out", clean=clean, store=tmp_path / "store"
    )
    (found,) = result.results[0].findings
    assert (found.shard, found.reason) == ("a.parquet", "corrupt")
    accounts = result.meta["accounting"]
    assert (accounts["rows_in"], accounts["clean"], accounts["rejected"], accounts["not_intact_rows"]) == (8, 2, 2, 4)
    assert result.meta["quarantine"]["rows"] == 2
    assert sorted(path.name for path in (tmp_path / "out").rglob("*.parquet")) == [
        *(["b.parquet"] if clean else []),
        "rejected.parquet",
        "shards.parquet",
    ]


def test_a_folder_called_clean_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "data/a.arrow", ids(GOOD))
    (tmp_path / "out/clean").mkdir(parents=True)
    (tmp_path / "out/clean/thesis.tex").write_text("")
    with pytest.raises(OutputError, match="not written by dataguard"):
        run(tmp_path / "data", tmp_path / "out")


def test_a_run_without_a_copy_takes_the_former_one_away_and_says_so(tmp_path: Path) -> None:
    class Listener:
        def __init__(self) -> None:
            self.notes: list[str] = []

        def note(self, text: str) -> None:
            self.notes.append(text)

        def __getattr__(self, _: str) -> Any:
            return lambda *_: None

    write(tmp_path / "data/a.arrow", ids(GOOD))
    run(tmp_path / "data", tmp_path / "out")
    listener: Any = Listener()
    dataguard.validate(tmp_path / "data", suite=SUITE, out=tmp_path / "out", store=None, watch=listener)
    assert not (tmp_path / "out/clean").exists()
    assert any("clean copy of an earlier run" in note for note in listener.notes)


def test_a_copy_below_the_data_is_no_part_of_it(tmp_path: Path) -> None:
    write(tmp_path / "data/a.arrow", ids(GOOD, BAD))
    for _ in range(2):
        assert run(tmp_path / "data", tmp_path / "data/out")["accounting"]["rows_in"] == 2
    (tmp_path / "data/out/report.json").unlink()
    (tmp_path / "data/out/.staging-1-0123abcd").mkdir()
    assert run(tmp_path / "data", tmp_path / "data/out")["accounting"]["rows_in"] == 2


def test_a_copy_can_be_judged_itself(tmp_path: Path) -> None:
    write(tmp_path / "data/a.arrow", ids(GOOD, BAD))
    run(tmp_path / "data", tmp_path / "out")
    result = dataguard.validate(tmp_path / "out/clean", suite=SUITE, store=None)
    assert result.success
    (intact,) = [each for each in result.results if each.type == "expect_shards_to_be_intact"]
    assert not intact.details.get("ignored")


@pytest.mark.parametrize(("options", "why"), [({"head": 3, "out": "x"}, "--head"), ({"out": None}, "a place")])
def test_a_copy_that_cannot_be_is_refused(tmp_path: Path, options: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        dataguard.validate(tmp_path, clean=True, **options)
