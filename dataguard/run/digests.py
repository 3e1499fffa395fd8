"""Digests by which numbers are found again: of a shard's content, and of the code that computes them."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import xxhash

from dataguard.shards.files import FileState, ShardFile
from dataguard.shards.pieces import Pieces, Stretch
from dataguard.version import __version__

_MASK = (1 << 128) - 1

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
    for file in [*sorted(package.glob("metrics/*.py")), *(package / name for name in FEEDING)]:
        digest.update(file.read_bytes())
    return digest.hexdigest()


class Content:
    """The digest of a stretch of a file, taken piece by piece, in any order, while something else reads it.

    Digests of pieces, each keyed by the number of the piece, are added up: what the sum is does not depend on the order, nor
    on how a file is divided into stretches. It is no defence against somebody who looks for two files with one digest.

    Attributes:
        total: The sum so far, below 2^128.
        seconds: What taking it took.
    """

    def __init__(self) -> None:
        self.total, self.seconds = 0, 0.0

    def take(self, number: int, piece: memoryview) -> None:
        """Add a piece of the file."""
        begun = time.perf_counter()
        self.total = (self.total + xxhash.xxh3_128_intdigest(piece, seed=number)) & _MASK
        self.seconds += time.perf_counter() - begun


def content_of_stretch(path: Path, state: FileState, stretch: Stretch) -> int:
    """Return the sum (`Content.total`) of a stretch of a file.

    Raises:
        ShardFault: The file is not what it was.
    """
    content = Content()
    with ShardFile(path, state) as file:
        Pieces(file, stretch, content.take).read_rest()
    return content.total


def digest_of(totals: Iterable[int], state: FileState) -> str:
    """Return the digest of a whole file, of the sums of stretches that together are all of it."""
    return xxhash.xxh3_128_hexdigest(f"{state.size} {sum(totals) & _MASK}".encode())
