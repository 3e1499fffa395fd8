"""Arrow IPC files (and Feather version 2, which is the same): a stream between two magics, with a footer."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from dataguard.errors import ShardFault
from dataguard.shards.files import ShardFile
from dataguard.shards.flatbuffer import Malformed, Table
from dataguard.shards.ipc import IpcShard, Places, opened
from dataguard.shards.messages import Message, MessageKind, message_at, schema_message
from dataguard.shards.sniffing import Kind

_MAGIC = b"ARROW1"
_START = 8
"""Bytes of the magic at the start, with its padding."""
_TAIL = 10
"""Bytes of the footer's length and the magic at the end."""
_BLOCK = struct.Struct("<qi4xq")
_SLACK = 72
"""Bytes that may lie between messages: padding, and the end marker before the footer."""


def open_file(path: Path, allow: frozenset[str] = frozenset()) -> IpcShard:
    """Return an Arrow IPC file whose footer and messages agree.

    Raises:
        ShardFault: See `expect_shards_to_be_intact`.
    """
    with ShardFile(path) as file:
        start, footer = _footer(file)
        try:
            root = Table.root(footer)
            dictionaries, batches = root.structs(2, _BLOCK), root.structs(3, _BLOCK)
            schema = schema_message(footer)
        except Malformed as error:
            raise ShardFault("corrupt", f"the footer is broken: {error}") from error
        found = [
            _named(file, kind, number, block, start)
            for kind, blocks in ((MessageKind.DICTIONARY, dictionaries), (MessageKind.BATCH, batches))
            for number, block in enumerate(blocks)
        ]
        places = Places()
        for message in found:
            places.add(message)
        if "trailing_data" not in allow:
            _refuse_gaps(found, start, len(footer))
        return opened(path, file.state, Kind.ARROW_FILE, places, schema)


def _footer(file: ShardFile) -> tuple[int, bytes]:
    """Return where the footer begins, and the footer."""
    if file.size < _START + _TAIL:
        raise ShardFault("truncated", f"the file ends after {file.size} bytes, before its footer")
    tail = file.read(file.size - _TAIL, _TAIL)
    if tail[4:] != _MAGIC:
        raise ShardFault(
            "truncated", f"the file ends at byte {file.size:,} without a footer: it was cut, or never finished"
        )
    length = int.from_bytes(tail[:4], "little", signed=True)
    if not 0 < length <= file.size - _START - _TAIL:
        raise ShardFault("corrupt", f"the footer claims {length:,} bytes of a file of {file.size:,}")
    start = file.size - _TAIL - length
    return start, file.read(start, length)


def _named(file: ShardFile, kind: MessageKind, number: int, block: tuple[int, ...], limit: int) -> Message:
    """Return the message that a block of the footer names."""
    offset, metadata, body = block
    what = f"{kind.name.lower()} {number}"
    if not _START <= offset < limit:
        detail = f"the footer places {what} at byte {offset:,}, but messages stand from byte {_START} to {limit:,}"
        raise ShardFault("corrupt", detail)
    message = message_at(file, offset, limit=limit, legacy=True)
    if (message.kind, message.prefix + message.metadata, message.body) != (kind, metadata, body):
        raise ShardFault(
            "corrupt", f"at byte {offset:,} stands another message than {what}, which the footer places there"
        )
    return message


def _refuse_gaps(found: Sequence[Message], footer: int, footer_size: int) -> None:
    """Refuse bytes that no entry of the footer names, such as those of a file before this one, and those that two do.

    The schema stands first. It is in the footer, too, so that it cannot be longer than that.
    """
    end, slack = _START, footer_size + _SLACK
    for message in sorted(found, key=lambda each: each.offset):
        _refuse_gap(end, message.offset, slack)
        end, slack = message.end, _SLACK
    _refuse_gap(end, footer, slack)


def _refuse_gap(start: int, stop: int, slack: int) -> None:
    if stop < start:
        raise ShardFault("corrupt", f"two entries of the footer claim byte {stop:,}")
    if stop - start > slack:
        detail = (
            f"{stop - start:,} bytes from byte {start:,} on are named by no entry of the footer: readers leave them out"
        )
        raise ShardFault("trailing_data", detail)
