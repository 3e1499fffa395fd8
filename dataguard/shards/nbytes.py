"""How many bytes rows take in memory, without what only their neighbours need.

Arrow's own `nbytes` ends the process (26.0) at a union without values that was read from IPC, however deep it lies.
"""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa


def nbytes_of(rows: pa.RecordBatch | pa.Array) -> int:
    """Return the bytes that the buffers of a batch or a column take, those of a slice alone where it is one."""
    if isinstance(rows, pa.RecordBatch):
        if not any(map(_has_union, rows.schema.types)):
            return int(rows.nbytes)
        return sum(map(nbytes_of, rows.columns))
    if not _has_union(rows.type):
        return int(rows.nbytes)
    try:
        return int(rows.take(pa.array(range(len(rows)), pa.int64())).get_total_buffer_size())
    except pa.ArrowException:  # a type that Arrow cannot copy row by row
        return int(rows.get_total_buffer_size())


@lru_cache(maxsize=1024)
def _has_union(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return _has_union(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _has_union(kind.value_type)
    return bool(pa.types.is_union(kind)) or any(_has_union(kind.field(place).type) for place in range(kind.num_fields))
