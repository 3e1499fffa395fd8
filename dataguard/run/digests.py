"""Digests by which numbers are found again: of a shard's content, and of the code that computes them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import xxhash

from dataguard.shards.files import FileState, ShardFile
from dataguard.version import __version__

CHUNK = 1 << 20
"""Bytes of a file that are read at once."""

FEEDING = (
    *("shards/batch.py", "shards/roles.py", "run/scan.py"),
    *("vocabulary/characters.py", "vocabulary/encoder.py", "vocabulary/model.py"),
)
"""What feeds metrics, beside their own room."""


@cache
def code_digest() -> str:
    """Return a digest of the code that computes numbers: it is part of every key, so that none outlives its meaning."""
    package = Path(__file__).parents[1]
    digest = xxhash.xxh3_64(f"{__version__} {unicodedata.unidata_version}".encode())
    feeding = (
        "shards/batch.py",
        "shards/roles.py",
        "run/scan.py",
        "vocabulary/characters.py",
        "vocabulary/encoder.py",
        "vocabulary/model.py",
    )
    for file in [*sorted(package.glob("metrics/*.py")), *(package / name for name in feeding)]:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def digest_of_stretch(path: Path, state: FileState, number: int, count: int) -> bytes:
    """Return the digest of one of `count` equal stretches of a file, which together cover all of it.

    Raises:
        ShardFault: The file is not what it was.
    """
    start, stop = state.size * number // count, state.size * (number + 1) // count
    digest = xxhash.xxh3_128()
    buffer = memoryview(bytearray(min(CHUNK, stop - start)))
    with ShardFile(path, state) as file:
        while start < stop:
            view = buffer[: min(CHUNK, stop - start)]
            file.read_into(view, start)
            digest.update(view)
            start += len(view)
    return digest.digest()


def digest_of(stretches: Iterable[bytes], state: FileState) -> str:
    """Return the digest of a whole file, of those of its stretches."""
    return xxhash.xxh3_128_hexdigest(b"".join([str(state.size).encode(), *stretches]))
