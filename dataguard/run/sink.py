"""A file that counts and digests what is written to it."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from typing import Any

import xxhash


class Sink(io.RawIOBase):
    """A file to write to, from its start to its end.

    Args:
        path: The file to make.
        digest: Takes in what is written: the digest of a data set's files becomes its fingerprint, which `datasets` takes
            for the key of what it caches of a `map`.

    Attributes:
        size: Bytes written so far.
    """

    def __init__(self, path: Path, digest: xxhash.xxh3_64) -> None:
        super().__init__()
        self.size = 0
        self._digest = digest
        self._bytes = path.open("wb")

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._digest.update(data)
        self.size += len(data)
        return self._bytes.write(data)

    def flush(self) -> None:
        if not self._bytes.closed:
            self._bytes.flush()

    def close(self) -> None:
        try:
            self._bytes.close()
        finally:
            super().close()

    def abandon(self) -> None:
        """Close the file as it is; what could not be written has been told already, or is not wanted any more."""
        with suppress(OSError):
            self.close()
