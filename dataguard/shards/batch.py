"""A batch of rows as kernels see it: flat values and offsets by role, nulls and slices already dealt with.

Only proven batches may come here (`RecordBatch.validate(full=True)`): nothing below checks an offset again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataguard.errors import ShardFault
from dataguard.shards.roles import ATTENTION_MASK, companion, is_list, is_number, is_span_list

Offsets = npt.NDArray[np.int64]
Values = npt.NDArray[np.signedinteger[Any]]

Derived = TypeVar("Derived")
Scalar = TypeVar("Scalar", bound=np.generic)

NULL_ROW, NULL_ELEMENT = 1, 2
NOT_WHOLE = np.iinfo(np.int32).max
"""What stands for a fraction, or for no number at all, where floats are read as whole numbers."""
_MOST_VIEW_VALUES = 1 << 28
_MOST_ROW_VALUES = np.iinfo(np.int32).max
_INT64_MAX = np.iinfo(np.int64).max


def frozen(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Return the array, contiguous and read-only, so that a kernel sees one type whatever it was cut from."""
    whole = np.ascontiguousarray(array)
    whole.flags.writeable = False
    return whole


@dataclass(frozen=True)
class ListColumn:
    """Rows of whole numbers.

    Args:
        stored: Every row's values, joined, in the fewest bytes that they were found in; uint64 values past the end of int64
            stand there as its largest number, truth values as uint8. An element that is null is 0. Shape (V,).
        offsets: Row r owns values[offsets[r]:offsets[r + 1]]. Shape (R + 1,), int64, from 0. A null row owns nothing.
        nulls: 0, NULL_ROW or NULL_ELEMENT (the row is there, an element is null). Shape (R,), uint8.
    """

    stored: npt.NDArray[Any]
    offsets: Offsets
    nulls: npt.NDArray[np.uint8]

    @cached_property
    def values(self) -> Values:
        """Every row's values, joined. Shape (V,), int32, or int64 where the column's type needs it."""
        wide = self.stored.dtype.itemsize == 8 or self.stored.dtype == np.uint32
        return frozen(self.stored.astype(np.int64 if wide else np.int32, copy=False))

    @cached_property
    def set(self) -> npt.NDArray[np.uint8]:
        """1 where a value is not 0, else 0. Shape (V,), uint8."""
        return frozen((self.stored != 0).view(np.uint8))

    @cached_property
    def is_binary(self) -> bool:
        """Whether every value is 0 or 1."""
        return not self.stored.size or bool(self.stored.max() <= 1 and self.stored.min() >= 0)

    @cached_property
    def lengths(self) -> Offsets:
        """Values in each row. Shape (R,), int64."""
        return frozen(np.diff(self.offsets))


def list_column(array: pa.Array, *, floats: bool = False) -> ListColumn:
    """Return a list column of any layout as flat values and offsets.

    Args:
        floats: Take floats too: whole ones as int32 (infinite ones and others beyond it as its ends), the rest as NOT_WHOLE.

    Raises:
        ShardFault: `unsupported_layout`: the column's rows are no lists of numbers, one is too long, or its views are too many.
    """
    if not is_list(array.type):
        raise ShardFault("unsupported_layout", f"a column of {array.type} holds no lists")
    lengths = _lengths(array)
    offsets = np.zeros(len(array) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    if offsets[-1] > _MOST_ROW_VALUES and lengths.max() > _MOST_ROW_VALUES:
        raise ShardFault(
            "unsupported_layout", f"a row of {lengths.max():,} values (at most {_MOST_ROW_VALUES:,} are read)"
        )
    flat = _flat_views(array, lengths) if _is_view(array.type) else array.flatten()
    nulls = np.zeros(len(array), np.uint8)
    if flat.null_count:
        missing = np.concatenate(([0], np.cumsum(_is_null(flat))))
        nulls[missing[offsets[1:]] > missing[offsets[:-1]]] = NULL_ELEMENT
    if array.null_count:
        nulls[_is_null(array)] = NULL_ROW
    rounded = floats and pa.types.is_floating(flat.type)
    return ListColumn(frozen(_rounded(flat) if rounded else _numbers(flat)), frozen(offsets), frozen(nulls))


def _is_null(array: pa.Array) -> npt.NDArray[np.bool_]:
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False))


def _is_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind))


def _lengths(array: pa.Array) -> Offsets:
    """Values that each row owns in the flattened array; 0 where it is null. Shape (R,), int64."""
    if pa.types.is_fixed_size_list(array.type):
        lengths = np.full(len(array), array.type.list_size, np.int64)
    elif _is_view(array.type):
        lengths = array.sizes.to_numpy(zero_copy_only=False).astype(np.int64)
    else:
        lengths = np.diff(array.offsets.to_numpy().astype(np.int64))
    if array.null_count:
        lengths[_is_null(array)] = 0
    return lengths


