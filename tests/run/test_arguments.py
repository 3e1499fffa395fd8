"""Arguments of the wrong kind are refused by name, before anything is read or written."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import dataguard
from dataguard.errors import DataError, UsageError
from dataguard.run.arguments import KINDS, check_arguments
from tests.builders import table_of

OTHERS = {"data", "taken", "columns_from", "watch", "timings", "asked"}
"""Arguments that are checked elsewhere, or that only our own commands give."""


class Thing:
    """Something of somebody else's."""

    def __repr__(self) -> str:
        return "thousands of characters\n" * 1000


def refused(**given: Any) -> UsageError:
    with pytest.raises(UsageError) as caught:
        dataguard.validate(table_of(input_ids=[[1]]), store=given.pop("store", None), **given)
    return caught.value


def test_every_argument_has_a_kind() -> None:
    assert set(KINDS) | OTHERS == set(inspect.signature(dataguard.validate).parameters)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_an_object_of_somebody_elses_is_refused_in_few_words(name: str) -> None:
    error = refused(**{name: Thing()})
    assert error.what == f"{name} cannot be a {Thing.__module__}.Thing"
    assert error.why is not None
    assert error.why.startswith("it must be ")


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("tokenizer", 5, "tokenizer cannot be 5"),
        ("model", ["a"], "model cannot be ['a']"),
        ("suite", b"sft", "suite cannot be b'sft'"),
        ("vocab_size", "50257", "vocab_size cannot be '50257'"),
        ("vocab_size", 0, "vocab_size cannot be 0"),
        ("max_length", True, "max_length cannot be True"),
        ("head", 2.5, "head cannot be 2.5"),
        ("jobs", -1, "jobs cannot be -1"),
        ("columns", {"input_ids": 5}, "columns cannot be {'input_ids': 5}"),
        ("columns", {5: "ids"}, "columns cannot be {5: 'ids'}"),
        ("parameters", "max_length", "parameters cannot be 'max_length'"),
        ("reports", "json", "reports cannot be 'json'"),
        ("reports", None, "reports cannot be None"),
        ("plugins", [5], "plugins cannot be [5]"),
        ("quarantine", "no", "quarantine cannot be 'no'"),
        ("quarantine_limit", -1, "quarantine_limit cannot be -1"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_as_it_stands(name: str, value: Any, what: str) -> None:
    assert refused(**{name: value}).what == what


def test_a_tokenizer_in_memory_is_to_be_saved_first() -> None:
    assert refused(tokenizer=Thing()).fix == "save it, and give the folder: tokenizer.save_pretrained(FOLDER)"


def test_a_word_that_is_none_of_a_few_brings_the_nearest() -> None:
    assert refused(source_from="paths").fix == "did you mean path?"


def test_what_is_right_passes(tmp_path: Path) -> None:
    check_arguments({name: None for name, kind in KINDS.items() if not kind.needed})
    check_arguments(
        {
            "suite": {"expectations": []},
            "tokenizer": tmp_path,
            "vocab_size": 1,
            "reports": ("json",),
            "plugins": [],
            "quarantine": False,
            "quarantine_limit": 0,
            "columns": {"input_ids": "ids"},
            "source_from": "none",
            "unheard_of": Thing(),
        }
    )


@pytest.mark.parametrize("data", [5, None, [], [1], b"x", {"input_ids": [[1]]}, Thing(), "", " "])
def test_data_that_is_none_is_refused(data: Any) -> None:
    with pytest.raises(DataError):
        dataguard.validate(data, store=None)
