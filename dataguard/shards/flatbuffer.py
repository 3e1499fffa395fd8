"""Read single fields out of a flatbuffer that nobody has verified yet.

Arrow's own reader verifies the whole buffer, but it reads the data behind it too; we want five numbers of each message
before anything is allocated. Every access is checked against the buffer, so that hostile bytes give `Malformed`.
"""

from __future__ import annotations

import struct

_INT16, _UINT16 = struct.Struct("<h"), struct.Struct("<H")
_INT32, _UINT32 = struct.Struct("<i"), struct.Struct("<I")
_INT64, _INT8 = struct.Struct("<q"), struct.Struct("<b")


class Malformed(ValueError):
    """The bytes are no flatbuffer of the expected shape."""


class Table:
    """One table of a flatbuffer.

    Args:
        data: The whole buffer.
        position: Where the table stands in it.
    """

    __slots__ = ("_data", "_vtable", "_vtable_size", "position")

    def __init__(self, data: bytes, position: int) -> None:
        self._data, self.position = data, position
        self._vtable = position - self._at(_INT32, position)
        self._vtable_size = self._at(_UINT16, self._vtable)

    @classmethod
    def root(cls, data: bytes) -> Table:
        """Return the table that a buffer starts with."""
        if len(data) < _UINT32.size:
            raise Malformed("it is too short")
        return cls(data, int(_UINT32.unpack_from(data, 0)[0]))

    def _at(self, kind: struct.Struct, position: int) -> int:
        if position < 0 or position + kind.size > len(self._data):
            raise Malformed(f"it points to byte {position} of its {len(self._data)}")
        return int(kind.unpack_from(self._data, position)[0])

    def _field(self, slot: int) -> int | None:
        """Return where a field stands; None where the table leaves it out."""
        entry = 4 + 2 * slot
        if entry + 2 > self._vtable_size:
            return None
        offset = self._at(_UINT16, self._vtable + entry)
        return self.position + offset if offset else None

    def _number(self, kind: struct.Struct, slot: int) -> int:
        position = self._field(slot)
        return 0 if position is None else self._at(kind, position)

    def int8(self, slot: int) -> int:
        """Return a byte (an enumeration or a boolean); 0 where it is left out."""
        return self._number(_INT8, slot)

    def int16(self, slot: int) -> int:
        """Return a 16-bit number; 0 where it is left out."""
        return self._number(_INT16, slot)

    def int64(self, slot: int) -> int:
        """Return a 64-bit number; 0 where it is left out."""
        return self._number(_INT64, slot)

    def table(self, slot: int) -> Table | None:
        """Return the table that a field points to; None where it is left out."""
        position = self._field(slot)
        return None if position is None else Table(self._data, position + self._at(_UINT32, position))

    def structs(self, slot: int, layout: struct.Struct) -> list[tuple[int, ...]]:
        """Return a vector of fixed-size structs, unpacked; empty where it is left out."""
        position = self._field(slot)
        if position is None:
            return []
        start = position + self._at(_UINT32, position)
        count = self._at(_UINT32, start)
        first = start + _UINT32.size
        if first + count * layout.size > len(self._data):
            raise Malformed(f"a list of {count} entries does not fit into its {len(self._data)} bytes")
        return list(layout.iter_unpack(self._data[first : first + count * layout.size]))
