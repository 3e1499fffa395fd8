"""The JSON form of an observation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataguard.errors import DataError
from dataguard.sampler.observation import document_of, observation_of, read_observation
from tests.builders import observation

WHOLE = observation(
    [[3, 0, 4, 2], [5, 1, 7, 6]],
    drop_last="loader",
    shuffle=True,
    seed=7,
    items=["a", "b", "a", "c", "d", "e", "f", "g"],
    reproduction=[{"epoch": 0, "ranks": [[3, 0, 4, 2], [5, 1, 7, 6]], "first_batch": ["aa", "bb"]}],
    arguments=[{"rank": 0, "world_size": 2, "seed": 7}],
    workers=[{"epoch": 0, "rank": 0, "worker": 1, "samples": [0, 2], "seed": 123, "draws": [61.0, 8.0]}],
    resume={
        "epoch": 0,
        "consumed_per_rank": 2,
        "unbroken": [[3, 0, 4, 2], [5, 1, 7, 6]],
        "ranks": [[4], [2], [7], [6]],
        "world_size": 4,
        "batch_size": 1,
    },
    seeds=[{"seed": 8, "epochs": [{"epoch": 0, "ranks": [[0, 1, 2, 3], [4, 5, 6, 7]]}]}],
    stalls=[{"epoch": 0, "rank": 1, "step": 3, "seconds": 60.0}],
    lengths=[1, 2, 3, 4, 5, 6, 7, 8],
    sources=["web", "web", None, "code", "web", "web", "web", "web"],
)


def test_what_is_written_is_what_was_read():
    seen = observation_of(json.dumps(WHOLE), "observed.json")
    written = document_of(seen)
    assert written == {**WHOLE, "items": [0, 1, 0, 2, 3, 4, 5, 6], "resume": [WHOLE["resume"]]}
    assert document_of(observation_of(json.dumps(written), "again.json")) == written


def test_what_is_not_told_has_its_default():
    seen = observation_of(json.dumps(observation([[0], [1]])), "observed.json")
    assert (seen.drop_last, seen.shuffle, seen.seed, seen.resumes, seen.items) == (False, True, 0, (), None)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"epochs": []}, "epochs"),
        ({"samples": "2"}, "a whole number"),
        ({"samples": True}, "a whole number"),
        ({"batch_size": 0}, "at least 1"),
        ({"drop_last": "some"}, "'sampler' or 'loader'"),
        ({"epoch": 1}, "no key epoch"),
        ({"epochs": [{"epoch": 0, "ranks": [[0, 1.5]]}]}, "epochs[0].ranks[0][1]"),
        ({"epochs": [{"epoch": 0, "ranks": [[0, -1]]}]}, "at least 0"),
        ({"epochs": [{"epoch": 0, "rank": [[0]]}]}, "epochs[0].rank"),
        ({"epochs": [{"epoch": 0, "ranks": [[0], [2]]}]}, "epochs[0].ranks[1] holds sample 2"),
        ({"items": ["a"]}, "items must hold one entry"),
        ({"resume": {"epoch": 0, "consumed_per_rank": 3, "unbroken": [[0]], "ranks": [[0]]}}, "consumed_per_rank"),
        ({"resume": {"epoch": 0, "consumed_per_rank": 0, "unbroken": [[0]], "ranks": []}}, "an order for each rank"),
    ],
)
def test_says_what_is_wrong_and_where(change: dict[str, Any], told: str):
    with pytest.raises(DataError) as error:
        observation_of(json.dumps({**observation([[0], [1]]), **change}), "observed.json")
    assert told in str(error.value)
    assert "observed.json" in str(error.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"samples": 1}', "\ud800".encode("utf-8", "surrogatepass")])
def test_anything_else_is_refused(text: str | bytes):
    with pytest.raises(DataError):
        observation_of(text, "observed.json")


def test_a_file_that_is_not_there_is_one_message(tmp_path: Path):
    with pytest.raises(DataError, match="cannot be read"):
        read_observation(tmp_path / "none.json")


def logged(folder: Path, head: Any = None, **columns: Any) -> Path:
    """Write a log of ids."""
    table = pa.table({"epoch": [1, 0, 0, 0, 1], "rank": [1, 0, 1, 0, 0], "sample": [0, 3, 1, 2, 3], **columns})
    if head is not None:
        table = table.replace_schema_metadata({"dataguard": json.dumps(head)})
    pq.write_table(table, folder / "log.parquet")
    return folder / "log.parquet"


HEAD = {"samples": 4, "world_size": 2, "batch_size": 1, "seed": 3}


def test_a_log_of_ids_is_an_observation(tmp_path: Path):
    seen = read_observation(logged(tmp_path, HEAD))
    assert document_of(seen)["epochs"] == [{"epoch": 0, "ranks": [[3, 2], [1]]}, {"epoch": 1, "ranks": [[3], [0]]}]
    assert (seen.samples, seen.seed) == (4, 3)
    assert [len(epoch.ranks) for epoch in read_observation(logged(tmp_path, {**HEAD, "world_size": 3})).epochs] == [
        3,
        3,
    ]


@pytest.mark.parametrize(
    ("head", "columns", "told"),
    [
        (None, {}, "does not say how the run sampled"),
        ([], {}, "does not say how the run sampled"),
        ({"samples": 4}, {}, "has no world_size"),
        ({**HEAD, "samples": 3}, {}, "holds sample 3"),
        (HEAD, {"rank": [0.5] * 5}, "as whole numbers"),
        (HEAD, {"rank": [None, 0, 0, 0, 0]}, "no nulls"),
        (HEAD, {"rank": [-1, 0, 0, 0, 0]}, "a rank that cannot be"),
        (HEAD, {"rank": [1 << 40, 0, 0, 0, 0]}, "a rank that cannot be"),
    ],
)
def test_a_log_that_is_none_is_one_message(tmp_path: Path, head: Any, columns: dict[str, Any], told: str):
    with pytest.raises(DataError) as error:
        read_observation(logged(tmp_path, head, **columns))
    assert told in str(error.value)


def test_a_damaged_log_is_one_message(tmp_path: Path):
    file = logged(tmp_path, HEAD)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(DataError, match="cannot be read"):
        read_observation(file)


def test_a_log_whose_metadata_are_nested_without_end_is_one_message(tmp_path: Path):
    table = pa.table({"epoch": [0], "rank": [0], "sample": [0]}).replace_schema_metadata({"dataguard": "[" * 100_000})
    pq.write_table(table, tmp_path / "log.parquet")
    with pytest.raises(DataError, match="does not say how the run sampled"):
        read_observation(tmp_path / "log.parquet")


def test_a_log_of_numbers_that_are_too_high_is_one_message(tmp_path: Path):
    with pytest.raises(DataError, match="18446744073709551615"):
        read_observation(logged(tmp_path, HEAD, epoch=pa.array([0, 0, 0, 0, (1 << 64) - 1], pa.uint64())))
