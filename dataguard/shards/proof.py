"""What every layout does to be trusted: errors become faults, batches are proven, names are unique."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dataguard.errors import ShardFault
from dataguard.shards.model import Unit
from dataguard.shards.roles import is_list

UNIT_BYTES = 32 << 20
"""Bytes of a unit, about: enough to be worth a worker's while, little enough for many workers."""
UNIT_ROWS = 1 << 16
"""Rows after which a unit is full: of very short rows the numbers weigh more than the tokens."""
_ROWS_WITHOUT_BYTES = 1 << 24
_FEW_VALUES = 1 << 20
_MOST_REPEATS = 64
"""How often list views may spell out each of their values: windows that overlap do so, and a hostile file without end."""


@contextmanager
def faults(what: str) -> Iterator[None]:
    """Turn whatever goes wrong inside into a ShardFault that says what was being read.

    Everything is caught: hostile metadata raises what its bytes happen to hit (UnicodeDecodeError, OverflowError,
    RecursionError), and a shard's fault never leaves the run.
    """
    try:
        yield
    except ShardFault:
        raise
    except MemoryError as error:
        raise ShardFault("unreadable", f"{what}: there is not enough memory for it ({_said(error)})") from error
    except pa.ArrowNotImplementedError as error:
        raise ShardFault("unsupported_layout", f"{what}: {_said(error)}") from error
    except OSError as error:
        reason = "corrupt" if error.errno is None else "unreadable"
        raise ShardFault(reason, f"{what}: {_said(error)}") from error
    except Exception as error:
        raise ShardFault("corrupt", f"{what}: {_said(error)}") from error


def _said(error: Exception) -> str:
    """Return an error's first line, without what only Arrow's developers need."""
    lines = str(error).splitlines()
    return (lines[0] if lines else type(error).__name__)[:500]


def check_schema(schema: pa.Schema) -> None:
    """Refuse a schema that cannot be told or judged.

    Raises:
        ShardFault: `duplicate_column`: two columns share a name, so that what either holds is a matter of luck;
            `corrupt`: a name, however deep, is no UTF-8.
    """
    with faults("the schema"):
        for field in schema:
            _read_names(field)
    twice = sorted(name for name, count in Counter(schema.names).items() if count > 1)
    if twice:
        raise ShardFault("duplicate_column", f"several columns are called {', '.join(map(repr, twice))}")


def _read_names(field: pa.Field) -> None:
    """Decode the names of a field and of all inside it; Arrow itself does so only when it is asked for one."""
    _ = field.name
    kind = field.type
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    for place in range(kind.num_fields):
        _read_names(kind.field(place))


def prove(batch: pa.RecordBatch, what: str) -> None:
    """Raise `corrupt` where offsets, lengths, indices or text of a batch are not what they must be."""
    with faults(what):
        batch.validate(full=True)
        if batch.num_rows > max(_ROWS_WITHOUT_BYTES, 8 * batch.get_total_buffer_size()):
            raise ShardFault("corrupt", f"{what}: it claims {batch.num_rows:,} rows that have no bytes")
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            _refuse_wild_offsets(column, f"{what}, column {name!r}")
            if is_list(column.type):
                _refuse_values_without_bytes(column, f"{what}, column {name!r}")


def _refuse_wild_offsets(column: pa.Array, what: str) -> None:
    """Refuse lists without rows, however deep, whose one offset is past their values.

    Arrow does not look at it when it validates, and ends the process when it flattens or joins them.
    """
    kind = column.type
    if isinstance(column, pa.ExtensionArray):
        _refuse_wild_offsets(column.storage, what)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        values = column.values if not pa.types.is_map(kind) else column.keys
        stored = column.buffers()[1]
        width = np.int64 if pa.types.is_large_list(kind) else np.int32
        if not len(column) and stored is not None and stored.size > column.offset * width().itemsize:
            first = int(np.frombuffer(stored, width, 1, column.offset * width().itemsize)[0])
            if not 0 <= first <= len(values):
                raise ShardFault("corrupt", f"{what}: lists without rows begin at value {first:,} of {len(values):,}")
        for each in (values,) if not pa.types.is_map(kind) else (values, column.items):
            _refuse_wild_offsets(each, what)
    elif is_list(kind):
        _refuse_wild_offsets(column.values, what)
    elif pa.types.is_struct(kind) or pa.types.is_union(kind):
        for place in range(kind.num_fields):
            _refuse_wild_offsets(column.field(place), what)
    elif pa.types.is_dictionary(kind):
        _refuse_wild_offsets(column.dictionary, what)


def _refuse_values_without_bytes(column: pa.Array, what: str) -> None:
    """Refuse lists of far more values than there are bytes for them: work without end, from a file of nothing."""
    kind = column.type
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        values, spelled = len(column.values), pc.sum(pc.list_value_length(column), min_count=0).as_py()
        if spelled > max(_FEW_VALUES, _MOST_REPEATS * values):
            detail = f"its list views spell out {spelled:,} values, and {values:,} are there"
            raise ShardFault("unsupported_layout", f"{what}: {detail}")
    if _takes_no_bytes(kind.value_type):
        values = len(column.flatten())
        if values > max(_ROWS_WITHOUT_BYTES, 8 * column.get_total_buffer_size()):
            raise ShardFault("corrupt", f"{what}: it claims {values:,} values that have no bytes")


def _takes_no_bytes(kind: pa.DataType) -> bool:
    """Whether values of a type lie nowhere in a file, however many there are."""
    if pa.types.is_fixed_size_list(kind):
        return kind.list_size == 0 or _takes_no_bytes(kind.value_type)
    if pa.types.is_struct(kind):
        return all(_takes_no_bytes(field.type) for field in kind)
    return bool(pa.types.is_null(kind))


def in_file_order(names: Sequence[str], columns: Sequence[str] | None) -> list[str]:
    """Return the names that are wanted and there, in the file's order."""
    wanted = None if columns is None else set(columns)
    return [name for name in names if wanted is None or name in wanted]


def units_of(parts: Iterable[tuple[int, int]], limit: int = UNIT_BYTES) -> tuple[Unit, ...]:
    """Join consecutive batches (or row groups) until a unit holds about `limit` bytes.

    Args:
        parts: (rows, bytes) of each.
        limit: Bytes after which a unit is full.
    """
    units: list[Unit] = []
    first_row = rows = start = size = stop = 0
    for part_rows, part_size in parts:
        if stop > start and (size + part_size > limit or rows + part_rows > UNIT_ROWS):
            units.append(Unit(first_row, rows, start, stop, size))
            first_row, rows, start, size = first_row + rows, 0, stop, 0
        rows, size, stop = rows + part_rows, size + part_size, stop + 1
    if stop > start:
        units.append(Unit(first_row, rows, start, stop, size))
    return tuple(units)