def _flat_views(array: pa.Array, lengths: Offsets) -> pa.Array:
    """Copy the values of list views, which may overlap and stand in any order, one row after the other."""
    total = int(lengths.sum())
    if total > _MOST_VIEW_VALUES:
        detail = f"list views that spell out {total:,} values in one batch (at most {_MOST_VIEW_VALUES:,} are read)"
        raise ShardFault("unsupported_layout", detail)
    starts = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    before = np.cumsum(lengths) - lengths
    return array.values.take(pa.array(np.repeat(starts - before, lengths) + np.arange(total)))


def _numbers(flat: pa.Array) -> npt.NDArray[Any]:
    """Return the values as `ListColumn.stored` has them."""
    kind = flat.type
    if pa.types.is_null(kind):
        return np.zeros(len(flat), np.int32)
    if pa.types.is_boolean(kind):
        flat, kind = flat.cast(pa.uint8()), pa.uint8()
    if not pa.types.is_integer(kind):
        raise ShardFault("unsupported_layout", f"lists of {kind} hold no whole numbers")
    numbers: npt.NDArray[Any] = (flat.fill_null(pa.scalar(0, kind)) if flat.null_count else flat).to_numpy()
    return np.minimum(numbers, np.uint64(_INT64_MAX)) if numbers.dtype == np.uint64 else numbers


def _rounded(flat: pa.Array) -> npt.NDArray[np.int32]:
    """Return floats as `list_column` takes them."""
    numbers = (flat.fill_null(0) if flat.null_count else flat).to_numpy().astype(np.float64)
    clipped = np.clip(numbers, np.iinfo(np.int32).min, NOT_WHOLE - 1)
    return np.where(np.trunc(numbers) == numbers, clipped, NOT_WHOLE).astype(np.int32)


@dataclass(frozen=True)
class SpanColumn:
    """Rows of spans, [start, end).

    Args:
        starts, ends: Every row's spans, joined. Shape (S,), int64; -1 and 0 where one is null or no pair of numbers.
        offsets: Row r owns starts[offsets[r]:offsets[r + 1]]. Shape (R + 1,), int64, from 0. A null row owns nothing.
        there: False where the row is null. Shape (R,), bool.
    """

    starts: Offsets
    ends: Offsets
    offsets: Offsets
    there: npt.NDArray[np.bool_]


def span_column(array: pa.Array) -> SpanColumn:
    """Return a list column of any layout, of pairs of numbers in any layout or of {start, end}, as flat numbers.

    Raises:
        ShardFault: `unsupported_layout`: the column's rows are no lists of spans, or its views are too many.
    """
    if not is_span_list(array.type):
        raise ShardFault("unsupported_layout", f"a column of {array.type} holds no spans")
    lengths = _lengths(array)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    flat = _flat_views(array, lengths) if _is_view(array.type) else array.flatten()
    starts, ends = np.full(len(flat), -1, np.int64), np.zeros(len(flat), np.int64)
    whole, pairs = _pairs(flat)
    (starts[whole], one), (ends[whole], other) = (scalar_column(each) for each in pairs)
    broken = np.flatnonzero(whole)[~(one & other)]
    starts[broken], ends[broken] = -1, 0
    return SpanColumn(frozen(starts), frozen(ends), frozen(offsets), frozen(~_is_null(array)))


def _pairs(spans: pa.Array) -> tuple[npt.NDArray[np.bool_], tuple[pa.Array, pa.Array]]:
    """Return which spans are pairs, and the first and second number of each of those."""
    whole = ~_is_null(spans)
    if pa.types.is_struct(spans.type):
        there = spans.filter(pa.array(whole))
        return whole, (there.field("start"), there.field("end"))
    if pa.types.is_null(spans.type):
        return whole, (spans.slice(0, 0), spans.slice(0, 0))
    whole &= _lengths(spans) == 2  # a pair
    if pa.types.is_fixed_size_list(spans.type):
        starts = (np.arange(len(spans)) + spans.offset) * spans.type.list_size
    else:
        starts = spans.offsets.to_numpy(zero_copy_only=False)[: len(spans)].astype(np.int64)
    return whole, (spans.values.take(pa.array(starts[whole])), spans.values.take(pa.array(starts[whole] + 1)))


