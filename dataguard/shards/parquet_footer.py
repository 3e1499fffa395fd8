"""What a Parquet footer says of row groups: rows, sizes and places, all checked against the file."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from dataguard.errors import ShardFault
from dataguard.shards.files import ShardFile
from dataguard.shards.thrift import Malformed, Reader, Wire

MAGIC = b"PAR1"
_TAIL = 8
"""Bytes of the footer's length and the magic at the end."""
_MOST_FOOTER = 128 << 20
_CHUNK = 1 << 20
_SLACK = 64
_TYPE_WIDTHS = {0: 1, 1: 4, 2: 8, 4: 4, 5: 8}
"""Bytes of a decoded value: BOOLEAN, INT32, INT64, FLOAT, DOUBLE."""
_OTHER_WIDTH = 16


@dataclass
class _Column:
    """One column chunk, by the fields of Parquet's own definition."""

    path: list[str] = field(default_factory=list)
    other_file: str = ""
    is_encrypted: bool = False
    numbers: dict[int, int] = field(default_factory=dict)
    """Of ColumnMetaData: 1 type, 5 values, 6 uncompressed and 7 compressed size, 9, 11, 14 places, 15 a length."""
    indexes: dict[int, int] = field(default_factory=dict)
    """Of ColumnChunk: 4 and 5, 6 and 7: place and length of the page indexes."""

    @property
    def start(self) -> int:
        """The byte of its first page; a dictionary comes before the data."""
        data, dictionary = self.numbers[9], self.numbers.get(11, 0)
        return dictionary if 0 < dictionary < data else data

    @property
    def decoded(self) -> int:
        """Its bytes in memory, about."""
        width = _TYPE_WIDTHS.get(self.numbers.get(1, -1), _OTHER_WIDTH)
        return max(self.numbers.get(6, 0), self.numbers[5] * width)

    def end(self, what: str, footer: int) -> int:
        """Return the byte behind all that belongs to it, which must lie between the magic and the footer.

        A chunk without values may name any place.
        """
        if self.other_file:
            raise ShardFault("unsupported_layout", f"{what} lies in another file, {self.other_file!r}")
        if self.is_encrypted:
            raise ShardFault("unsupported_layout", f"{what} is encrypted")
        if {5, 7, 9} - self.numbers.keys() or self.numbers[5] < 0:
            raise Malformed(f"{what} lacks its place, its size or its number of values")
        places = [(self.start, self.numbers[7])] if self.numbers[5] else []
        places += [
            (self.indexes[at], self.indexes.get(length, 0)) for at, length in ((4, 5), (6, 7)) if at in self.indexes
        ]
        places += [(self.numbers[14], self.numbers.get(15, 0))] if 14 in self.numbers else []
        for at, length in places:
            if at < len(MAGIC) or length < 0:
                raise ShardFault("corrupt", f"{what} is said to be {length:,} bytes at byte {at:,}")
            if at + length > footer:
                detail = (
                    f"{what} ends at byte {at + length:,}, but the footer begins at byte {footer:,}: bytes are missing"
                )
                raise ShardFault("truncated", detail)
        return max((at + length for at, length in places), default=len(MAGIC))


@dataclass
class RowGroup:
    """One row group.

    Args:
        rows: How many rows it has.
        size: Its bytes in the file.
        decoded: Its bytes in memory, about.
        end: The byte behind all that belongs to it, indexes and Bloom filters included.
        tops: The top-level column that each column chunk belongs to. Shape (C,).
        chunks: First byte, bytes and number of values of each column chunk, one after the other. Shape (3 * C,), int64.
    """

    rows: int = 0
    size: int = 0
    decoded: int = 0
    end: int = len(MAGIC)
    tops: list[str] = field(default_factory=list)
    chunks: array[int] = field(default_factory=lambda: array("q"))

    def add(self, column: _Column, end: int) -> None:
        """Take in the next column chunk."""
        self.size += column.numbers[7]
        self.decoded += column.decoded
        self.end = max(self.end, end)
        self.tops.append(column.path[0] if column.path else "")
        self.chunks.extend((column.start, column.numbers[7], column.numbers[5]))


@dataclass(frozen=True)
class Footer:
    """The footer of a Parquet file: its own bytes, and its row groups in file order."""

    size: int
    groups: tuple[RowGroup, ...]


