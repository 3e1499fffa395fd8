"""What is there and what is absent, and who says how to supply it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dataguard.expectations.context import Context, ShardFacts, known_for_when
from dataguard.vocabulary.model import Vocabulary

SCHEMA = pa.schema(
    {
        "tokens": pa.list_(pa.int32()),
        "labels": pa.large_list(pa.float32()),
        "mask": pa.list_(pa.bool_(), 4),
        "nothing": pa.list_(pa.null()),
        "text": pa.string(),
    }
)
SHARD = ShardFacts("a", schema=SCHEMA, roles={"input_ids": "tokens", **{name: name for name in SCHEMA.names}})


def context(vocabulary: Vocabulary | None = None, **known: Any) -> Context:
    return Context(vocabulary or Vocabulary(), **{"shards": [SHARD], **known})


@pytest.mark.parametrize(
    ("role", "readable"),
    [("input_ids", True), ("mask", True), ("nothing", True), ("labels", False), ("text", False), ("gone", False)],
)
def test_lists_of_whole_numbers_booleans_and_nulls_can_be_read(role: str, readable: bool):
    assert SHARD.can_read(role) is readable


def test_a_role_is_there_where_any_intact_shard_has_it():
    assert context().has("labels")
    assert not context().has("source")
    assert not context(shards=[ShardFacts("a", fault=("corrupt", "why"), roles={"labels": "labels"})]).has("labels")


@pytest.mark.parametrize(
    "name", ["limit", "size", "embedding_rows", "characters", "pad", "bos", "eos", "unk", "vocabulary"]
)
def test_fields_of_the_vocabulary_are_absent_with_a_way_to_supply_them(name: str):
    absent = context().absent(name, {})
    assert absent is not None
    assert "--" in absent.fix


@pytest.mark.parametrize("name", ["pad", "bos", "eos", "unk"])
def test_a_tokenizer_that_names_no_such_token_is_not_asked_for_again(name: str):
    given = Vocabulary(size=100, fingerprint="x", origin={"fingerprint": "tokenizer.json"})
    absent = context(given).absent(name, {})
    assert absent is not None
    assert absent.missing == f"tokenizer.json names no {name} token"
    assert absent.fix == f"give vocabulary: {{{name}: ID}} in the suite or in dataguard.yaml"


def test_fields_of_the_vocabulary_that_are_known_are_not_absent():
    known = context(Vocabulary(size=100, pad=0))
    assert [known.absent(name, {}) for name in ("size", "limit", "vocabulary", "pad")] == [None] * 4
    assert context(Vocabulary(limit_given=100)).absent("vocabulary", {}) is None


def test_roles_sources_arguments_and_parameters():
    assert context().absent("labels", {}) is None
    assert context().absent("position_ids", {}) is not None
    assert context().absent("source", {}) is not None
    assert context(sources=["web"]).absent("source", {}) is None
    assert context().absent("max_length", {"max_length": None}) is not None
    assert context().absent("max_length", {"max_length": 8}) is None
    assert context(parameters={"max_length": None}).absent("max_length", {}) is not None
    assert context(parameters={"max_length": 8}).absent("max_length", {}) is None


def test_an_argument_that_is_null_takes_the_vocabulary_s_and_is_not_absent():
    assert context(Vocabulary(size=100)).absent("limit", {"limit": None}) is None
    assert context().absent("limit", {"limit": 8}) is None
    absent = context().absent("limit", {"limit": None})
    assert absent is not None
    assert absent.missing == "the size of the vocabulary is not known"


@pytest.mark.parametrize(
    ("name", "parameters", "fix"),
    [
        ("max_length", {"max_length": None}, "give --max-length N"),
        ("depth", {"depth": None}, "give --set depth=VALUE"),
        ("max_length", {}, "give the argument max_length in the suite"),
        ("depth", {"other": 3}, "give the argument depth in the suite"),
    ],
)
def test_an_option_is_named_where_the_suite_has_the_parameter(name: str, parameters: dict[str, Any], fix: str):
    absent = context(parameters=parameters).absent(name, {name: None})
    assert absent is not None
    assert absent.fix == fix


def test_a_mask_token_makes_labels_doubtful():
    assert context(Vocabulary(mask=103)).absent("causal", {}) is not None
    assert context().absent("causal", {}) is None


@pytest.mark.parametrize(
    ("vocabulary", "pad"),
    [
        (Vocabulary(pad=0, eos=2), 0),
        (Vocabulary(pad=2, eos=2), None),
        (Vocabulary(pad=0, special={"<pad>": 0, "<other>": 0}), None),
        (Vocabulary(), None),
    ],
)
def test_padding_is_inferred_only_from_a_pad_of_its_own(vocabulary: Vocabulary, pad: int | None):
    assert context(vocabulary).attention("input_ids").pad == pad


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("labels", True),
        ("chosen_labels", True),
        ("pad", True),
        ("mine", True),
        ("asked", True),
        ("label", False),
        ("column", False),
    ],
)
def test_what_when_may_name(name: str, known: bool):
    assert known_for_when(name, {"mine": None, "column": None}, {"asked": None}) is known
