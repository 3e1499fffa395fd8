"""The JSON form of an observation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
