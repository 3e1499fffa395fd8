"""Some rows of a record batch, whatever its types; Arrow's own `take` lacks views of text and runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Places = Sequence[int] | npt.NDArray[np.int64]


def take_rows(batch: pa.RecordBatch, places: Places) -> pa.RecordBatch:
    """Return some rows of a batch.

    Args:
        batch: Any record batch.
        places: Which of its rows, rising.
    """
    if len(places) == batch.num_rows:
        return batch
    columns = [_taken(column, places) for column in batch.columns]
    if not columns:
        return batch.slice(0, len(places))
    return pa.record_batch(columns, schema=batch.schema)


def _taken(column: pa.Array, places: Places) -> pa.Array:
    try:
        return column.take(pa.array(places, pa.int64()))
    except pa.ArrowNotImplementedError:
        pass
    # Pieces of a column of views each hold all of its text: joining them would hold it many times over.
    plain = _without_views(column.type)
    if plain != column.type:
        return column.cast(plain).take(pa.array(places, pa.int64())).cast(column.type)
    parts = [column.slice(start, stop - start) for start, stop in _runs(places)]
    return pa.concat_arrays(parts) if parts else column.slice(0, 0)


def _without_views(kind: pa.DataType) -> pa.DataType:  # noqa: PLR0911  # one line a kind of type
    """Return a type with text in place of views of text, in lists and structs too."""
    if kind == pa.string_view():
        return pa.large_string()
    if kind == pa.binary_view():
        return pa.large_binary()
    if pa.types.is_list(kind):
        return pa.list_(_field(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(_field(kind.value_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_field(kind.value_field), kind.list_size)
    if pa.types.is_struct(kind):
        return pa.struct([_field(kind.field(place)) for place in range(kind.num_fields)])
    return kind


def _field(field: pa.Field) -> pa.Field:
    return field.with_type(_without_views(field.type))


def _runs(places: Places) -> Iterator[tuple[int, int]]:
    """Yield the runs of consecutive numbers, as (first, last + 1)."""
    numbers = np.asarray(places, np.int64)
    if not numbers.size:
        return
    breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
    for run in np.split(numbers, breaks):
        yield int(run[0]), int(run[-1]) + 1
