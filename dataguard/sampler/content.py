"""The rows behind the numbers of samples: their tokens, read from the shards."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dataguard.errors import DataError, ShardFault
from dataguard.expectations.observation import Places, Samples
from dataguard.shards.batch import list_column
from dataguard.shards.model import OpenShard


@dataclass(frozen=True)
class Content:
    """The rows of a data set as samples.

    Args:
        places: Where each sample stands.
        shards: The shards of `places`, opened; None where one has no rows.
        columns: The token column of each.
    """

    places: Places
    shards: Sequence[OpenShard | None]
    columns: Sequence[str]

    def __len__(self) -> int:
        return int(self.places.starts[-1])

    def rows(self, samples: Samples) -> Iterator[tuple[int, npt.NDArray[np.integer]]]:
        """Yield samples with their tokens, each once, in the order of the data set.

        Raises:
            DataError: A shard cannot be read any more.
        """
        wanted = np.unique(samples)
        shards = np.searchsorted(self.places.starts, wanted, side="right") - 1
        for place in np.unique(shards).tolist():
            start = int(self.places.starts[place])
            yield from ((start + row, tokens) for row, tokens in self._rows(place, wanted[shards == place] - start))

    def _rows(self, place: int, rows: npt.NDArray[np.integer]) -> Iterator[tuple[int, npt.NDArray[np.integer]]]:
        opened = self.shards[place]
        try:
            for unit in () if opened is None else opened.units:
                inside = rows[(rows >= unit.first_row) & (rows < unit.first_row + unit.rows)]
                if not len(inside) or opened is None:
                    continue
                for first, batch in opened.read(unit, [self.columns[place]]):
                    here = inside[(inside >= first) & (inside < first + batch.num_rows)]
                    if len(here):
                        column = list_column(batch.column(self.columns[place]))
                        for row in here.tolist():
                            yield row, column.values[column.offsets[row - first] : column.offsets[row - first + 1]]
                    if first + batch.num_rows > inside[-1]:
                        break
        except ShardFault as fault:
            why = f"{fault.reason}: {fault.detail}"
            raise DataError("a shard cannot be read again", where=self.places.shards[place], why=why) from fault

    def first_batches(self, batches: Sequence[Samples]) -> tuple[str, ...]:
        """Return a digest of the tokens in each batch, whatever type they are stored with.

        Raises:
            DataError: A shard cannot be read any more.
        """
        everything = np.concatenate([np.empty(0, np.int64), *batches])
        digests = {sample: row_digest(tokens) for sample, tokens in self.rows(everything)}
        return tuple(batch_digest([digests[sample] for sample in batch.tolist()]) for batch in batches)


def row_digest(tokens: npt.NDArray[np.integer]) -> bytes:
    """Return a digest of a row's tokens."""
    return hashlib.blake2b(tokens.astype("<i8").tobytes(), digest_size=16).digest()


def batch_digest(rows: Sequence[bytes]) -> str:
    """Return a digest of a batch from those of its rows, in their order."""
    return hashlib.blake2b(b"".join(rows), digest_size=16).hexdigest()
