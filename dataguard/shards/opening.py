"""Open a shard, whatever it is: its content decides."""

from __future__ import annotations

from pathlib import PurePath

from dataguard.errors import ShardFault
from dataguard.shards.files import ShardFile
from dataguard.shards.ipc_file import open_file
from dataguard.shards.ipc_stream import open_stream
from dataguard.shards.memory import open_table
from dataguard.shards.model import OpenShard, Shard
from dataguard.shards.names import SHARD_SUFFIXES, SIDECAR_SUFFIXES, suffix_of
from dataguard.shards.parquet import open_parquet
from dataguard.shards.sniffing import HEAD, Kind, recognise

_ARROW = frozenset({Kind.ARROW_STREAM.value, Kind.ARROW_FILE.value})
_SUFFIX_MEANS = {
    ".arrow": _ARROW,
    ".arrows": _ARROW,
    ".ipc": _ARROW,
    ".feather": frozenset({Kind.ARROW_FILE.value}),
    ".parquet": frozenset({Kind.PARQUET.value}),
    ".pq": frozenset({Kind.PARQUET.value}),
    ".parq": frozenset({Kind.PARQUET.value}),
}


def open_shard(shard: Shard, allow: frozenset[str] = frozenset()) -> OpenShard:
    """Return a shard whose outer structure has been proven; its batches are proven as they are read.

    Args:
        shard: From `discover` or `shards_of`.
        allow: Reasons to tolerate where the shard can be read in full all the same: `no_end_marker`, `trailing_data`.

    Raises:
        ShardFault: The shard cannot be trusted; its reason is one of `expect_shards_to_be_intact`.
    """
    if shard.table is not None:
        return open_table(shard.table)
    if shard.path is None:
        msg = f"shard {shard.name} has neither a path nor a table"
        raise ValueError(msg)
    with ShardFile(shard.path) as file:
        if file.size == 0:
            raise ShardFault("empty_file", "the file has no bytes")
        head = file.read(0, min(HEAD, file.size))
    kind = recognise(head)
    if kind is Kind.ARROW_STREAM:
        return open_stream(shard.path, allow)
    if kind is Kind.ARROW_FILE:
        return open_file(shard.path, allow)
    if kind is Kind.PARQUET:
        return open_parquet(shard.path, allow)
    if kind is Kind.LFS_POINTER:
        raise ShardFault("lfs_pointer", "it only points to the data, which git-lfs has not fetched; run `git lfs pull`")
    if kind is None:
        raise ShardFault("not_recognised", f"it begins with {head[:16].hex(' ')}, like no layout that is known")
    raise ShardFault("unsupported_layout", f"it is {kind.value}, which cannot be read; convert it to Arrow or Parquet")


def misnamed(shard: Shard, layout: str) -> bool:
    """Whether a shard's name says another layout than the one that its content has.

    `.arrow`, `.arrows` and `.ipc` are used for streams and files alike; `.feather` is a file. A suffix that says nothing
    misleads nobody.
    """
    if shard.path is None:
        return False
    suffix = suffix_of(PurePath(shard.path).name)
    if suffix in _SUFFIX_MEANS:
        return layout not in _SUFFIX_MEANS[suffix]
    return suffix in SHARD_SUFFIXES | SIDECAR_SUFFIXES
