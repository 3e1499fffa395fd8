from __future__ import annotations

import pyarrow as pa
import pytest

from dataguard.shards.roles import companion, is_integer_list, is_list, is_role, resolve, role_of, token_columns

IDS, FLOATS = pa.list_(pa.int32()), pa.list_(pa.float32())


def schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(list(columns.items()))


@pytest.mark.parametrize(
    ("column", "role", "expected"),
    [
        ("input_ids", "labels", "labels"),
        ("chosen_input_ids", "labels", "chosen_labels"),
        ("tokens", "attention_mask", "attention_mask"),
    ],
)
def test_a_prefix_brings_its_companions(column: str, role: str, expected: str):
    assert companion(column, role) == expected


@pytest.mark.parametrize(
    ("column", "role"),
    [
        ("labels", "labels"),
        ("rejected_labels", "labels"),
        ("chosen_input_ids", "input_ids"),
        ("cu_seqlens", "cu_seqlens"),
        ("prompt_ids", "prompt_ids"),
        ("tokens", "input_ids"),
    ],
)
def test_a_name_tells_the_role(column: str, role: str):
    assert role_of(column) == role


def test_a_role_may_have_a_prefix_and_nothing_else_is_one():
    assert all(map(is_role, ("input_ids", "chosen_labels", "source")))
    assert not any(map(is_role, ("inputids", "tokens", "labels_", "xlabels")))


def test_a_column_that_plays_another_role_is_not_taken_as_ids_too():
    assert resolve(schema(codes=IDS, marks=IDS), {"labels": "marks"})["input_ids"] == "codes"
    assert "input_ids" not in resolve(schema(codes=IDS, marks=IDS), {})


@pytest.mark.parametrize("role", ["attention_mask", "labels", "cu_seqlens", "prompt_ids", "target_spans", "text"])
def test_ids_with_a_prefix_bring_the_columns_of_their_side(role: str):
    columns = schema(**{"chosen_input_ids": IDS, "rejected_input_ids": IDS, role: IDS, f"chosen_{role}": IDS})
    assert resolve(columns, {"input_ids": "chosen_input_ids"})[role] == f"chosen_{role}"
    assert resolve(columns, {"input_ids": "chosen_input_ids", role: role})[role] == role


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.int8()), pa.large_list(pa.int8()), pa.list_(pa.int8(), 2), pa.list_view(pa.int8())]
)
def test_every_layout_of_a_list_is_a_list(kind: pa.DataType):
    assert is_list(kind)
    assert is_integer_list(kind)


def test_lists_of_other_things_are_no_integer_lists():
    assert not is_integer_list(FLOATS)
    assert not is_list(pa.string())


def test_columns_whose_name_says_something_else_hold_no_ids():
    found = token_columns(schema(tokens=IDS, attention_mask=IDS, length=IDS, embedding=FLOATS, chosen_input_ids=IDS))
    assert found == ["tokens", "chosen_input_ids"]


def test_every_column_plays_the_role_of_its_name():
    assert resolve(schema(input_ids=IDS, labels=IDS), {}) == {"input_ids": "input_ids", "labels": "labels"}


def test_a_mapping_wins_over_names():
    assert resolve(schema(input_ids=IDS, ids=IDS), {"input_ids": "ids"})["input_ids"] == "ids"


def test_a_mapping_to_a_column_that_is_not_there_leaves_the_role_empty():
    assert "input_ids" not in resolve(schema(input_ids=IDS), {"input_ids": "ids"})


def test_the_usual_name_is_taken_where_nothing_is_called_input_ids():
    assert resolve(schema(other=IDS, tokens=IDS), {})["input_ids"] == "tokens"


def test_the_only_column_of_integer_lists_is_taken():
    assert resolve(schema(text=pa.string(), numbers=IDS), {})["input_ids"] == "numbers"


def test_of_several_unknown_columns_none_is_taken():
    assert "input_ids" not in resolve(schema(a=IDS, b=IDS), {})
