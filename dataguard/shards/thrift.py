"""Read Thrift's compact protocol, field by field, from bytes that nobody has verified.

Parquet's footer is spelled in it. We read it ourselves, because asking pyarrow for the metadata of a column chunk ends the
process where they are hostile (pyarrow 26: an exception of C++ that nothing catches), and because this stops at the first
byte that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

_DEEPEST = 32


class Malformed(ValueError):
    """The bytes are no Thrift struct of the expected shape."""


class EndsEarly(Malformed):
    """The bytes end inside the struct; more of them may mend that."""


class Wire(IntEnum):
    """How a value is spelled."""

    STOP = 0
    TRUE = 1
    FALSE = 2
    BYTE = 3
    INT16 = 4
    INT32 = 5
    INT64 = 6
    DOUBLE = 7
    BINARY = 8
    LIST = 9
    SET = 10
    MAP = 11
    STRUCT = 12
    UUID = 13


_FIXED = {Wire.BYTE: 1, Wire.DOUBLE: 8, Wire.UUID: 16}
_INTEGERS = frozenset({Wire.INT16, Wire.INT32, Wire.INT64})


class Reader:
    """A place in the bytes, which moves on with every value that is read or skipped."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def _byte(self) -> int:
        if self.at >= len(self._data):
            raise EndsEarly("it ends too early")
        self.at += 1
        return self._data[self.at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while shift < 64:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        raise Malformed("a number has more than 64 bits")

    def _move(self, count: int) -> None:
        if count > len(self._data) - self.at:
            raise EndsEarly(
                f"{count} bytes should follow byte {self.at}, which has {len(self._data) - self.at} behind it"
            )
        self.at += count

    def fields(self) -> Iterator[tuple[int, Wire]]:
        """Yield (number, kind) of a struct's fields; the value of each must be read or skipped before the next."""
        number = 0
        while True:
            head = self._byte()
            kind = _wire(head & 15)
            if kind is Wire.STOP:
                return
            number = number + (head >> 4) if head >> 4 else self.integer(Wire.INT16)
            yield number, kind

    def struct(self, kind: Wire) -> Iterator[tuple[int, Wire]]:
        """Return `fields` of a value that must be a struct."""
        if kind is not Wire.STRUCT:
            raise Malformed(f"a struct should stand at byte {self.at}")
        return self.fields()

    def elements(self, kind: Wire) -> Iterator[Wire]:
        """Yield the kind of a list's elements, once for each; each must be read or skipped before the next."""
        if kind is not Wire.LIST:
            raise Malformed(f"a list should stand at byte {self.at}")
        head = self._byte()
        element, count = _wire(head & 15), head >> 4
        if count == 15:
            count = self._varint()
        if count > len(self._data) - self.at:
            raise EndsEarly(f"a list claims {count} elements in {len(self._data) - self.at} bytes")
        for _ in range(count):
            yield element

    def integer(self, kind: Wire) -> int:
        """Return a whole number."""
        if kind not in _INTEGERS:
            raise Malformed(f"a number should stand at byte {self.at}")
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def text(self, kind: Wire) -> str:
        """Return a string; bytes that are no UTF-8 are escaped."""
        if kind is not Wire.BINARY:
            raise Malformed(f"a string should stand at byte {self.at}")
        length = self._varint()
        start = self.at
        self._move(length)
        return self._data[start : self.at].decode("utf-8", "backslashreplace")

    def skip(self, kind: Wire, depth: int = 0) -> None:
        """Pass over a value."""
        if depth > _DEEPEST:
            raise Malformed(f"structs lie more than {_DEEPEST} deep in one another")
        if kind in _INTEGERS:
            self._varint()
        elif kind in _FIXED:
            self._move(_FIXED[kind])
        elif kind is Wire.BINARY:
            self._move(self._varint())
        elif kind is Wire.STRUCT:
            for _, inner in self.fields():
                self.skip(inner, depth + 1)
        elif kind is Wire.LIST:
            for inner in self.elements(kind):
                # In a list a truth value is a byte; in a field it is its kind.
                self.skip(Wire.BYTE if inner in {Wire.TRUE, Wire.FALSE} else inner, depth + 1)
        elif kind in {Wire.SET, Wire.MAP}:
            raise Malformed(f"a set or map stands at byte {self.at}, and Parquet has none")


def _wire(number: int) -> Wire:
    try:
        return Wire(number)
    except ValueError as error:
        raise Malformed(f"{number} is no kind of value") from error
