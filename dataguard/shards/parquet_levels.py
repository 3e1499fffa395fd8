"""How many entries a column's rows take in Parquet: as many as its pages hold, or Arrow left some of them out.

Arrow stops at the number of rows that the footer says, and leaves out what is left in the column: one turned bit can cut a row
into two, and every later row of the column then stands beside another row of the others.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from dataguard.shards.roles import is_list


def entries(array: pa.Array) -> int | None:
    """Return how many values, nulls and empty lists of a column's first leaf its rows take; None where it is not known."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType) or pa.types.is_map(kind):
        return None
    if pa.types.is_struct(kind):
        return entries(array.flatten()[0]) if kind.num_fields else None
    if not is_list(kind):
        return len(array)
    lengths = pc.fill_null(pc.list_value_length(array), 0)
    inner = entries(array.flatten())
    return None if inner is None else inner + pc.sum(pc.equal(lengths, 0), min_count=0).as_py()
