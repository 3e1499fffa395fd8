"""What a file's name says: whether it may be a shard at all, before anybody looks into it."""

from __future__ import annotations

from pathlib import PurePath

SHARD_SUFFIXES = frozenset(
    {
        *(".arrow", ".arrows", ".ipc", ".feather", ".ftr", ".parquet", ".pq", ".parq"),
        *(".mds", ".bin", ".idx", ".npy", ".npz", ".ds", ".tar", ".tgz", ".h5", ".hdf5", ".tfrecord"),
    }
)
"""A file called so is a shard, even one that nothing recognises: then it is a finding."""
SIDECAR_SUFFIXES = frozenset(
    {".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".md", ".rst", ".txt", ".yaml", ".yml", ".toml", ".metadata"}
)
"""A file called so describes shards, or is their raw text."""
_COMPRESSIONS = frozenset({".gz", ".zst", ".zstd", ".bz2", ".xz", ".lz4"})
STAGING = ".staging-"
"""How the name begins of a folder in OUT that a run of ours writes into; a process's number and hexadecimal digits follow."""
CLEAN_MARK = ".dataguard.json"
"""A file in a clean copy that tells it from a folder of somebody else's; nobody takes it for data."""
_LEFT_BY_DATASETS = ("cache-", "tmp", "indices-")


def suffix_of(name: str) -> str:
    """Return a name's suffix in lower case, that of a compression left out: `.csv` for a.csv.gz."""
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    while len(suffixes) > 1 and suffixes[-1] in _COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_sidecar(name: str) -> bool:
    """Whether a name says that the file is no shard but describes some."""
    return suffix_of(name) in SIDECAR_SUFFIXES


def is_shard(name: str) -> bool:
    """Whether a name says that the file is a shard."""
    return suffix_of(name) in SHARD_SUFFIXES


def is_hidden(name: str) -> bool:
    """Whether a file or folder in a folder of DATA is passed over: nothing in it is judged."""
    return name.startswith((".", "_"))


def is_left_by_datasets(name: str) -> bool:
    """Whether `datasets` calls its caches and temporary files so."""
    return name.startswith(_LEFT_BY_DATASETS)


def printable(path: str) -> str:
    """Return a path as text that can be written anywhere, even where its bytes are no UTF-8, or JSON made half a character."""
    try:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return path.encode("utf-8", "backslashreplace").decode("utf-8")