def read_footer(file: ShardFile, allow: frozenset[str]) -> Footer:
    """Return a Parquet file's footer, which fits the file.

    Raises:
        ShardFault: `truncated`, `corrupt`, `unsupported_layout` or `trailing_data`.
    """
    size = _footer_size(file)
    start = file.size - _TAIL - size
    try:
        rows, groups = _parsed(Reader(file.read(start, size)), start)
    except Malformed as error:
        raise ShardFault("corrupt", f"the footer is broken: {error}") from error
    if sum(group.rows for group in groups) != rows:
        held = sum(group.rows for group in groups)
        raise ShardFault("corrupt", f"the row groups hold {held:,} rows; the footer says {rows:,}")
    if "trailing_data" not in allow:
        _refuse_file_before(file, max((group.end for group in groups), default=len(MAGIC)), start)
    return Footer(size, tuple(groups))


def _footer_size(file: ShardFile) -> int:
    if file.size < len(MAGIC) + _TAIL:
        raise ShardFault("truncated", f"the file ends after {file.size} bytes, before its footer")
    tail = file.read(file.size - _TAIL, _TAIL)
    if tail[4:] == b"PARE":
        raise ShardFault("unsupported_layout", "its footer is encrypted")
    if tail[4:] != MAGIC:
        raise ShardFault(
            "truncated", f"the file ends at byte {file.size:,} without a footer: it was cut, or never finished"
        )
    size = int.from_bytes(tail[:4], "little")
    if not 0 < size <= file.size - len(MAGIC) - _TAIL:
        raise ShardFault("corrupt", f"the footer claims {size:,} bytes of a file of {file.size:,}")
    if size > _MOST_FOOTER:
        raise ShardFault("unsupported_layout", f"its footer has {size:,} bytes; at most {_MOST_FOOTER:,} are read")
    return size


def _parsed(reader: Reader, footer: int) -> tuple[int, list[RowGroup]]:
    """Return the number of rows, and the row groups."""
    rows = 0
    groups: list[RowGroup] = []
    for number, kind in reader.fields():
        if number == 3:
            rows = reader.integer(kind)
        elif number == 4:
            for element in reader.elements(kind):
                group = _row_group(reader, element, len(groups), footer)
                if groups and group.tops == groups[-1].tops:
                    group.tops = groups[-1].tops  # one list for all: there may be thousands of row groups
                groups.append(group)
        elif number == 8:
            raise ShardFault("unsupported_layout", "its columns are encrypted")
        else:
            reader.skip(kind)
    return rows, groups


def _row_group(reader: Reader, kind: Wire, place: int, footer: int) -> RowGroup:
    group = RowGroup()
    for number, inner in reader.struct(kind):
        if number == 1:
            for element in reader.elements(inner):
                column = _column(reader, element)
                what = f"column {'.'.join(column.path)!r} of row group {place}"
                group.add(column, column.end(what, footer))
        elif number == 3:
            group.rows = reader.integer(inner)
        else:
            reader.skip(inner)
    if group.rows < 0:
        raise Malformed(f"row group {place} has {group.rows} rows")
    return group


def _column(reader: Reader, kind: Wire) -> _Column:
    column = _Column()
    for number, inner in reader.struct(kind):
        if number == 1:
            column.other_file = reader.text(inner)
        elif number == 3:
            _column_metadata(reader, inner, column)
        elif number in {4, 5, 6, 7}:
            column.indexes[number] = reader.integer(inner)
        else:
            column.is_encrypted |= number in {8, 9}
            reader.skip(inner)
    return column


def _column_metadata(reader: Reader, kind: Wire, column: _Column) -> None:
    for number, inner in reader.struct(kind):
        if number == 3:
            column.path = [reader.text(element) for element in reader.elements(inner)]
        elif number in {1, 5, 6, 7, 9, 11, 14, 15}:
            column.numbers[number] = reader.integer(inner)
        else:
            reader.skip(inner)


def _refuse_file_before(file: ShardFile, end: int, footer: int) -> None:
    """Refuse two files run together: the last footer's places then lead into the first file."""
    seam = MAGIC + MAGIC
    if footer - end <= _SLACK:
        return
    for at in range(end, footer, _CHUNK):
        found = file.read(at, min(_CHUNK + len(seam), footer - at)).find(seam)
        if found >= 0:
            detail = f"two Parquet files were run together at byte {at + found + len(MAGIC):,}: readers see one of them"
            raise ShardFault("trailing_data", detail)
