"""Memory that is lent, and lent again once nothing shows it any more.

Memory that was never used is given by the system page by page, zeroed; that costs more than reading a file into it, and
threads wait for each other there. What was used just now is still in a core's cache.
"""

from __future__ import annotations

import weakref

import numpy as np
import numpy.typing as npt
import pyarrow as pa

LINE = 64
"""Bytes of a line of a cache; kernels are fastest on numbers that begin with one."""
_MOST_KEPT = 16 << 20
"""Bytes past which memory is given back to the system instead of being kept."""


class Room:
    """Memory for as many threads as ask."""

    def __init__(self) -> None:
        self._free: list[npt.NDArray[np.uint8]] = []

    def lend(self, size: int) -> pa.Buffer:
        """Return memory of at least `size` bytes; it is free again when neither the buffer nor a slice of it is held."""
        try:
            memory = self._free.pop()
        except IndexError:
            memory = np.empty(0, np.uint8)
        if memory.size < size + LINE:  # up to a line is left out in front
            memory = np.empty(size + LINE, np.uint8)
        shown = memory[-memory.ctypes.data % LINE :]
        if memory.size <= _MOST_KEPT:
            weakref.finalize(shown, self._free.append, memory).atexit = False
        return pa.py_buffer(shown)
