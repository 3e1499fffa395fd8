"""The rows behind the numbers of samples: their tokens, read from the shards.

A value that can be sent to another process: shards are opened where and when a row of them is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dataguard.errors import DataError, ShardFault
from dataguard.expectations.observation import Places, Samples, joined
from dataguard.shards.batch import list_column
from dataguard.shards.model import OpenShard, Shard
from dataguard.shards.opening import open_shard

Tokens = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class Content:
    """The rows of a data set as samples.

    Args:
        places: Where each sample stands.
        shards: The shards of `places`.
        columns: The token column of each.
        tolerated: Faults of shards that are let pass.
    """

    places: Places
    shards: Sequence[Shard]
    columns: Sequence[str]
    tolerated: frozenset[str] = frozenset()
    _opened: dict[int, OpenShard] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return int(self.places.starts[-1])

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is open: it is opened anew elsewhere."""
        return {**self.__dict__, "_opened": {}}

    def rows(self, samples: Samples) -> Iterator[tuple[int, Tokens]]:
        """Yield samples with their tokens, each once, in the order of the data set.

        Raises:
            DataError: A shard cannot be read any more.
        """
        wanted = np.unique(samples)
        shards = np.searchsorted(self.places.starts, wanted, side="right") - 1
        for place in np.unique(shards).tolist():
            start = int(self.places.starts[place])
            try:
                for row, tokens in self._rows(place, wanted[shards == place] - start):
                    yield start + row, tokens
            except ShardFault as fault:
                why = f"{fault.reason}: {fault.detail}"
                raise DataError("a shard cannot be read again", where=self.places.shards[place], why=why) from fault

    def _rows(self, place: int, rows: npt.NDArray[np.integer[Any]]) -> Iterator[tuple[int, Tokens]]:
        opened, column = self._open(place), self.columns[place]
        for unit in opened.units:
            inside = rows[(rows >= unit.first_row) & (rows < unit.first_row + unit.rows)]
            if not len(inside):
                continue
            for first, batch in opened.read(unit, [column]):
                here = inside[(inside >= first) & (inside < first + batch.num_rows)]
                if len(here):
                    found = list_column(batch.column(column))
                    for row in here.tolist():
                        yield row, found.values[found.offsets[row - first] : found.offsets[row - first + 1]]
                if first + batch.num_rows > inside[-1]:
                    break

    def _open(self, place: int) -> OpenShard:
        if place not in self._opened:
            opened = open_shard(self.shards[place], self.tolerated)
            rows = int(self.places.starts[place + 1] - self.places.starts[place])
            if opened.rows != rows:
                raise ShardFault("unreadable", f"it has {opened.rows:,} rows, and had {rows:,}")
            self._opened[place] = opened
        return self._opened[place]

    def first_batches(self, batches: Sequence[Samples]) -> tuple[str, ...]:
        """Return a digest of the tokens in each batch, whatever type they are stored with.

        Raises:
            DataError: A shard cannot be read any more.
        """
        everything = joined(batches)
        digests = {sample: row_digest(tokens) for sample, tokens in self.rows(everything)}
        return tuple(batch_digest([digests[sample] for sample in batch.tolist()]) for batch in batches)


def row_digest(tokens: Tokens) -> bytes:
    """Return a digest of a row's tokens."""
    return hashlib.blake2b(tokens.astype("<i8").tobytes(), digest_size=16).digest()


def batch_digest(rows: Sequence[bytes]) -> str:
    """Return a digest of a batch from those of its rows, in their order."""
    return hashlib.blake2b(b"".join(rows), digest_size=16).hexdigest()
