"""What datasets cannot open becomes the nearest type, with every value kept."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dataguard.run.storable import ORIGINAL_TYPE, decoded_bytes, storable, storable_field, storable_type, unique_names

LISTS = [[1, 2], None, [], [3, 4]]
PAIRS = [[1, 2], None, [3, 4], [5, 6]]
INT = pa.int32()
WORDS = pa.dictionary(pa.int32(), pa.string())

CHANGED: dict[str, tuple[pa.Array, pa.DataType, list[Any]]] = {
    "list_view": (pa.array(LISTS, pa.list_view(INT)), pa.list_(INT), LISTS),
    "large_list_view": (pa.array(LISTS, pa.large_list_view(INT)), pa.large_list(INT), LISTS),
    "list_view out of order, overlapping": (
        pa.ListViewArray.from_arrays(
            pa.array([2, 0, 1, 0], INT), pa.array([1, 2, 0, 3], INT), pa.array([7, 8, 9], INT)
        ),
        pa.list_(INT),
        [[9], [7, 8], [], [7, 8, 9]],
    ),
    "list of list_view": (
        pa.array([[[1], [2]], None, [], [[3]]], pa.list_(pa.list_view(INT))),
        pa.list_(pa.list_(INT)),
        [[[1], [2]], None, [], [[3]]],
    ),
    "fixed_size_list of dictionary": (
        pa.array([["a", "b"], None, ["b", "a"], ["c", "c"]], pa.list_(WORDS, 2)),
        pa.list_(pa.string(), 2),
        [["a", "b"], None, ["b", "a"], ["c", "c"]],
    ),
    "list of dictionary": (
        pa.array([["a"], None, [], ["b", "a"]], pa.list_(WORDS)),
        pa.list_(pa.string()),
        [["a"], None, [], ["b", "a"]],
    ),
    "dictionary": (pa.array(["a", None, "b", "a"]).dictionary_encode(), pa.string(), ["a", None, "b", "a"]),
    "runs": (
        pa.RunEndEncodedArray.from_arrays(pa.array([2, 4], INT), pa.array(["a", "b"])),
        pa.string(),
        ["a", "a", "b", "b"],
    ),
    "map": (
        pa.array([[("a", 1)], None, [], [("b", 2), ("c", None)]], pa.map_(pa.string(), INT)),
        pa.list_(pa.struct([("key", pa.string()), ("value", INT)])),
        [[{"key": "a", "value": 1}], None, [], [{"key": "b", "value": 2}, {"key": "c", "value": None}]],
    ),
    "struct of list_view": (
        pa.array([{"x": [1]}, None, {"x": None}, {"x": []}], pa.struct([("x", pa.list_view(INT))])),
        pa.struct([("x", pa.list_(INT))]),
        [{"x": [1]}, None, {"x": None}, {"x": []}],
    ),
    "decimal32": (pa.array([Decimal("1.25")] * 4, pa.decimal32(5, 2)), pa.decimal128(5, 2), [Decimal("1.25")] * 4),
    "interval": (
        pa.array([(1, 2, 3), None, (0, 0, 1), (0, 0, 0)], pa.month_day_nano_interval()),
        pa.struct([("months", pa.int32()), ("days", pa.int32()), ("nanoseconds", pa.int64())]),
        [
            {"months": 1, "days": 2, "nanoseconds": 3},
            None,
            {"months": 0, "days": 0, "nanoseconds": 1},
            {"months": 0, "days": 0, "nanoseconds": 0},
        ],
    ),
    "union": (
        pa.UnionArray.from_sparse(
            pa.array([0, 1, 0, 1], pa.int8()), [pa.array([1, 2, 3, 4]), pa.array(["w", "x", "y", "z"])]
        ),
        pa.string(),
        ["1", "x", "3", "z"],
    ),
    "uuid": (pa.array([b"0123456789abcdef"] * 4, pa.uuid()), pa.binary(16), [b"0123456789abcdef"] * 4),
    "struct that names two children alike": (
        pa.StructArray.from_arrays([pa.array([1, 2, 3, 4]), pa.array([5, 6, 7, 8])], names=["a", "a"]),
        pa.struct([("a", pa.int64()), ("a_2", pa.int64())]),
        [{"a": first, "a_2": first + 4} for first in range(1, 5)],
    ),
}


@pytest.mark.parametrize("name", CHANGED)
@pytest.mark.parametrize("skip", [0, 1])
def test_becomes_the_nearest_type_with_the_same_rows(name: str, skip: int) -> None:
    array, kind, rows = CHANGED[name]
    made = storable(array.slice(skip))
    made.validate(full=True)
    assert made.type == storable_type(array.type) == kind
    assert made.to_pylist() == rows[skip:]


@pytest.mark.parametrize("name", CHANGED)
def test_what_it_becomes_is_at_most_as_large_as_foretold(name: str) -> None:
    array, _, _ = CHANGED[name]
    slack = 64 * len(array)  # offsets and validity, which are not foretold
    assert storable(array).nbytes <= decoded_bytes(array) + slack


@pytest.mark.parametrize(
    "array",
    [
        pa.array(LISTS, pa.list_(INT)),
        pa.array(LISTS, pa.list_(pa.field("element", INT))),
        pa.array(LISTS, pa.large_list(INT)),
        pa.array(PAIRS, pa.list_(INT, 2)),
        pa.array(["a", None], pa.string_view()),
        pa.array([{"a": 1}], pa.struct([pa.field("a", INT, nullable=False)])),
        pa.array([1.5], pa.float16()),
        pa.nulls(3),
    ],
)
def test_what_datasets_knows_stays_as_it_is(array: pa.Array) -> None:
    assert storable(array) is array
    field = pa.field("x", array.type, metadata={"k": "v"})
    assert storable_field(field) is field


def test_the_field_names_the_original_type_beside_what_it_said_before() -> None:
    field = storable_field(pa.field("tokens", pa.list_view(INT), nullable=False, metadata={"k": "v"}))
    assert field.type == pa.list_(INT)
    assert not field.nullable
    assert field.metadata == {b"k": b"v", ORIGINAL_TYPE: b"list_view<item: int32>"}


def test_foretells_the_size_of_rows_that_share_one_large_value() -> None:
    book = "x" * 100_000
    rows = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, INT), pa.array([book]))
    assert decoded_bytes(rows) > 100_000_000
    views = pa.ListViewArray.from_arrays(
        pa.array([0] * 1000, INT), pa.array([50_000] * 1000, INT), pa.array(range(50_000), INT)
    )
    assert decoded_bytes(views) > 200_000_000


def test_numbers_what_is_named_alike() -> None:
    assert unique_names(["a", "b", "a", "a", "a_2"]) == ["a", "b", "a_3", "a_4", "a_2"]
