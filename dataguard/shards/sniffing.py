"""What a file is, by its first bytes. The content decides, never the name."""

from __future__ import annotations

import struct
from enum import Enum

from dataguard.shards.flatbuffer import Malformed, Table

HEAD = 4096
"""Bytes of a file that are looked at."""
CONTINUATION = b"\xff\xff\xff\xff"
_SCHEMA = 1
_METADATA_VERSIONS = range(5)


class Kind(Enum):
    """What the first bytes say; the value is what people call it."""

    ARROW_STREAM = "Arrow IPC stream"
    ARROW_FILE = "Arrow IPC file"
    PARQUET = "Parquet"
    LFS_POINTER = "a git-lfs pointer"
    PARQUET_ENCRYPTED = "encrypted Parquet"
    FEATHER_1 = "Feather version 1"
    MEGATRON_INDEX = "a Megatron index"
    MDS = "a MosaicML streaming shard"
    NUMPY = "a NumPy array"
    TAR = "a tar archive"
    GZIP = "a gzip-compressed file"
    ZSTD = "a zstd-compressed file"
    ZIP = "a zip archive"
    BZIP2 = "a bzip2-compressed file"
    XZ = "an xz-compressed file"
    LZ4 = "an lz4-compressed file"
    SQLITE = "an SQLite data base"
    HDF5 = "an HDF5 file"
    ORC = "an ORC file"
    AVRO = "an Avro file"


TABLES = frozenset({Kind.ARROW_STREAM, Kind.ARROW_FILE, Kind.PARQUET})
"""What can be read here."""
SHARDS = TABLES | {Kind.PARQUET_ENCRYPTED, Kind.FEATHER_1, Kind.MEGATRON_INDEX, Kind.MDS}
"""What holds tokens whatever its name is; anything else is a shard only under a shard's suffix."""

_MAGICS = (
    (b"ARROW1", Kind.ARROW_FILE),
    (b"PAR1", Kind.PARQUET),
    (b"PARE", Kind.PARQUET_ENCRYPTED),
    (b"FEA1", Kind.FEATHER_1),
    (b"MMIDIDX\0\0", Kind.MEGATRON_INDEX),
    (b"TNTIDX\0\0", Kind.MEGATRON_INDEX),
    (b"version https://git-lfs.github.com/spec/", Kind.LFS_POINTER),
    (b"\x93NUMPY", Kind.NUMPY),
    (b"\x1f\x8b", Kind.GZIP),
    (b"\x28\xb5\x2f\xfd", Kind.ZSTD),
    (b"PK\x03\x04", Kind.ZIP),
    (b"BZh", Kind.BZIP2),
    (b"\xfd7zXZ\0", Kind.XZ),
    (b"\x04\x22\x4d\x18", Kind.LZ4),
    (b"SQLite format 3\0", Kind.SQLITE),
    (b"\x89HDF\r\n\x1a\n", Kind.HDF5),
    (b"ORC", Kind.ORC),
    (b"Obj\x01", Kind.AVRO),
)


def recognise(head: bytes) -> Kind | None:
    """Return what a file is whose first bytes (HEAD of them, or all that it has) are these; None where nothing fits.

    A file cut short inside its magic is still taken for what it began as, so that the finding can say so.
    """
    for magic, kind in _MAGICS:
        if head.startswith(magic):
            return kind
    if head and CONTINUATION.startswith(head[:4]):
        return Kind.ARROW_STREAM
    if _is_legacy_stream(head):
        return Kind.ARROW_STREAM
    if head[257:262] == b"ustar":
        return Kind.TAR
    if _is_mds(head):
        return Kind.MDS
    begun = [kind for magic, kind in _MAGICS if len(head) > 1 and magic.startswith(head) and kind in TABLES]
    return begun[0] if begun else None


def _is_legacy_stream(head: bytes) -> bool:
    """Whether a schema message stands there as Arrow wrote it before 0.15: its length, without a marker before it."""
    if len(head) < 8 or not 0 < struct.unpack_from("<i", head)[0] < 1 << 28:
        return False
    try:
        message = Table.root(head[4:])
        return message.int8(1) == _SCHEMA and message.int16(0) in _METADATA_VERSIONS and message.table(2) is not None
    except Malformed:
        return False


def _is_mds(head: bytes) -> bool:
    """Whether a number of samples stands there, then that many offsets and one, then a JSON object."""
    if len(head) < 16:
        return False
    samples, first = struct.unpack_from("<II", head)
    header = 4 + 4 * (samples + 1)
    return first > header + 1 and head[header : header + 2] in (b'{"', b"{\n")
