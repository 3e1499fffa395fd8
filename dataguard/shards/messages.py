"""The messages of Arrow's IPC format: where each one stands in a file, and the few numbers that we need of it.

A stream is a run of messages (schema, then dictionaries and record batches) and an end marker; a file is the same between
two magics, with a footer that names the places. Each message is a prefix (marker and length; the length alone before
Arrow 0.15), its metadata (a flatbuffer) and its body. Every length is checked against the file before it is believed.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

from dataguard.errors import ShardFault
from dataguard.shards.files import ShardFile
from dataguard.shards.flatbuffer import Malformed, Table
from dataguard.shards.sniffing import CONTINUATION

END_MARKER = CONTINUATION + bytes(4)
_INT32 = struct.Struct("<i")
_BUFFER = struct.Struct("<qq")
_UNCOMPRESSED_SIZE = struct.Struct("<q")
_VERSION_4 = 3
_MOST_EXPANSION = {0: 256, 1: 1 << 16}
"""Bytes that a compressed byte can become, at most: LZ4 by its format; zstd's blocks of 128 KiB take 4 bytes each."""


class MessageKind(IntEnum):
    """What a message holds; END is the marker behind the last one."""

    END = 0
    SCHEMA = 1
    DICTIONARY = 2
    BATCH = 3


class Message(NamedTuple):
    """One message and its place.

    Args:
        kind: What it holds.
        offset: Byte of the file where its prefix begins.
        prefix: Bytes of the prefix, 8 or 4.
        metadata: Bytes of the flatbuffer behind it.
        body: Bytes of the body behind that.
        rows: Rows of a record batch.
        dictionary: Number of the dictionary that it defines.
        is_delta: Whether it only adds to that dictionary.
    """

    kind: MessageKind
    offset: int
    prefix: int
    metadata: int = 0
    body: int = 0
    rows: int = 0
    dictionary: int = 0
    is_delta: bool = False

    @property
    def size(self) -> int:
        """Bytes of all of it."""
        return self.prefix + self.metadata + self.body

    @property
    def end(self) -> int:
        """Byte of the file behind it."""
        return self.offset + self.size


def message_at(file: ShardFile, offset: int, *, limit: int, legacy: bool = False) -> Message:
    """Return the message that begins at a byte of the file.

    Args:
        file: Where it stands.
        offset: Its first byte, at most `limit`.
        limit: The byte that it must not reach beyond: the file's size, or where the footer begins.
        legacy: Whether the file is known to spell prefixes as Arrow did before 0.15.

    Raises:
        ShardFault: `truncated`: the file ends inside the message; `corrupt`: there is no message;
            `unsupported_layout`: it is older than Arrow 0.8.
    """
    if limit - offset < 4:
        raise _cut(offset, limit, 4)
    word, prefix = file.read(offset, 4), 4
    if word == CONTINUATION:
        if limit - offset < 8:
            raise _cut(offset, limit, 8)
        word, prefix = file.read(offset + 4, 4), 8
    length = int(_INT32.unpack(word)[0])
    if length == 0:
        return Message(MessageKind.END, offset, prefix)
    if length < 0 or (prefix == 4 and not legacy):
        raise ShardFault("corrupt", f"no message begins at byte {offset:,}, where one should")
    if length > limit - offset - prefix:
        raise _cut(offset, limit, prefix + length)
    try:
        message = _parsed(file.read(offset + prefix, length), offset, prefix)
    except Malformed as error:
        raise ShardFault("corrupt", f"the message at byte {offset:,} has broken metadata: {error}") from error
    if message.end > limit:
        raise _cut(offset, limit, message.size)
    return message


def _cut(offset: int, limit: int, needed: int) -> ShardFault:
    there = f"the message at byte {offset:,} is {needed:,} bytes long"
    return ShardFault("truncated", f"{there}, but only {limit - offset:,} follow: the end is missing")


