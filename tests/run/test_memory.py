"""Verdicts of earlier runs: told again without looking at data, and only where a run would say the same."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import dataguard
from dataguard.cli import run as command
from dataguard.reports.json_report import report_json
from dataguard.result import Result
from dataguard.run import memory, unchanged
from dataguard.run import validate as module
from dataguard.run.looked_at import watched_by
from dataguard.run.memory import VERDICTS, asked_for
from dataguard.run.rejudge import rejudge
from dataguard.run.store import MetricStore, describe_store
from dataguard.run.timings import Timings
from tests.builders import byte_tokenizer

ROWS = [[1, 2, 3], [4, 500, 5], [6, 7], [6, 7]]


@pytest.fixture(autouse=True)
def _settled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a test are made right before they are judged; ctime cannot be set back."""
    monkeypatch.setattr(unchanged, "SETTLED_NS", -(10**12))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give what runs were made: everything that opens a shard, or loads a column, goes through there."""
    made: list[str] = []

    def counted(request: Any, *others: Any) -> Any:
        made.append("run")
        return original(request, *others)

    original = module.run
    monkeypatch.setattr(module, "run", counted)
    return made


def write(path: Path, rows: list[list[int]], **columns: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"input_ids": pa.array(rows, pa.list_(pa.int32())), "other": rows, **columns})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return path


SUITE = """
name: t
suite_parameters: {max_length: null, allow_crossing: true}
expectations:
  - type: expect_token_ids_to_be_in_vocabulary
  - type: expect_shards_to_be_intact
  - type: expect_shards_to_match_manifest
    severity: warning
  - type: expect_rows_to_be_unique
    severity: warning
  - type: expect_sequence_lengths_to_be_between
    kwargs: {min_length: 1, max_length: 9}
  - type: expect_sequence_lengths_to_be_between
    kwargs: {max_length: {$PARAMETER: max_length}}
    meta: {dataguard: {when: [max_length]}}
"""


class World:
    """A data set, a suite, a tokenizer and a model, and how a run is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "all" / "data"
        self.shard = write(self.data / "a.arrow", ROWS, source=["web"] * 4)
        write(self.data / "books" / "b.arrow", [[8, 9]], source=["books"])
        (self.data / "state.json").write_text(json.dumps({"_data_files": [{"filename": "a.arrow"}]}))
        (self.data / "notes.md").write_text("ignored")
        (folder / "suite.yaml").write_text(SUITE)
        shutil.copytree(byte_tokenizer(), folder / "tokenizer")
        (folder / "model").mkdir()
        (folder / "model" / "config.json").write_text(json.dumps({"vocab_size": 400}))
        self.options: dict[str, Any] = {
            "suite": folder / "suite.yaml",
            "tokenizer": folder / "tokenizer",
            "model": folder / "model",
            "out": folder / "out",
            "jobs": 1,
        }

    def judge(self, **options: Any) -> Result:
        return dataguard.validate(self.data, store=self.folder / "store", **{**self.options, **options})

    def fresh(self, **options: Any) -> Result:
        """Judge as if nothing had been kept."""
        told = {**self.options, **options, "out": None if options.get("out", 1) is None else self.folder / "fresh"}
        return dataguard.validate(self.data, store=None, **told)

    @property
    def verdicts(self) -> list[Path]:
        return sorted((self.folder / "store" / VERDICTS).glob("*"))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_asked_again_is_not_judged_again(world: World, runs: list[str]) -> None:
    first = world.judge()
    runs.clear()
    again = world.judge()
    assert runs == []
    assert again == first
    assert report_json(again) == report_json(first) == report_json(world.fresh())


@pytest.mark.parametrize("out", [True, False])
def test_run_json_alone_is_written_again_and_says_so(world: World, out: bool) -> None:
    options = {} if out else {"out": None}
    world.judge(**options)
    if not out:
        assert not (world.folder / "out").exists()
        return
    told = json.loads((world.folder / "out/run.json").read_text())
    before = {path: path.stat() for path in (world.folder / "out").rglob("*")}
    assert told["remembered"] is None
    world.judge()
    again = json.loads((world.folder / "out/run.json").read_text())
    assert again["remembered"] == told["started"]
    assert list(again["timings"]["steps"]) == ["remember"]
    assert {**again, **dict.fromkeys(TIMES)} == {**told, **dict.fromkeys(TIMES)}
    after = {path: path.stat() for path in (world.folder / "out").rglob("*")}
    assert [path.name for path in after if after[path] != before.get(path) and path.is_file()] == ["run.json"]


TIMES = ("started", "seconds", "timings", "remembered")


