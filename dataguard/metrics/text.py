"""The text of rows as UTF-8 bytes: the `text` column where a row has one, else what its content ids spell together.

The bytes of a row's ids are joined before anything looks at them, so that a character that crosses ids is one character. They
come in pieces of bounded size: a row of ten million tokens takes no more memory than a short one. Where ids that are no text
part a row (special, unattended or unknown ones) stands the byte BREAK, which no UTF-8 has: a word, a line and a character end
there. The text begins and ends with content: what parts nothing leaves no BREAK.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba.core import types
from numba.extending import intrinsic

from dataguard.metrics.base import Numbers, OfAttended, kernel
from dataguard.metrics.tables import white
from dataguard.shards.batch import Batch, ListColumn, Offsets, frozen
from dataguard.shards.roles import TEXT, companion, is_text
from dataguard.shards.text import TextColumn, text_column
from dataguard.vocabulary.model import CharacterTable

BREAK, NO_UTF8 = 0xFE, 0xFF
"""What parts a text, and what stands in the place of that byte where ids spell it: neither is in any character."""
PIECE = 1 << 22
"""Bytes of text that are joined at once: what half a million tokens of English spell."""
AT_ONCE = 8
"""Bytes that are copied at once; buffers have twice as many to spare."""
PARTS = 1 << 40
"""The size of an id that parts the text."""


class Piece(NamedTuple):
    """A stretch of text: some rows, or a part of one.

    Args:
        data: Shape (B,), uint8.
        offsets: Its i-th row owns data[offsets[i]:offsets[i + 1]]. Shape (n + 1,), int64.
        row: Number of its first row.
        begins: Whether that row begins here, and not in the piece before.
        ends: Whether its last row ends here. If not, the next piece goes on with a whole character.
    """

    data: npt.NDArray[np.uint8]
    offsets: Offsets
    row: int
    begins: bool
    ends: bool


class Text(Protocol):
    """The texts of a batch."""

    rows: int
    """Texts that there are; those of a dictionary may be fewer than the batch's rows."""
    spaced: bool
    """Whether white space stands where the author put it. WordPiece and its like tell nothing of it: a space stands before every
    word and every sign there."""

    def pieces(self) -> Iterable[Piece]:
        """Yield all texts, in order; a piece is to be read before the next one is asked for."""
        ...

    def positions(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return what holds the byte at a place of each text (-1: none): number of the token, or of the character."""
        ...


@dataclass(frozen=True)
class OfText(OfAttended):
    """A metric of a row's text; `present` is false where the column is null, and nothing is known of the ids.

    Positions are places of tokens where ids were joined, and of characters where the column has a text.
    """

    positions: ClassVar[tuple[str, ...]] = ()
    """The numbers that are places of bytes until they become positions (-1: none)."""
    special: tuple[int, ...]
    table: CharacterTable | None
    """None where it is not known what ids spell: then only shards that have the column can be looked at."""

    @property
    def text_role(self) -> str:
        """The role of the texts that go with the token column."""
        return companion(self.attention.column, TEXT)

    def may_read(self) -> tuple[str, ...]:
        return (*super().may_read(), self.text_role)

    def accepts(self, role: str, kind: pa.DataType) -> bool:
        return role == self.text_role or super().accepts(role, kind)  # a column that holds no text is left alone

    def can_compute(self, types: Mapping[str, pa.DataType]) -> bool:
        return super().can_compute(types) and (self.table is not None or is_text(types.get(self.text_role)))

    def compute(self, batch: Batch) -> Numbers:
        names = [name for name in self.gives if name != "present"]
        present = np.ones(batch.rows, np.bool_)
        if batch.has(self.text_role) and is_text(batch.array(self.text_role).type):
            column = batch.once(("text", self.text_role), lambda: text_column(batch.array(self.text_role)))
            numbers = self._numbers(_Given(column), names)
            numbers = numbers if column.of_rows is None else numbers[:, column.of_rows]
            if self.table is None:
                present = column.present
            elif not column.present.all():
                numbers = np.where(column.present, numbers, self._numbers(self._joined(batch), names))
        else:
            numbers = self._numbers(self._joined(batch), names)
        return {"present": present, **dict(zip(names, numbers, strict=True))}

    def _numbers(self, text: Text, names: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the numbers of each text. Shape (n, T), int64."""
        numbers = np.zeros((len(names), text.rows), np.int64)
        places = [names.index(name) for name in self.positions]
        numbers[places] = -1
        self.count(text.pieces(), numbers, spaced=text.spaced)
        for place in places:
            numbers[place] = text.positions(frozen(numbers[place]))
        return numbers

    def _joined(self, batch: Batch) -> Text:
        assert self.table is not None  # else it could not be computed
        table, key = self.table, ("joined", self.attention.column, self.table.digest, str(self.special))
        attended, _ = self.attention.of(batch)
        return batch.once(key, lambda: _Joined(batch.column(self.attention.column), attended, table, self.special))

    @abstractmethod
    def count(self, pieces: Iterable[Piece], numbers: npt.NDArray[np.int64], *, spaced: bool) -> None:
        """Write what each text has.

        Args:
            numbers: In the order of `gives`: 0, and -1 for places. Shape (n, T), int64.
            spaced: `Text.spaced`.
        """


class _Given:
    """Texts that a column holds: all are there, so that they are one piece."""

    def __init__(self, column: TextColumn) -> None:
        self._column = column
        self.rows, self.spaced = len(column.offsets) - 1, True

    def pieces(self) -> Iterator[Piece]:
        yield Piece(self._column.data, self._column.offsets, 0, begins=True, ends=True)

    def positions(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        characters = places.copy()
        for row in np.flatnonzero(places > 0).tolist():
            start = int(self._column.offsets[row])
            before = self._column.data[start : start + int(places[row])]
            characters[row] = np.count_nonzero(before & 0xC0 != 0x80)
        return characters


class _Spelled(NamedTuple):
    """What ids spell, in words of eight bytes, the first byte lowest.

    Args:
        short: Of each id the first word, and how many bytes there are in all: PARTS where the id parts the text. Shape
            (size, 2), uint64.
        words: The words of those that have more than one. Shape (n,), uint64.
        starts: Where they begin there. Shape (size,), int64.
    """

    short: npt.NDArray[np.uint64]
    words: npt.NDArray[np.uint64]
    starts: Offsets


@lru_cache(maxsize=4)
def _spelled(table: CharacterTable, special: tuple[int, ...]) -> _Spelled:
    sizes = np.diff(table.offsets)
    of_words = np.where(sizes > 0, -(-sizes // AT_ONCE), 1)
    starts = np.cumsum(of_words) - of_words
    data = np.zeros(int(of_words.sum()) * AT_ONCE, np.uint8)
    into = np.repeat(starts * AT_ONCE - table.offsets[:-1], sizes) + np.arange(len(table.data))
    data[into] = np.where(table.data == BREAK, NO_UTF8, table.data)
    words = data.view("<u8").astype(np.uint64)
    short = np.stack([words[starts] if len(table) else starts.astype(np.uint64), sizes.astype(np.uint64)], axis=1)
    short[[token for token in special if 0 <= token < len(table)], 1] = PARTS
    return _Spelled(frozen(short), frozen(words), frozen(starts))


class _Joined:
    """Texts that ids spell, joined when they are asked for; kept where one piece holds them all."""

    def __init__(
        self, column: ListColumn, attended: npt.NDArray[np.uint8], table: CharacterTable, special: tuple[int, ...]
    ) -> None:
        self._column, self._attended, self._spelled = column, attended, _spelled(table, special)
        self._whole: Piece | None = None
        self.rows, self.spaced = len(column.offsets) - 1, bool(white(table).any())

    def pieces(self) -> Iterator[Piece]:
        if self._whole is not None:
            yield self._whole
            return
        cursor = np.zeros(5, np.int64)
        buffer, ends = np.empty(PIECE + 2 * AT_ONCE, np.uint8), np.empty(self.rows, np.int64)
        column, row, kept, begins = self._column, 0, 0, True
        while row < self.rows:
            count, filled = join(
                column.values, column.offsets, self._attended, *self._spelled, cursor, buffer, kept, ends
            )
            done = bool(cursor[ROW] == self.rows)
            starts = np.concatenate([[0], ends[:count]]).astype(np.int64)
            stop = filled if done else filled - _cut_behind(buffer[starts[-1] : filled])
            offsets = starts if done else np.append(starts, stop)
            piece = Piece(frozen(buffer[:filled]), frozen(offsets), row, begins, done)
            if done and row == 0:
                self._whole = piece
            yield piece
            row, begins, kept = int(cursor[ROW]), False, filled - stop
            buffer[:kept] = buffer[stop:filled]

    def positions(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        tokens = np.full(self.rows, -1, np.int64)
        column = self._column
        find_tokens(column.values, column.offsets, self._attended, self._spelled.short, places, tokens)
        return tokens


def _cut_behind(data: npt.NDArray[np.uint8]) -> int:
    """Return how many bytes at the end may be the beginning of a character that the next ones complete."""
    for back, byte in enumerate(data[:-4:-1].tolist(), start=1):
        if byte & 0xC0 != 0x80:
            return back if byte >= 0xC0 else 0
    return 0


ROW, PLACE, INSIDE, PARTED, BEGUN = range(5)
"""A cursor: the row, the place in the values, bytes of the token there that are written, whether a BREAK is due, and whether
the row has any text yet."""


@intrinsic
def store(typing, array, place, word):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Write eight bytes at once, at a place that need not be a multiple of eight; nothing checks that they are inside."""

    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        into = context.make_array(signature.args[0])(context, builder, arguments[0])
        number = arguments[2]
        address = builder.bitcast(builder.gep(into.data, [arguments[1]]), number.type.as_pointer())
        builder.store(number, address, align=1)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.uint64), build


@intrinsic
def load(typing, array, place):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Return eight bytes as one number, from a place that need not be a multiple of eight; nothing checks that it is inside."""

    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        source = context.make_array(signature.args[0])(context, builder, arguments[0])
        number = context.get_value_type(types.uint64)
        address = builder.bitcast(builder.gep(source.data, [arguments[1]]), number.as_pointer())
        return builder.load(address, align=1)

    return types.uint64(array, types.intp), build


@kernel
def join(values, offsets, attended, short, words, starts, cursor, buffer, kept, ends):  # type: ignore[no-untyped-def]
    """Write the text of rows behind the first `kept` bytes of the buffer, from the cursor on until it is full.

    ends: Takes where each row that is through ends in the buffer. Returns how many rows are through, and the bytes in the
    buffer.
    """
    row, place, inside, parted, begun = cursor[0], cursor[1], cursor[2], cursor[3], cursor[4]
    at, count, full = np.int64(kept), 0, buffer.size - 2 * AT_ONCE
    while row < offsets.size - 1 and at < full:
        stop = offsets[row + 1]
        while place < stop and at < full:
            token = values[place]
            size = np.int64(PARTS)
            if attended[place] and 0 <= token < short.shape[0]:
                size = np.int64(short[token, 1])
            if size == PARTS:
                parted = begun
            elif size:
                if parted:
                    buffer[at] = BREAK
                    at, parted = at + 1, np.int64(0)
                begun = np.int64(1)
                store(buffer, at, short[token, 0])
                if size <= AT_ONCE:
                    at += size
                else:
                    source = starts[token]
                    while inside < size and at < full:
                        store(buffer, at, words[source + inside // AT_ONCE])
                        step = min(size - inside, AT_ONCE)
                        at, inside = at + step, inside + step
                    if inside < size:
                        break
                    inside = np.int64(0)
            place += 1
        if place < stop:
            break
        ends[count] = at
        count, row = count + 1, row + 1
        parted, begun = np.int64(0), np.int64(0)
    cursor[0], cursor[1], cursor[2], cursor[3], cursor[4] = row, place, inside, parted, begun
    return count, at


@kernel
def find_tokens(values, offsets, attended, short, places, tokens):  # type: ignore[no-untyped-def]
    """Write which token of each row holds the byte at a place of its text; rows without a place are left alone."""
    for row in range(offsets.size - 1):
        if places[row] < 0:
            continue
        at, parted, begun = 0, 0, 0
        for place in range(offsets[row], offsets[row + 1]):
            token = values[place]
            size = np.int64(PARTS)
            if attended[place] and 0 <= token < short.shape[0]:
                size = np.int64(short[token, 1])
            if size == PARTS:
                parted = begun
            elif size:
                at += parted + size
                parted, begun = 0, 1
                if at > places[row]:
                    tokens[row] = place - offsets[row]
                    break


@kernel
def character(first, second, third, fourth):  # type: ignore[no-untyped-def]
    """Return the character that up to four bytes begin with, and how many of them it takes.

    Where they begin with none it is -1, and as many bytes are taken as Python's (and Unicode's) one U+FFFD stands for. Behind
    the end of a text stands 0.
    """
    if first < 0x80:
        return first, 1
    if first < 0xC2 or first > 0xF4:
        return -1, 1
    if first < 0xE0:
        if second & 0xC0 != 0x80:
            return -1, 1
        return (first & 0x1F) << 6 | (second & 0x3F), 2
    lowest = 0xA0 if first == 0xE0 else 0x90 if first == 0xF0 else 0x80
    highest = 0x9F if first == 0xED else 0x8F if first == 0xF4 else 0xBF
    if second < lowest or second > highest:
        return -1, 1
    if third & 0xC0 != 0x80:
        return -1, 2
    if first < 0xF0:
        return (first & 0x0F) << 12 | (second & 0x3F) << 6 | (third & 0x3F), 3
    if fourth & 0xC0 != 0x80:
        return -1, 3
    return (first & 0x07) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | (fourth & 0x3F), 4
