"""Walk the headers of a column chunk's pages, before Arrow reads it.

Arrow believes a page's header: one wrong byte in a file of 15 KB made it fill more than a gigabyte. A header takes
microseconds to read, and a page is a megabyte or so.
"""

from __future__ import annotations

from dataguard.errors import ShardFault
from dataguard.shards.files import ShardFile
from dataguard.shards.thrift import EndsEarly, Malformed, Reader

_HEADER = 1 << 10
_MOST_HEADER = 16 << 20
_ALWAYS_FINE = 64 << 20
_MOST_EXPANSION = 1 << 16
_DATA_HEADERS = frozenset({5, 8})


def check_pages(file: ShardFile, start: int, size: int, values: int, what: str) -> None:
    """Refuse a column chunk whose pages are not what the footer says.

    Args:
        file: The Parquet file.
        start: The byte where the first page begins.
        size: Bytes of all pages, inside the file.
        values: Values in all pages, by the footer.
        what: The column chunk, for people.

    Raises:
        ShardFault: `corrupt`: a page reaches beyond the chunk or claims to expand beyond belief, or the values are not
            as many as the footer says.
    """
    at, end, held = start, start + size, 0
    while held < values:
        if at >= end:
            raise ShardFault("corrupt", f"the pages of {what} hold {held:,} values; the footer says {values:,}")
        header, packed, unpacked, more = _page(file, at, end, what)
        if min(packed, unpacked, more) < 0 or packed > end - at - header:
            raise ShardFault(
                "corrupt", f"the page of {what} at byte {at:,} claims {packed:,} bytes, {end - at - header:,} are left"
            )
        if unpacked > max(_ALWAYS_FINE, packed * _MOST_EXPANSION):
            raise ShardFault(
                "corrupt", f"the page of {what} at byte {at:,} claims that {packed:,} bytes become {unpacked:,}"
            )
        at, held = at + header + packed, held + more
    if held != values:
        raise ShardFault("corrupt", f"the pages of {what} hold {held:,} values or more; the footer says {values:,}")


def _page(file: ShardFile, at: int, end: int, what: str) -> tuple[int, int, int, int]:
    """Return a page header's own length, the page's bytes in the file and in memory, and its values."""
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


def _parsed(reader: Reader) -> tuple[int, int, int, int]:
    sizes, values = {}, 0
    for number, kind in reader.fields():
        if number in {2, 3}:
            sizes[number] = reader.integer(kind)
        elif number in _DATA_HEADERS:
            for inner, inner_kind in reader.struct(kind):
                if inner == 1:
                    values = reader.integer(inner_kind)
                else:
                    reader.skip(inner_kind)
        else:
            reader.skip(kind)
    if len(sizes) < 2:
        raise Malformed("its sizes are missing")
    return reader.at, sizes[3], sizes[2], values
