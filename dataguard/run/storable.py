"""Arrow types that `datasets` cannot open, as the nearest that it can.

Nothing is lost: a view becomes the list that it shows, a map the list of its entries, an encoded column its values. What
was tried is datasets 5.2, whose features know lists, structs, numbers, text, times and decimals of 128 and 256 bits.

pyarrow's own cast of list views gives arrays that do not validate (seen in 26), so lists are put together here by hand.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dataguard.shards.nbytes import nbytes_of

ORIGINAL_TYPE = b"dataguard.original_type"
"""Key of a field's metadata: the type that its column had in the shard."""
INTERVAL = pa.struct([("months", pa.int32()), ("days", pa.int32()), ("nanoseconds", pa.int64())])


def storable_field(field: pa.Field) -> pa.Field:
    """Return a field that datasets can open; its metadata names the original type where that had to change."""
    kind = storable_type(field.type)
    if kind == field.type:
        return field
    return field.with_type(kind).with_metadata({**(field.metadata or {}), ORIGINAL_TYPE: str(field.type).encode()})


def storable_type(kind: pa.DataType) -> pa.DataType:  # noqa: PLR0911  # one line a kind of type
    """Return the nearest type that datasets knows; the type itself where it knows it."""
    if isinstance(kind, pa.BaseExtensionType):
        return storable_type(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return storable_type(kind.value_type)
    if pa.types.is_list_view(kind) or pa.types.is_list(kind):
        return _unless_equal(kind, pa.list_(_child(kind.value_field)))
    if pa.types.is_large_list_view(kind) or pa.types.is_large_list(kind):
        return _unless_equal(kind, pa.large_list(_child(kind.value_field)))
    if pa.types.is_fixed_size_list(kind):
        return _unless_equal(kind, pa.list_(_child(kind.value_field), kind.list_size))
    if pa.types.is_map(kind):
        return storable_type(_entries(kind))
    if pa.types.is_struct(kind):
        children = [_child(kind.field(place)) for place in range(kind.num_fields)]
        names = unique_names([child.name for child in children])
        return _unless_equal(
            kind, pa.struct([child.with_name(name) for child, name in zip(children, names, strict=True)])
        )
    if _is_narrow_decimal(kind):
        return pa.decimal128(kind.precision, kind.scale)
    if kind == pa.month_day_nano_interval():
        return INTERVAL
    return pa.string() if pa.types.is_union(kind) else kind


def storable(array: pa.Array) -> pa.Array:  # noqa: PLR0911  # one line a kind of type
    """Return an array's rows in `storable_type` of its type."""
    kind, target = array.type, storable_type(array.type)
    if kind == target:
        return array
    if isinstance(array, pa.ExtensionArray):
        return storable(array.storage)
    if pa.types.is_dictionary(kind):
        return storable(array.dictionary_decode())
    if pa.types.is_run_end_encoded(kind):
        return storable(pc.run_end_decode(array))
    if pa.types.is_map(kind):
        return storable(array.cast(_entries(kind)))
    if pa.types.is_fixed_size_list(kind):
        values = array.values.slice(array.offset * kind.list_size, len(array) * kind.list_size)
        return pa.FixedSizeListArray.from_arrays(storable(values), type=target, mask=array.is_null())
    if pa.types.is_list(target) or pa.types.is_large_list(target):
        return _list_of(array, target)
    if pa.types.is_struct(kind):
        children = [storable(array.field(place)) for place in range(kind.num_fields)]
        return pa.StructArray.from_arrays(children, fields=list(target), mask=array.is_null())
    if _is_narrow_decimal(kind):
        return array.cast(target)
    return pa.array([_spelled(value) for value in array.to_pylist()], type=target)


def _list_of(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return the rows of any list array as a list array of its own: offsets from 0, nothing under nulls."""
    large = pa.types.is_large_list(target)
    lengths = pc.fill_null(array.value_lengths(), 0).cast(pa.int64())
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum_checked(lengths)])
    offsets = offsets.cast(pa.int64() if large else pa.int32())
    of_kind = pa.LargeListArray if large else pa.ListArray
    return of_kind.from_arrays(offsets, storable(array.flatten()), type=target, mask=array.is_null())


def _child(field: pa.Field) -> pa.Field:
    return field.with_type(storable_type(field.type))


def _entries(kind: pa.MapType) -> pa.DataType:
    """Return a map's type as a list. Its keys may be null: datasets knows no other fields, and would drop what they say."""
    return pa.list_(pa.struct([("key", kind.key_type), ("value", kind.item_type)]))


def _unless_equal(kind: pa.DataType, target: pa.DataType) -> pa.DataType:
    return kind if kind == target else target


def _is_narrow_decimal(kind: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(kind) and kind.bit_width < 128)


def _spelled(value: Any) -> Any:
    """Return a value of an interval as its struct, one of a union as text."""
    if isinstance(value, pa.MonthDayNano):
        return {"months": value.months, "days": value.days, "nanoseconds": value.nanoseconds}
    return value if value is None or isinstance(value, str) else json.dumps(value, default=str)


def unique_names(names: Sequence[str]) -> list[str]:
    """Return the names, a number behind each that has come before."""
    unique: list[str] = []
    for name in names:
        free = (f"{name}_{number}" for number in count(2))
        unique.append(name if name not in unique else next(each for each in free if each not in (*names, *unique)))
    return unique


def decoded_bytes(array: pa.Array) -> int:  # noqa: PLR0911  # one line a kind of type
    """Return how many bytes `storable` may need at most for an array, before anything of that size is made.

    A few rows of a dictionary, of runs or of overlapping views can stand for any amount of memory.
    """
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return decoded_bytes(array.storage)
    if pa.types.is_dictionary(kind):
        return len(array) * _widest(array.dictionary)
    if pa.types.is_run_end_encoded(kind):
        return len(array) * _widest(array.values)
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        lengths = pc.sum(array.value_lengths()).as_py() or 0
        return int(lengths) * _widest(array.values)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return nbytes_of(array) + (decoded_bytes(array.flatten()) if storable_type(kind) != kind else 0)
    if pa.types.is_struct(kind):
        return sum(decoded_bytes(array.field(place)) for place in range(kind.num_fields))
    return nbytes_of(array)


def _widest(values: pa.Array) -> int:
    """Return the bytes of the widest value: exact for text, numbers and the like, all of them where it is not known."""
    if len(values) == 0:
        return 0
    if pa.types.is_primitive(values.type):
        return 1 + int(values.type.bit_width) // 8
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type) or pa.types.is_binary(values.type):
        return 8 + (pc.max(pc.binary_length(values)).as_py() or 0)
    return max(nbytes_of(values), decoded_bytes(values))