def scalar_column(array: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return a column of whole numbers as `Batch.scalars` does."""
    if not is_number(array.type):
        raise ShardFault("unsupported_layout", f"a column of {array.type} holds no whole numbers")
    return frozen(_numbers(array).astype(np.int64, copy=False)), frozen(~_is_null(array))


class Batch:
    """A run of rows of one shard, by role, with what several metrics derive from them kept for the next one.

    Args:
        columns: The roles that this shard has, as Arrow arrays of one length.
        rows: That length.
    """

    def __init__(self, columns: Mapping[str, pa.Array], rows: int) -> None:
        self._arrays = columns
        self.rows = rows
        self._lists: dict[str, ListColumn] = {}
        self._derived: dict[tuple[str, ...], Any] = {}

    def has(self, role: str) -> bool:
        """Whether the shard has a column of this role."""
        return role in self._arrays

    def array(self, role: str) -> pa.Array:
        """Return the column of a role as Arrow has it; metrics ask only for what `has`."""
        return self._arrays[role]

    def column(self, role: str) -> ListColumn:
        """Return the column of a role; metrics ask only for what `has`."""
        if role not in self._lists:
            self._lists[role] = list_column(self._arrays[role])
        return self._lists[role]

    def holds_floats(self, role: str) -> bool:
        """Whether the column of a role holds lists of floats."""
        kind = self._arrays[role].type
        return bool(is_list(kind) and pa.types.is_floating(kind.value_type))

    def rounded(self, role: str) -> ListColumn:
        """Return the column of a role, which may hold floats (`list_column`)."""
        if not self.holds_floats(role):
            return self.column(role)
        return self.once(("rounded", role), lambda: list_column(self._arrays[role], floats=True))

    def scalars(self, role: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Return the one whole number that a column has for each row, and whether it is there.

        Returns:
            Shape (R,), int64, 0 where there is none; what is past the end of int64 stands there as its largest number.
            Shape (R,), bool.

        Raises:
            ShardFault: `unsupported_layout`: the column holds no whole numbers.
        """
        return self.once(("scalars", role), lambda: scalar_column(self._arrays[role]))

    def spans(self, role: str) -> SpanColumn:
        """Return the column of a role that holds spans (`span_column`)."""
        return self.once(("spans", role), lambda: span_column(self._arrays[role]))

    def texts(self, role: str) -> pa.Array:
        """Return the text that a column has for each row. Shape (R,), large_string."""
        return self.once(("texts", role), lambda: self._arrays[role].cast(pa.large_string()))

    def beside(self, column: str, role: str) -> tuple[Values, npt.NDArray[np.bool_]]:
        """Return the values of `column`'s companion, laid out by `column`'s own offsets.

        Returns:
            The companion's values, shape (V,) like `column`'s (0 in rows that do not pair), and whether each row
            pairs: both lengths are equal and neither is null. Shape (R,), bool.
        """
        return self.once(("beside", column, role), lambda: self._beside(column, role))

    def _beside(self, column: str, role: str) -> tuple[Values, npt.NDArray[np.bool_]]:
        own, other, paired = self._pair(column, role)
        if paired.all() and np.array_equal(own.offsets, other.offsets):
            return other.values, paired
        return _laid_out(own.offsets, other, paired), paired

    def set_beside(self, column: str, role: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
        """Return the same with 1 for every value that is not 0. Shape (V,), uint8."""
        return self.once(("set beside", column, role), lambda: self._set_beside(column, role))

    def _set_beside(self, column: str, role: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
        own, other, paired = self._pair(column, role)
        if paired.all() and np.array_equal(own.offsets, other.offsets):
            return other.set, paired
        return frozen((self.beside(column, role)[0] != 0).view(np.uint8)), paired

    def _pair(self, column: str, role: str) -> tuple[ListColumn, ListColumn, npt.NDArray[np.bool_]]:
        """Return a column, its companion, and which rows pair."""
        own, other = self.column(column), self.column(companion(column, role))
        return own, other, frozen((own.lengths == other.lengths) & (own.nulls == 0) & (other.nulls == 0))

    def once(self, key: tuple[str, ...], derive: Callable[[], Derived]) -> Derived:
        """Return what `derive` gives, derived at the first asking and kept for the metrics that ask again."""
        if key not in self._derived:
            self._derived[key] = derive()
        derived: Derived = self._derived[key]
        return derived

    def blocks(self, tokens_by: str | None, most: int) -> Iterator[tuple[int, Batch]]:
        """Cut into runs of rows that hold about `most` tokens of a column, so that kernels stay in cache.

        Yields:
            Number of the run's first row in this batch, and the run.
        """
        if tokens_by is None or not self.has(tokens_by) or not is_list(self._arrays[tokens_by].type):
            yield 0, self
            return
        for start, stop in cuts([np.cumsum(_lengths(self._arrays[tokens_by]))], self.rows, most):
            if start == 0 and stop == self.rows:
                yield 0, self
            else:
                cut = {role: array.slice(start, stop - start) for role, array in self._arrays.items()}
                yield start, Batch(cut, stop - start)


def cuts(ends: Sequence[Offsets], rows: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield runs of rows, as (first, last + 1), that hold at most `most` values of each column, or are one row.

    A run has at most a quarter as many rows, so that the numbers of very short rows stay in bounds too.

    Args:
        ends: Where each row's values end in each column, counted from the first row's. Shape (R,).
        rows: How many there are.
    """
    start = 0
    while start < rows:
        stop = min(rows, start + max(1, most // 4))
        for each in ends:
            before = each[start - 1] if start else 0
            stop = min(stop, int(np.searchsorted(each, before + most, side="right")))
        stop = max(stop, start + 1)
        yield start, stop
        start = stop


def _laid_out(offsets: Offsets, other: ListColumn, paired: npt.NDArray[np.bool_]) -> Values:
    values = np.zeros(int(offsets[-1]), other.values.dtype)
    lengths = np.diff(offsets)
    into = np.repeat(paired, lengths)
    out_of = np.repeat(paired, other.lengths)
    values[into] = other.values[out_of]
    return frozen(values)


def attention_of(batch: Batch, column: str) -> str | None:
    """Return the mask that goes with a token column, where the shard has one."""
    mask = companion(column, ATTENTION_MASK)
    return mask if batch.has(mask) else None
