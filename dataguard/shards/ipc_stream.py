"""Arrow IPC streams: what `datasets` saves. Nothing in them says how many messages there should be but the end marker."""

from __future__ import annotations

from pathlib import Path

from dataguard.errors import ShardFault
from dataguard.shards.files import ShardFile
from dataguard.shards.ipc import IpcShard, Places, opened
from dataguard.shards.messages import MessageKind, message_at
from dataguard.shards.sniffing import CONTINUATION, HEAD, Kind, recognise


def open_stream(path: Path, allow: frozenset[str] = frozenset()) -> IpcShard:
    """Return an Arrow IPC stream, all of whose messages have been found.

    Raises:
        ShardFault: See `expect_shards_to_be_intact`.
    """
    with ShardFile(path) as file:
        legacy = file.size >= 4 and file.read(0, 4) != CONTINUATION
        first = message_at(file, 0, limit=file.size, legacy=legacy)
        if first.kind is not MessageKind.SCHEMA:
            raise ShardFault("corrupt", "the stream does not begin with a schema")
        places = Places()
        end = _walk(file, places, first.end, legacy=legacy)
        if end is None and "no_end_marker" not in allow:
            rows = f"{sum(places.rows):,} rows in {len(places.rows):,} batches"
            detail = (
                f"the stream stops after {rows} without an end marker: it may have been cut there, and rows be missing"
            )
            raise ShardFault("no_end_marker", detail)
        if end is not None and end < file.size and "trailing_data" not in allow:
            raise ShardFault("trailing_data", _what_follows(file, end))
        return opened(path, file.state, Kind.ARROW_STREAM, places, file.read(0, first.size))


def _walk(file: ShardFile, places: Places, offset: int, *, legacy: bool) -> int | None:
    """Find all messages; return the byte behind the end marker, or None where the stream stops without one."""
    while offset < file.size:
        message = message_at(file, offset, limit=file.size, legacy=legacy)
        offset = message.end
        if message.kind is MessageKind.END:
            return offset
        if message.kind is MessageKind.SCHEMA:
            raise ShardFault(
                "corrupt", f"a second schema stands at byte {message.offset:,}: two streams were run together"
            )
        places.add(message)
    return None


def _what_follows(file: ShardFile, end: int) -> str:
    left = file.size - end
    kind = recognise(file.read(end, min(HEAD, left)))
    follows = f"{left:,} bytes follow the end marker at byte {end:,}, which readers leave out without a word"
    return (
        f"{follows}; they look like another {kind.value}" if kind in {Kind.ARROW_STREAM, Kind.ARROW_FILE} else follows
    )