def _parsed(metadata: bytes, offset: int, prefix: int) -> Message:
    root = Table.root(metadata)
    header, body = root.table(2), root.int64(3)
    if header is None or root.int8(1) not in tuple(MessageKind)[1:]:
        raise Malformed("it is neither schema, dictionary nor record batch")
    if root.int16(0) < _VERSION_4:
        raise ShardFault("unsupported_layout", f"the message at byte {offset:,} is older than Arrow 0.8")
    kind, rows = MessageKind(root.int8(1)), 0
    if kind is MessageKind.SCHEMA:
        refuse_big_endian(header)
    batch = header.table(1) if kind is MessageKind.DICTIONARY else header
    if kind is MessageKind.BATCH:
        rows = header.int64(0)
    if body < 0 or rows < 0 or batch is None:
        raise Malformed("it has a negative length")
    return Message(
        kind,
        offset,
        prefix,
        len(metadata),
        body,
        rows,
        dictionary=header.int64(0) if kind is MessageKind.DICTIONARY else 0,
        is_delta=kind is MessageKind.DICTIONARY and header.int8(2) != 0,
    )


def refuse_big_endian(schema: Table) -> None:
    """Refuse a schema that says that all numbers are big-endian."""
    if schema.int16(0) != 0:
        raise ShardFault("unsupported_layout", "its numbers are big-endian")


def schema_message(footer: bytes) -> bytes:
    """Return the schema of an IPC file's footer as a message of its own.

    A message is put in front of the footer that points into it. Writing the schema anew would number its dictionaries
    anew, and the one at the file's start cannot be relied on: Polars (1.44) leaves its prefix out, and readers pass it over.

    Raises:
        ShardFault: `unsupported_layout`.
        Malformed: There is no schema in it.
    """
    root = Table.root(footer)
    schema = root.table(1)
    if schema is None:
        raise Malformed("it has no schema")
    refuse_big_endian(schema)
    if root.int16(0) < _VERSION_4:
        raise ShardFault("unsupported_layout", "it is older than Arrow 0.8")
    table, vtable, header_field, start = 16, 4, 20, 32
    head = struct.pack("<I5H2x", table, 10, 12, 8, 10, 4)  # where the table is; its vtable: version, kind, header
    head += struct.pack(
        "<iIhb5x", table - vtable, start + schema.position - header_field, root.int16(0), MessageKind.SCHEMA
    )
    metadata = head + footer + bytes(-len(footer) % 8)
    return CONTINUATION + _INT32.pack(len(metadata)) + metadata


def refuse_lying_sizes(data: memoryview, offset: int) -> None:
    """Refuse a message whose compressed buffers claim to hold more than they can: Arrow would allocate that much.

    Args:
        data: The whole message, as `message_at` accepted it.
        offset: Where it stands in its file, for the finding.

    Raises:
        ShardFault: `corrupt`.
    """
    prefix = 8 if data[:4] == CONTINUATION else 4
    metadata = bytes(data[prefix : prefix + _INT32.unpack(data[prefix - 4 : prefix])[0]])
    body = data[prefix + len(metadata) :]
    try:
        header = Table.root(metadata).table(2)
        batch = header.table(1) if header and Table.root(metadata).int8(1) == MessageKind.DICTIONARY else header
        compression = batch.table(3) if batch else None
        if batch is None or compression is None:
            return
        most = _MOST_EXPANSION.get(compression.int8(0), 1)
        for start, length in batch.structs(2, _BUFFER):
            if length < _UNCOMPRESSED_SIZE.size or not 0 <= start <= len(body) - length:
                continue  # Arrow itself refuses these
            claimed = _UNCOMPRESSED_SIZE.unpack_from(body, start)[0]
            if claimed > most * length:
                what = f"{length:,} compressed bytes claim to be {claimed:,}"
                raise ShardFault("corrupt", f"in the message at byte {offset:,}, {what}")
    except Malformed as error:
        raise ShardFault("corrupt", f"the message at byte {offset:,} has broken metadata: {error}") from error
