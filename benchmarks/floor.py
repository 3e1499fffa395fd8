"""The floor: what touching the bytes costs. NumPy sums over the buffers of every list column, on every core, warm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from measure import CORES, threaded

READ_BYTES = 4 << 20


def resident(path: Path) -> list[np.ndarray]:
    """Return the buffers of a shard's list columns, copied into memory."""
    return [np.array(values) for values in _mapped(path)]


def sum_resident(buffers: list[np.ndarray]) -> None:
    """Sum buffers that lie in memory already: nothing is opened, read or mapped."""
    threaded(np.sum, buffers)


def sum_mapped(path: Path) -> None:
    """Map a shard that is in the page cache, and sum its buffers."""
    threaded(np.sum, _mapped(path))


def sum_read(path: Path) -> None:
    """Read a shard that is in the page cache into buffers that stay in a core's cache, and sum those as what they are."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
    share = -(-size // CORES // READ_BYTES) * READ_BYTES
    threaded(lambda start: _sum_stretch(path, start, min(size, start + share)), range(0, size, share))


def _sum_stretch(path: Path, start: int, stop: int) -> None:
    """Sum a stretch of a file as int64: fewer and wider numbers than there are, so at most what typed sums would cost."""
    buffer = np.empty(READ_BYTES // 8, np.int64)
    view = memoryview(buffer).cast("B")
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        while start < stop:
            got = file.readinto(view[: min(READ_BYTES, stop - start)])
            if not got:
                break
            buffer[: got // 8].sum()
            start += got


def _mapped(path: Path) -> list[np.ndarray]:
    found = []
    with pa.memory_map(str(path)) as source, pa.ipc.open_stream(source) as reader:
        for batch in reader:
            found += [column.flatten().to_numpy() for column in batch.columns if pa.types.is_list(column.type)]
    return found