@pytest.mark.parametrize("clean", [False, True])
def test_outputs_are_those_of_a_fresh_run(world: World, fixtures: Path, clean: bool, runs: list[str]) -> None:
    world.data = fixtures / "faulty"
    options = {"suite": "pretrain", "tokenizer": None, "model": None, "clean": clean}
    world.judge(**options)
    runs.clear()
    world.judge(**options)
    assert runs == []
    world.fresh(**options)
    found, fresh = files(world.folder / "out"), files(world.folder / "fresh")
    assert found.keys() == fresh.keys()
    assert {name for name in found if found[name] != fresh[name]} <= {"run.json", "shards.parquet"}
    columns = pl.all().exclude("digest")  # which only a store asks for
    one, other = (pl.read_parquet(world.folder / name / "shards.parquet").select(columns) for name in ("out", "fresh"))
    assert one.equals(other)


def in_place(world: World) -> dict[str, Any]:
    """Change a shard, and set its size and time back."""
    status = world.shard.stat()
    content = world.shard.read_bytes()
    at = content.index((500).to_bytes(4, "little"))
    with world.shard.open("r+b") as file:
        file.seek(at)
        file.write((11).to_bytes(4, "little"))
    os.utime(world.shard, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert world.shard.stat().st_size == status.st_size
    return {}


def edited(path: str, old: str, new: str) -> Callable[[World], dict[str, Any]]:
    def edit(world: World) -> dict[str, Any]:
        text = (world.folder / path).read_text()
        assert old in text
        (world.folder / path).write_text(text.replace(old, new))
        return {}

    return edit


def added(path: str, text: str) -> Callable[[World], dict[str, Any]]:
    def add(world: World) -> dict[str, Any]:
        (world.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (world.folder / path).write_text(text)
        return {}

    return add


def shard_added(path: str) -> Callable[[World], dict[str, Any]]:
    def add(world: World) -> dict[str, Any]:
        write(world.folder / path, [[1, 2, 600]], source=["new"])
        return {}

    return add


def removed(path: str) -> Callable[[World], dict[str, Any]]:
    def remove(world: World) -> dict[str, Any]:
        (world.folder / path).unlink()
        return {}

    return remove


def renamed(world: World) -> dict[str, Any]:
    world.shard.rename(world.data / "z.arrow")
    return {}


def linked(world: World) -> dict[str, Any]:
    """Put a link in the place of a folder, to one that holds another shard of the same name."""
    write(world.folder / "elsewhere" / "b.arrow", [[8, 700]], source=["books"])
    shutil.rmtree(world.data / "books")
    (world.data / "books").symlink_to(world.folder / "elsewhere")
    return {}


def behind_a_link(world: World) -> dict[str, Any]:
    write(world.folder / "elsewhere" / "c.arrow", [[8, 700]], source=["books"])
    return {}


def told(**options: Any) -> Callable[[World], dict[str, Any]]:
    return lambda _world: options


CHANGES: dict[str, Callable[[World], dict[str, Any]]] = {
    "threshold of the suite": edited("suite.yaml", "min_length: 1", "min_length: 3"),
    "severity in the suite": edited("suite.yaml", "severity: warning", "severity: critical"),
    "parameter in the suite": edited("suite.yaml", "max_length: null", "max_length: 2"),
    "another suite": told(suite={"name": "u", "expectations": [{"type": "expect_rows_to_be_unique"}]}),
    "content of the tokenizer": edited("tokenizer/tokenizer.json", "<unk>", "<UNK>"),
    "a file beside the tokenizer": added("tokenizer/special_tokens_map.json", '{"pad_token": "<unk>"}'),
    "no tokenizer": told(tokenizer=None, vocab_size=300),
    "config of the model": edited("model/config.json", "400", "700"),
    "vocab_size": told(vocab_size=5),
    "max_length": told(max_length=2),
    "parameters": told(parameters={"max_length": 2}),
    "columns": told(columns={"input_ids": "other"}),
    "vocabulary": told(vocabulary={"pad": 7}),
    "source_from": told(source_from="path"),
    "head": told(head=1),
    "fail_on": told(fail_on="info"),
    "sampler": told(sampler={"world_size": 2}),
    "no quarantine": told(quarantine=False),
    "limit of the quarantine": told(quarantine_limit=10),
    "clean": told(clean=True),
    "out": told(out=None),
    "a shard, in place": in_place,
    "a new shard": shard_added("all/data/c.arrow"),
    "a new shard in a folder": shard_added("all/data/books/c.arrow"),
    "a new shard in a new folder": shard_added("all/data/new/c.arrow"),
    "a shard that is gone": removed("all/data/books/b.arrow"),
    "a shard by another name": renamed,
    "a link to another folder": linked,
    "a sidecar": edited("all/data/state.json", "a.arrow", "gone.arrow"),
    "a new sidecar": added("all/data/dataset_info.json", '{"splits": {"train": {"num_examples": 9}}}'),
    "a new index": added("all/data/index.json", '{"shards": [{"raw_data": {"basename": "x.mds"}, "samples": 2}]}'),
    "no sidecar": removed("all/data/state.json"),
    "a new file that is ignored": added("all/data/more.md", "ignored, too"),
    "an ignored file that is gone": removed("all/data/notes.md"),
    "a hidden file": added("all/data/_hidden.arrow", "ignored"),
    "a file that is no shard any more": added("all/data/a.arrow", "nothing"),
    "a data set of splits above": added("all/dataset_dict.json", '{"splits": ["data"]}'),
}

SAME = {"a data set of splits above"}
"""What is in no report of this data set."""


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_is_judged(change: str, world: World, runs: list[str]) -> None:
    before = world.judge()
    options = CHANGES[change](world)
    runs.clear()
    again = world.judge(**options)
    assert runs
    assert report_json(again) == report_json(world.fresh(**options))
    assert (report_json(again) == report_json(before)) is (change in SAME)
    runs.clear()
    assert report_json(world.judge(**options)) == report_json(again)
    assert runs == []


def test_a_tokenizer_beside_the_data_is_found(world: World, runs: list[str]) -> None:
    options = {"tokenizer": None, "model": None}
    world.judge(**options)
    shutil.copytree(world.folder / "tokenizer", world.data / "tokenizer")
    runs.clear()
    assert report_json(world.judge(**options)) == report_json(world.fresh(**options))
    assert runs


BESIDE: dict[str, Callable[[World], object]] = {
    "a split": added("all/data/state.json", '{"_split": "test", "_data_files": []}'),
    "splits": added("all/dataset_dict.json", '{"splits": ["data"]}'),
    "splits of its own": added("all/data/dataset_dict.json", '{"splits": ["data"]}'),
    "a manifest": added("all/data/dataset_info.json", '{"splits": {"train": {"num_examples": 9}}}'),
    "an index": added("all/data/index.json", '{"shards": [{"raw_data": {"basename": "a.arrow"}, "samples": 2}]}'),
    "a tokenizer's folder": lambda world: shutil.copytree(world.folder / "tokenizer", world.data / "tokenizer"),
    "a tokenizer": lambda world: shutil.copy(world.folder / "tokenizer/tokenizer.json", world.data),
}


@pytest.mark.parametrize("change", BESIDE)
def test_what_lies_beside_a_file_is_looked_at(change: str, world: World, runs: list[str]) -> None:
    options = {"tokenizer": None, "model": None}
    folder, world.data = world.data, world.shard
    world.judge(**options)
    world.data = folder
    BESIDE[change](world)
    world.data = world.shard
    runs.clear()
    assert report_json(world.judge(**options)) == report_json(world.fresh(**options))
    assert len(runs) == 2


def test_what_a_run_does_not_look_at_beside_a_file_changes_nothing(world: World, runs: list[str]) -> None:
    world.data = world.shard
    world.judge()
    (world.shard.parent / "run.log").write_text("it grows while a run is made")
    (world.shard.parent / "z.arrow").write_text("another shard")
    runs.clear()
    world.judge()
    assert runs == []


@pytest.mark.parametrize("name", ["tokenizer", "model"])
def test_what_lies_beside_a_named_file_is_looked_at(name: str, world: World, runs: list[str]) -> None:
    file, beside = {
        "tokenizer": ("tokenizer.json", added("tokenizer/special_tokens_map.json", '{"pad_token": "<unk>"}')),
        "model": (
            "config.json",
            lambda world: shutil.copy(world.folder / "tokenizer/tokenizer.json", world.folder / "model"),
        ),
    }[name]
    options = {"tokenizer": None, "model": None, name: world.folder / name / file}
    before = world.judge(**options)
    beside(world)
    runs.clear()
    assert report_json(world.judge(**options)) == report_json(world.fresh(**options)) != report_json(before)
    assert len(runs) == 2


@pytest.mark.parametrize("change", ["other", "gone", "come"])
def test_a_baseline_that_a_suite_names_is_looked_at(change: str, world: World, runs: list[str]) -> None:
    baseline = world.folder / "old" / "report.json"
    suite = {
        "expectations": [{"type": "expect_distributions_to_match_baseline", "kwargs": {"baseline": str(baseline)}}]
    }
    (world.folder / "suite.yaml").write_text(json.dumps(suite))
    baseline.parent.mkdir()
    if change != "come":
        baseline.write_bytes(report_json(world.judge(out=None, suite="pretrain")).encode())
    before = world.judge()
    assert runs
    runs.clear()
    assert world.judge() == before
    assert runs == []
    if change == "gone":
        baseline.unlink()
    else:
        baseline.write_text("{}")
    assert report_json(world.judge()) == report_json(world.fresh()) != report_json(before)
    assert len(runs) == 2


def _lists_a_hidden_file(name: str) -> Callable[[World], Path]:
    def lists(world: World) -> Path:
        (world.data / "state.json").write_text(
            json.dumps({"_data_files": [{"filename": "a.arrow"}, {"filename": name}]})
        )
        return write(world.data / name, ROWS)

    return lists


def _indexes_a_hidden_file(world: World) -> Path:
    index = {"shards": [{"raw_data": {"basename": "_parts/x.mds"}, "samples": 3}]}
    (world.data / "index.json").write_text(json.dumps(index))
    return write(world.data / "_parts" / "x.mds", ROWS)


def _has_a_hidden_split(world: World) -> Path:
    (world.data / "dataset_dict.json").write_text(json.dumps({"splits": ["_train"]}))
    state = world.data / "_train" / "state.json"
    state.parent.mkdir()
    state.write_text("{}")
    return state


def _has_hidden_weights(world: World) -> Path:
    (world.folder / "model" / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": {"model.embed_tokens.weight": "_parts/1.safetensors"}})
    )
    header = json.dumps({"model.embed_tokens.weight": {"dtype": "F16", "shape": [600, 1], "data_offsets": [0, 1200]}})
    weights = world.folder / "model" / "_parts" / "1.safetensors"
    weights.parent.mkdir()
    weights.write_bytes(len(header).to_bytes(8, "little") + header.encode() + bytes(1200))
    return weights


HIDDEN = {
    "state.json": _lists_a_hidden_file("_parts/x.arrow"),
    "state.json, further in": _lists_a_hidden_file("books/.parts/deep/x.arrow"),
    "index.json": _indexes_a_hidden_file,
    "dataset_dict.json": _has_a_hidden_split,
    "weights": _has_hidden_weights,
}


@pytest.mark.parametrize("first", ["there", "gone"])
@pytest.mark.parametrize("place", HIDDEN)
def test_what_manifests_say_of_hidden_folders_is_looked_at(
    place: str, first: str, world: World, runs: list[str]
) -> None:
    hidden = HIDDEN[place](world)
    elsewhere = world.folder / "elsewhere"
    if first == "gone":
        hidden.rename(elsewhere)
    world.judge()
    runs.clear()
    world.judge()
    assert runs == []
    (hidden if first == "there" else elsewhere).rename(elsewhere if first == "there" else hidden)
    again = world.judge()
    assert runs
    assert report_json(again) == report_json(world.fresh())


def test_a_hidden_folder_is_no_split_that_loaders_leave_out(world: World) -> None:
    (world.data / "dataset_dict.json").write_text(json.dumps({"splits": []}))
    before = world.fresh()
    for name in ("_old", ".cache"):
        (world.data / name).mkdir()
        (world.data / name / "state.json").write_text("{}")
    assert world.fresh().results[2].to_dict() == before.results[2].to_dict()


def test_a_baseline_behind_a_link_that_was_made_just_now_is_not_believed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link may lead elsewhere since the baseline was read."""
    world.fresh()
    (world.folder / "runs" / "one").mkdir(parents=True)
    (world.folder / "fresh").rename(world.folder / "runs" / "one" / "out")
    suite = {
        "name": "drift",
        "expectations": [
            {
                "type": "expect_distributions_to_match_baseline",
                "kwargs": {"baseline": str(world.folder / "last" / "out" / "report.json")},
            }
        ],
    }
    original = module.run

    def relinked(*arguments: Any) -> Any:
        found = original(*arguments)
        (world.folder / "last").symlink_to(world.folder / "runs" / "one")
        os.utime(world.folder / "last", ns=(2**62, 2**62), follow_symlinks=False)
        return found

    monkeypatch.setattr(module, "run", relinked)
    world.judge(suite=suite)
    assert world.verdicts == []


def test_a_folder_behind_a_link_is_looked_at(world: World, runs: list[str]) -> None:
    linked(world)
    world.judge()
    behind_a_link(world)
    runs.clear()
    assert report_json(world.judge()) == report_json(world.fresh())
    assert runs


def test_a_name_of_the_hub_is_looked_up_again(world: World, runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    hub = world.folder / "hub"
    monkeypatch.setenv("HF_HUB_CACHE", str(hub))
    monkeypatch.chdir(world.folder)
    snapshots = hub / "models--me--mine" / "snapshots"
    for name in ("one", "two"):
        shutil.copytree(world.folder / "tokenizer", snapshots / name)
    edited("hub/models--me--mine/snapshots/two/tokenizer.json", "<unk>", "<UNK>")(world)
    added("hub/models--me--mine/refs/main", "one")(world)
    options = {"tokenizer": "me/mine"}
    first = world.judge(**options)
    runs.clear()
    assert world.judge(**options) == first
    assert not runs
    added("hub/models--me--mine/refs/main", "two")(world)
    assert report_json(world.judge(**options)) == report_json(world.fresh(**options)) != report_json(first)
    assert len(runs) == 2
    edited("tokenizer/tokenizer.json", "<s>", "<S>")(world)
    shutil.copytree(world.folder / "tokenizer", world.folder / "me" / "mine")  # a path of that name wins
    assert report_json(world.judge(**options)) == report_json(world.fresh(**options))
    assert len(runs) == 4


IN_VOCABULARY = {"type": "expect_token_ids_to_be_in_vocabulary"}


def test_paths_mean_what_they_mean_in_the_working_directory(
    world: World, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(world.folder / "one" / "data" / "a.arrow", [[1, 2]])
    write(world.folder / "two" / "data" / "a.arrow", [[1, 900]])
    verdicts = []
    for place in ("one", "two", "one"):
        monkeypatch.chdir(world.folder / place)
        world.data = Path("data")
        verdicts.append(world.judge(out=None, suite={"name": "t", "expectations": [IN_VOCABULARY]}).success)
    assert verdicts == [True, False, True]
    assert len(runs) == 2


def test_another_code_or_package_is_another_verdict(
    world: World, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.judge()
    runs.clear()
    packages = world.folder / "packages"
    (packages / "polars-9.9.dist-info").mkdir(parents=True)
    monkeypatch.syspath_prepend(packages)
    world.judge()
    assert runs


# What is not remembered


def test_what_was_written_a_moment_ago_is_not_believed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unchanged, "SETTLED_NS", 10**12)
    world.judge()
    assert world.verdicts == []


def test_what_changes_under_a_run_is_not_remembered(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    original = module.run

    def changing(*asked: Any) -> Any:
        judged = original(*asked)
        (world.data / "late.md").write_text("ignored")
        return judged

    monkeypatch.setattr(module, "run", changing)
    world.judge()
    assert world.verdicts == []


def test_rows_in_memory_are_not_remembered(world: World, runs: list[str]) -> None:
    table = pa.table({"input_ids": [[1, 2]]})
    suite = {"name": "t", "expectations": [{"type": "expect_rows_to_be_unique"}]}
    for _ in range(2):
        dataguard.validate(table, suite=suite, store=world.folder / "store")
        dataguard.validate(pl.DataFrame({"input_ids": [[1, 2]]}), suite=suite, store=world.folder / "store")
    assert len(runs) == 4
    assert world.verdicts == []


PLUGIN = """
from dataguard.expectations.base import RowExpectation
from dataguard.expectations.rows_not_empty import ExpectRowsNotToBeEmpty

class ExpectNothingMuch(ExpectRowsNotToBeEmpty):
    '''Nothing much.'''

EXPECTATIONS = [ExpectNothingMuch]
"""


@pytest.mark.parametrize("how", ["named", "installed"])
def test_verdicts_of_foreign_code_are_not_remembered(
    how: str, world: World, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"nothing_much_{how}"
    packages = world.folder / "packages"
    added(f"packages/{name}.py", PLUGIN)(world)
    entry = f"[dataguard.expectations]\nexpect_nothing_much = {name}:ExpectNothingMuch\n"
    added(f"packages/{name}-1.dist-info/entry_points.txt", entry if how == "installed" else "")(world)
    added(f"packages/{name}-1.dist-info/METADATA", f"Name: {name}\nVersion: 1\n")(world)
    monkeypatch.syspath_prepend(packages)
    suite = {"name": "t", "expectations": [{"type": "expect_nothing_much"}]}
    for _ in range(2):
        world.judge(suite=suite, plugins=[name] if how == "named" else [])
    assert len(runs) == 2
    assert world.verdicts == []


def test_a_shard_that_could_not_be_read_is_tried_again(world: World, runs: list[str]) -> None:
    (world.data / "gone.arrow").symlink_to(world.folder / "nowhere")
    for _ in range(2):
        assert not world.judge().success
    assert len(runs) == 2
    assert world.verdicts == []


def test_without_a_store_nothing_is_kept(world: World, runs: list[str]) -> None:
    for _ in range(2):
        dataguard.validate(world.data, store=None, **world.options)
    assert len(runs) == 2


def test_verify_looks_again_and_corrects_what_is_remembered(
    world: World, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    note = unchanged._Look._note
    monkeypatch.setattr(unchanged._Look, "_note", lambda self, path, status: note(self, path, still(status)))

    def still(status: os.stat_result) -> Any:
        """Let a file that is written in place look as it did before."""
        times = {"st_mtime_ns": 0, "st_ctime_ns": 0}
        return SimpleNamespace(**{name: getattr(status, name) for name in dir(status) if name[:3] == "st_"} | times)

    before = world.judge()
    in_place(world)
    runs.clear()
    assert world.judge() == before
    assert not runs
    verified = world.judge(verify=True)
    assert report_json(verified) == report_json(world.fresh()) != report_json(before)
    runs.clear()
    assert world.judge() == verified
    assert not runs


# Outputs

OUT_CHANGES: dict[str, Callable[[Path], object]] = {
    "no report": lambda out: (out / "report.json").unlink(),
    "another report": lambda out: (out / "report.json").write_text('{"meta": {"dataguard": {}}}'),
    "no list": lambda out: (out / "rejected.parquet").unlink(),
    "no record": lambda out: (out / "shards.parquet").unlink(),
    "no quarantine": lambda out: shutil.rmtree(out / "quarantine"),
    "a file of the quarantine is gone": lambda out: next((out / "quarantine").glob("*.arrow")).unlink(),
    "a file of the quarantine is cut": lambda out: os.truncate(next((out / "quarantine").glob("*.arrow")), 10),
    "one more file in the quarantine": lambda out: (out / "quarantine" / "more").write_text("x"),
    "a clean copy of another run": lambda out: (out / "clean").mkdir(),
    "a file that somebody left": lambda out: (out / "todo.txt").write_text("look at row 4"),
    "all is gone": shutil.rmtree,
}


def test_hidden_folders_of_a_clean_copy_are_looked_at(world: World, runs: list[str]) -> None:
    data = [write(world.folder / name / "x.arrow", ROWS).parent for name in ("_one", ".two")]

    def judge() -> None:
        dataguard.validate(data, store=world.folder / "store", clean=True, **world.options)

    judge()
    runs.clear()
    judge()
    assert runs == []
    copies = sorted((world.folder / "out" / "clean").rglob("x.arrow"))
    assert len(copies) == 2
    for copy in copies:
        copy.unlink()
        judge()
        assert runs == ["run"]
        assert copy.exists()
        runs.clear()


@pytest.mark.parametrize("change", OUT_CHANGES)
def test_outputs_that_are_not_as_they_were_are_written_again(change: str, world: World, runs: list[str]) -> None:
    world.judge()
    before = files(world.folder / "out")
    OUT_CHANGES[change](world.folder / "out")
    runs.clear()
    world.judge()
    assert runs
    after = files(world.folder / "out")
    assert after.pop("todo.txt", b"look at row 4") == b"look at row 4"
    assert {name: data for name, data in after.items() if name != "run.json"} == {
        name: data for name, data in before.items() if name != "run.json"
    }
    runs.clear()
    world.judge()
    assert runs == []


def test_what_a_killed_run_left_hinders_nobody_and_goes(world: World, runs: list[str]) -> None:
    world.judge()
    (world.folder / "out/.staging-1-ab").write_text("half of run.json")
    runs.clear()
    world.judge()
    assert runs == []
    world.judge(max_length=2)
    assert not (world.folder / "out/.staging-1-ab").exists()


def test_another_run_into_the_same_folder_is_not_taken_for_this_one(world: World, runs: list[str]) -> None:
    first = world.judge()
    world.judge(max_length=2)
    runs.clear()
    assert world.judge() == first
    assert runs
    assert (world.folder / "out/report.json").read_text() == report_json(first)


@pytest.mark.parametrize("missing", ["run.json", None])
def test_run_json_is_written_whatever_became_of_it(missing: str | None, world: World, runs: list[str]) -> None:
    world.judge()
    if missing:
        (world.folder / "out/run.json").unlink()
    else:
        (world.folder / "out/run.json").write_text("{")
    runs.clear()
    world.judge()
    assert runs == []
    assert json.loads((world.folder / "out/run.json").read_text())["remembered"]
    assert not [name for name in files(world.folder / "out") if name.startswith(".")]


@pytest.mark.parametrize("way", ["", "books/..", "../data", "../../link"])
def test_an_output_folder_inside_the_data_is_no_change_of_the_data(way: str, world: World, runs: list[str]) -> None:
    options = {"out": world.data / "checked"}
    (world.folder / "link").symlink_to(world.data)
    world.data /= way
    first = world.judge(**options)
    for _ in range(2):
        runs.clear()
        assert report_json(world.judge(**options)) == report_json(first)
        assert runs == []


# The memory itself


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "folder", "another format"])
def test_a_damaged_verdict_is_found_anew(damage: str, world: World, runs: list[str]) -> None:
    first = world.judge()
    (kept,) = world.verdicts
    content = bytearray(kept.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
    kept.unlink()
    if damage == "folder":
        kept.mkdir()
    elif damage == "another format":
        kept.write_bytes(memory.xxhash.xxh3_128_hexdigest(b"[]").encode() + b"\n[]")
    else:
        kept.write_bytes({"flip": content, "cut": content[:-9], "empty": b""}[damage])
    runs.clear()
    assert world.judge() == first
    assert runs
    runs.clear()
    assert world.judge() == first
    assert bool(runs) is (damage == "folder")


def test_a_store_that_cannot_be_written_hinders_nobody(world: World, runs: list[str]) -> None:
    (world.folder / "store").mkdir()
    (world.folder / "store" / VERDICTS).write_text("in the way")
    for _ in range(2):
        assert report_json(world.judge()) == report_json(world.fresh())
    assert len(runs) == 4


def test_a_store_that_can_only_be_read_answers(world: World, runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    first = world.judge()

    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "read-only")

    monkeypatch.setattr(memory.os, "utime", refused)
    runs.clear()
    assert world.judge() == first
    assert runs == []


def test_few_verdicts_are_kept_those_that_were_asked_for_last(
    world: World, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "MOST_KEPT", 2)
    (world.folder / "store" / VERDICTS).mkdir(parents=True)
    left = world.folder / "store" / VERDICTS / ".half"
    left.write_text("of a killed run")
    os.utime(left, (0, 0))
    for number, each in enumerate([1, 2, 1, 3]):
        world.judge(out=None, vocab_size=each)
        for kept in world.verdicts:
            os.utime(kept, ns=(status := kept.stat()).st_atime_ns and (status.st_mtime_ns, status.st_mtime_ns - 10**9))
        assert number < 3 or len(world.verdicts) == 2
    runs.clear()
    for each in (1, 3):
        world.judge(out=None, vocab_size=each)
    assert runs == []
    world.judge(out=None, vocab_size=2)
    assert runs
    assert not left.exists()


def test_verdicts_count_to_the_store_and_go_before_numbers_do(world: World, runs: list[str]) -> None:
    world.judge()
    known = describe_store(world.folder / "store", None)
    assert known["verdicts"] == 1
    size = world.verdicts[0].stat().st_size
    pruned = describe_store(world.folder / "store", known["bytes"] - 1)
    assert (pruned["verdicts"], pruned["removed"], pruned["shards"]) == (0, size, known["shards"])
    runs.clear()
    world.judge()
    assert runs


def test_numbers_that_are_gone_take_their_verdicts_along(world: World) -> None:
    world.judge()
    store = MetricStore(world.folder / "store")
    assert store.prune(0)
    store.close()
    world.judge()
    assert rejudge(world.folder / "out", suite=world.options["suite"]).suite_name == "t"


def _judge(folder: Path) -> None:
    unchanged.SETTLED_NS = -(10**12)
    world = World.__new__(World)
    world.folder, world.data = folder, folder / "all" / "data"
    for number in range(4):
        options = {"suite": folder / "suite.yaml", "vocab_size": 100 + number % 2, "out": None, "jobs": 1}
        found = dataguard.validate(world.data, store=folder / "store", **options)
        assert found.results[0].unexpected_count == 1


def test_runs_at_the_same_time_do_each_other_no_harm(world: World) -> None:
    ways = multiprocessing.get_context("spawn")
    workers = [ways.Process(target=_judge, args=(world.folder,)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]


def test_rows_are_there_where_somebody_asks_for_them(world: World, runs: list[str]) -> None:
    first = world.judge()
    runs.clear()
    again = world.judge()
    assert runs == []
    assert again.rejected is not None
    assert first.rejected is not None
    assert again.rejected().equals(first.rejected())
    kind = "expect_rows_to_be_unique"
    assert again.unexpected(kind).equals(first.unexpected(kind))
    with pytest.raises(KeyError):
        again.unexpected("expect_nothing")
    last = world.judge()
    in_place(world)
    with pytest.raises(dataguard.run.validate.DataError, match="DATA is not what it was"):
        last.unexpected(kind)


# The command


@pytest.fixture
def here(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Give `dataguard validate` in a folder of its own; it returns the exit status."""
    monkeypatch.chdir(world.folder / "all")
    return lambda *more: command(["validate", "data", "--store", str(world.folder / "store"), "--jobs", "1", *more])


def test_the_command_says_the_same(
    here: Callable[..., int], runs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for more in (["--vocab-size", "600"], ["--json"], ["--quiet"], ["--report", "json"]):
        said = []
        for _ in range(2):
            runs.clear()
            status = here(*more)
            said.append((status, *capsys.readouterr()))
        assert runs == []
        assert said[0] == said[1]


PROJECT_CHANGES: dict[str, Callable[[World], object]] = {
    "a setting": edited("all/dataguard.yaml", "vocab_size: 600", "vocab_size: 5"),
    "its suite": edited("suite.yaml", "min_length: 1", "min_length: 3"),
    "its tokenizer": edited("tokenizer/tokenizer.json", "<unk>", "<UNK>"),
    "one that is nearer to DATA": added("all/data/dataguard.yaml", "columns: {input_ids: other}"),
    "none": removed("all/dataguard.yaml"),
}


@pytest.mark.parametrize("change", PROJECT_CHANGES)
def test_project_files_are_looked_at(
    change: str, world: World, here: Callable[..., int], runs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    project = "vocab_size: 600\nsuite: ../suite.yaml\ntokenizer: ../tokenizer\nout: ../checked\nreports: [json]\n"
    added("all/dataguard.yaml", project)(world)
    here()
    said = capsys.readouterr()
    runs.clear()
    here()
    assert runs == []
    assert capsys.readouterr() == said
    PROJECT_CHANGES[change](world)
    here("--json")
    again = capsys.readouterr().out
    command(
        ["validate", "data", "--no-store", "--json", "--jobs", "1", *(() if change == "none" else ["--out", "fresh"])]
    )
    assert again.replace(", out, ", ", ") == capsys.readouterr().out
    assert len(runs) == 2


def test_a_project_file_above_that_comes_later_is_seen(
    world: World, here: Callable[..., int], runs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    here("--vocab-size", "600")
    added("dataguard.yaml", "max_length: 2")(world)
    runs.clear()
    here("--vocab-size", "600")
    assert runs
    capsys.readouterr()


def test_an_option_that_is_told_is_not_one_that_is_not(world: World, here: Callable[..., int], runs: list[str]) -> None:
    added("all/dataguard.yaml", "vocab_size: 600\nfail_on: info\n")(world)
    assert here("--quiet", "--suite", str(world.folder / "suite.yaml")) == 1
    told = here("--quiet", "--suite", str(world.folder / "suite.yaml"), "--fail-on", "critical")
    assert told == 0
    assert len(runs) == 2


def test_a_project_that_keeps_its_verdicts_elsewhere_finds_them_there(
    world: World, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world.folder / "all")
    added("all/dataguard.yaml", "vocab_size: 600\nstore: ../store\n")(world)
    for _ in range(2):
        command(["validate", "data", "--quiet"])
    assert len(runs) == 1
    assert len(world.verdicts) == 1
    added("all/dataguard.yaml", "vocab_size: 600\nstore: null\n")(world)
    for _ in range(2):
        command(["validate", "data", "--quiet"])
    assert len(runs) == 3


OBSERVED = """
import atexit, json, os, runpy, sys
seen = []
sys.addaudithook(lambda event, told: seen.append(told[0]) if event == "open" and isinstance(told[0], str) else None)
def tell():
    opened, loaded = [os.path.abspath(each) for each in list(seen)], {name.split(".")[0] for name in list(sys.modules)}
    with open(os.environ["TOLD"], "w") as file:
        json.dump({"opened": opened, "loaded": sorted(loaded)}, file)
atexit.register(tell)
from dataguard.run import unchanged
unchanged.SETTLED_NS = -10**12
sys.argv[0] = "dataguard"
runpy.run_module("dataguard", run_name="__main__")
"""


def observed(world: World, *arguments: str) -> dict[str, set[str]]:
    """Run the command in an interpreter of its own; return the files that it opened, and the packages that it loaded."""
    place = world.folder / "told.json"
    done = subprocess.run(
        [sys.executable, "-c", OBSERVED, "validate", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TOLD": str(place)},
    )
    assert done.returncode in {0, 1}, done.stderr
    return {name: set(names) for name, names in json.loads(place.read_text()).items()}


def test_an_answer_opens_no_file_of_the_data_and_loads_nothing_heavy(world: World) -> None:
    arguments = [str(world.data), "--tokenizer", str(world.folder / "tokenizer"), "--out", str(world.folder / "out")]
    arguments += ["--store", str(world.folder / "store"), "--suite", str(world.folder / "suite.yaml")]
    first = observed(world, *arguments)
    assert str(world.shard) in first["opened"]
    again = observed(world, *arguments)
    assert not again["loaded"] & {"polars", "pyarrow", "numba", "numpy", "sqlite3", "ruamel", "torch"}
    ours = {name for name in again["opened"] if name.startswith(str(world.folder)) and not name.endswith("told.json")}
    out = world.folder / "out"
    assert {name for name in ours if ".staging-" not in name} == {str(out), str(world.verdicts[0])}


@pytest.mark.parametrize("data", ["all/data", "all/data/a.arrow"])
def test_every_file_that_a_run_opens_is_watched(data: str, world: World) -> None:
    added("all/dataguard.yaml", "vocabulary: {pad: 0}")(world)
    arguments = {
        "data": world.folder / data,
        "tokenizer": world.folder / "tokenizer",
        "model": world.folder / "model",
        "suite": world.folder / "suite.yaml",
    }
    options = [f"--{name}={value}" for name, value in arguments.items() if name != "data"]
    made = [f"--out={world.folder / 'out'}", f"--store={world.folder / 'store'}"]
    opened = observed(world, str(arguments["data"]), *options, *made)["opened"]
    watched = watched_by(arguments, projects=True)
    trees = tuple(f"{each.path}/" for each in watched if each.kind in {"tree", "whole"})
    folders = {each.path for each in watched if each.kind != "file"}
    alone = {each.path for each in watched}
    own = tuple(f"{world.folder / name}" for name in ("out", "store", "told.json"))
    read = {name for name in opened if name.startswith(str(world.folder)) and not name.startswith(own)}
    assert str(world.shard) in read
    assert [
        name
        for name in sorted(read)
        if name not in alone and str(Path(name).parent) not in folders and not name.startswith(trees)
    ] == []


def test_arguments_whose_text_does_not_say_all_of_them_are_not_remembered(world: World) -> None:
    class Odd(dict[str, Any]):
        pass

    asked = {"data": world.data, "store": world.folder / "store"}
    assert asked_for(asked) is not None
    for odd in ({"suite": Odd()}, {"parameters": {"a": object()}}, {"plugins": ["x"]}, {"store": None}, {"data": []}):
        assert asked_for({**asked, **odd}) is None
    one, other = (asked_for({**asked, "parameters": {"a": value}}) for value in (1, True))
    assert one is not None
    assert other is not None
    assert one.place != other.place


def test_nothing_is_answered_that_was_never_asked(world: World) -> None:
    asked = asked_for({"data": world.data, "store": world.folder / "store"})
    assert asked is not None
    assert asked.answer(Timings()) is None
