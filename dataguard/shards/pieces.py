"""A stretch of a file, every piece of which is read: at least once, and in any order."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dataguard.shards.files import FileState, ShardFile

PIECE = 1 << 16
"""Bytes of a piece; piece n of a file begins at byte n * PIECE, the last one may be shorter."""
_AT_ONCE = 16
"""Pieces that are read at once where nobody asks for them."""

Taken = Callable[[int, memoryview], None]
"""Is told of a piece: its number, and its bytes."""


class Stretch(NamedTuple):
    """Some consecutive pieces of a file: the first, and the one behind the last."""

    start: int
    stop: int


def pieces_of(state: FileState) -> int:
    """Return how many pieces a file has."""
    return -(-state.size // PIECE)


class Pieces:
    """The pieces of a stretch, each of which is told once when it is read first.

    Args:
        file: The stretch's, open.
        taken: Told of each piece.
    """

    def __init__(self, file: ShardFile, stretch: Stretch, taken: Taken) -> None:
        self._file, self._stretch, self._taken = file, stretch, taken
        self._left = bytearray(b"\x01") * (stretch.stop - stretch.start)

    def span(self, start: int, stop: int) -> tuple[int, int]:
        """Return the first byte and the one behind the last of the pieces that hold some bytes."""
        return start - start % PIECE, min(stop + -stop % PIECE, self._file.size)

    def read_into(self, view: memoryview, offset: int) -> None:
        """Fill a buffer from the file with whole pieces (`span`), of this stretch or not."""
        self._file.read_into(view, offset)
        first = offset // PIECE
        for number in range(max(first, self._stretch.start), min(first + -(-len(view) // PIECE), self._stretch.stop)):
            if self._left[number - self._stretch.start]:
                self._left[number - self._stretch.start] = 0
                self._taken(number, view[(number - first) * PIECE : (number - first + 1) * PIECE])

    def read_rest(self) -> None:
        """Read the pieces of the stretch that nobody has read."""
        buffer = memoryview(bytearray(PIECE * _AT_ONCE))
        place = self._left.find(1)
        while place >= 0:
            end = self._left.find(0, place, place + _AT_ONCE)
            start, stop = (
                self._stretch.start + at for at in (place, min(place + _AT_ONCE, len(self._left)) if end < 0 else end)
            )
            size = min(stop * PIECE, self._file.size) - start * PIECE
            self.read_into(buffer[:size], start * PIECE)
            place = self._left.find(1, place)
