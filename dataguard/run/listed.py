"""rejected.parquet, read from its start to its end beside the shards that it names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

BATCH_ROWS = 1 << 16
TEXTS = pa.list_(pa.string())


@dataclass(frozen=True)
class Stretch:
    """Some rejected rows of one shard.

    Args:
        rows: Their numbers, rising. Shape (n,), int64.
        texts: What was asked for beside them: lists of strings, each of length n.
    """

    shard: str
    rows: npt.NDArray[np.int64]
    texts: tuple[pa.Array, ...]

    def slice(self, start: int, stop: int) -> Stretch:
        """Return some of the rows."""
        return Stretch(self.shard, self.rows[start:stop], tuple(each.slice(start, stop - start) for each in self.texts))


class Listed:
    """What is still to be read of a rejected.parquet, some rows of it in memory. A context manager: leaving it closes the file.

    Args:
        path: shard, row, types, reasons; sorted as DATA is.
        texts: Which of the last two are wanted.
    """

    def __init__(self, path: Path, texts: Sequence[str] = ()) -> None:
        self._texts = texts
        self._file = pq.ParquetFile(path)
        self._stretches = self._read()
        self._head = next(self._stretches, None)

    @property
    def shard(self) -> str | None:
        """The shard of the next row; None at the end."""
        return None if self._head is None else self._head.shard

    @property
    def row(self) -> int | None:
        """The number of the next row; None at the end."""
        return None if self._head is None else int(self._head.rows[0])

    def take(self, shard: str, stop: int) -> Stretch | None:
        """Return the next rows, as far as they are of a shard and below `stop`; None where there are none."""
        taken: list[Stretch] = []
        while self._head is not None and self._head.shard == shard:
            head, size = self._head, len(self._head.rows)
            below = int(np.searchsorted(head.rows, stop))
            if below:
                taken.append(head.slice(0, below))
            if below < size:
                self._head = head.slice(below, size)
                break
            self._head = next(self._stretches, None)
        return _joined(taken) if taken else None

    def skip(self, shard: str) -> None:
        """Leave out what is listed of a shard."""
        while self._head is not None and self._head.shard == shard:
            self._head = next(self._stretches, None)

    def _read(self) -> Iterator[Stretch]:
        """Yield what the file lists: a stretch ends where a shard or a batch does."""
        for batch in self._file.iter_batches(BATCH_ROWS, columns=["shard", "row", *self._texts]):
            shards = batch.column("shard").dictionary_encode()
            number = _numbers(shards.indices, np.int32)
            ends = [*(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
            rows = _numbers(batch.column("row"), np.int64)
            texts = tuple(_without_nulls(batch.column(name).cast(TEXTS)) for name in self._texts)
            start = 0
            for stop in ends:
                whole = Stretch(shards.dictionary[int(number[start])].as_py(), rows, texts)
                yield whole.slice(start, stop)
                start = stop

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _numbers(array: pa.Array, kind: type[np.generic]) -> npt.NDArray[Any]:
    """Return numbers, none of which is null. Arrow's own way imports pandas, and fails where Ctrl-C falls into that."""
    return np.frombuffer(array.buffers()[1], kind)[array.offset : array.offset + len(array)]


def _without_nulls(lists: pa.Array) -> pa.Array:
    """Return lists of strings, none of which is null, without what says so for each: it would count as bytes copied."""
    strings = lists.values
    strings = pa.StringArray.from_buffers(len(strings), *strings.buffers()[1:], offset=strings.offset)
    return pa.Array.from_buffers(TEXTS, len(lists), [None, lists.buffers()[1]], offset=lists.offset, children=[strings])


def _joined(parts: Sequence[Stretch]) -> Stretch:
    if len(parts) == 1:
        return parts[0]
    texts = zip(*(part.texts for part in parts), strict=True)
    rows = np.concatenate([part.rows for part in parts])
    return Stretch(parts[0].shard, rows, tuple(pa.concat_arrays(each) for each in texts))
