"""Walk the headers of a column chunk's pages, before Arrow reads it, and where Arrow never will.

Arrow believes a page's header: one wrong byte in a file of 15 KB made it fill more than a gigabyte. A header takes
microseconds to read, and a page is a megabyte or so. Columns that nobody asks for are walked too, and their checksums
verified where there are any: a shard is intact as a whole.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

from dataguard.errors import ShardFault
from dataguard.shards.files import ShardFile
from dataguard.shards.thrift import EndsEarly, Malformed, Reader

_HEADER = 1 << 10
_MOST_HEADER = 16 << 20
_ALWAYS_FINE = 64 << 20
_MOST_EXPANSION = 1 << 16
_DATA_HEADERS = frozenset({5, 8})
_AT_ONCE = 1 << 20


class _Page(NamedTuple):
    """What a page's header says: its own bytes, the page's in the file and in memory, its values, its checksum."""

    header: int
    packed: int
    unpacked: int
    values: int
    checksum: int | None


def check_pages(file: ShardFile, start: int, size: int, values: int, what: str, *, verify: bool) -> None:
    """Refuse a column chunk whose pages are not what the footer says.

    Args:
        file: The Parquet file.
        start: The byte where the first page begins.
        size: Bytes of all pages, inside the file.
        values: Values in all pages, by the footer.
        what: The column chunk, for people.
        verify: Verify the checksums of the pages that have one; Arrow does so where it decodes them.

    Raises:
        ShardFault: `corrupt`: a page reaches beyond the chunk or claims to expand beyond belief, its bytes are not those
            that were written, or the values are not as many as the footer says.
    """
    at, end, held = start, start + size, 0
    while held < values:
        if at >= end:
            raise ShardFault("corrupt", f"the pages of {what} hold {held:,} values; the footer says {values:,}")
        page = _page(file, at, end, what)
        header, packed, unpacked, more, _ = page
        if min(packed, unpacked, more) < 0 or packed > end - at - header:
            raise ShardFault(
                "corrupt", f"the page of {what} at byte {at:,} claims {packed:,} bytes, {end - at - header:,} are left"
            )
        if unpacked > max(_ALWAYS_FINE, packed * _MOST_EXPANSION):
            raise ShardFault(
                "corrupt", f"the page of {what} at byte {at:,} claims that {packed:,} bytes become {unpacked:,}"
            )
        if verify and page.checksum is not None and _checksum(file, at + header, packed) != page.checksum:
            raise ShardFault(
                "corrupt", f"the page of {what} at byte {at:,} has another checksum than it was written with"
            )
        at, held = at + header + packed, held + more
    if held != values:
        raise ShardFault("corrupt", f"the pages of {what} hold {held:,} values or more; the footer says {values:,}")


def _checksum(file: ShardFile, start: int, size: int) -> int:
    checksum = 0
    for at in range(start, start + size, _AT_ONCE):
        checksum = zlib.crc32(file.read(at, min(_AT_ONCE, start + size - at)), checksum)
    return checksum


def _page(file: ShardFile, at: int, end: int, what: str) -> _Page:
    """Return what the header of the page that begins at a byte says."""
    length = _HEADER
    while True:
        reader = Reader(file.read(at, min(length, end - at)))
        try:
            return _parsed(reader)
        except EndsEarly as error:
            if length >= min(_MOST_HEADER, end - at):
                raise _no_page(at, what, error) from error
        except Malformed as error:
            raise _no_page(at, what, error) from error
        length *= 16


def _no_page(at: int, what: str, error: Malformed) -> ShardFault:
    return ShardFault("corrupt", f"no page of {what} begins at byte {at:,}, where one should: {error}")


def _parsed(reader: Reader) -> _Page:
    sizes, values = {}, 0
    for number, kind in reader.fields():
        if number in {2, 3, 4}:
            sizes[number] = reader.integer(kind)
        elif number in _DATA_HEADERS:
            for inner, inner_kind in reader.struct(kind):
                if inner == 1:
                    values = reader.integer(inner_kind)
                else:
                    reader.skip(inner_kind)
        else:
            reader.skip(kind)
    if not sizes.keys() >= {2, 3}:
        raise Malformed("its sizes are missing")
    return _Page(reader.at, sizes[3], sizes[2], values, sizes[4] % (1 << 32) if 4 in sizes else None)
