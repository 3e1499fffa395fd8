"""Rows of numbers that are too many for memory: streamed once into a scratch file, read back part by part."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl

Numbers = Mapping[str, npt.NDArray[Any]]
"""Columns by name, all of one length, without nulls."""

MOST_PARTS = 1 << 16
BATCH_ROWS = 1 << 19
"""Rows that are divided at once; each batch adds a stretch to every part, so that smaller ones make reading slower."""


@dataclass(frozen=True)
class Scratch:
    """Where numbers lie that do not fit into memory.

    Args:
        folder: Returns a new folder, which stays as long as the metric table does.
        writing: Turns what the file system refuses inside the block into an error that a user understands.
    """

    folder: Callable[[], Path]
    writing: Callable[[], AbstractContextManager[None]]


class Divided:
    """Rows in one file, divided into parts that can be read one by one. A context manager: leaving it removes the file.

    Args:
        scratch: Where the file may lie.
        parts: How many there are, at most MOST_PARTS.
    """

    def __init__(self, scratch: Scratch, parts: int) -> None:
        self._writing = scratch.writing
        self._parts = parts
        self._kinds: dict[str, np.dtype[Any]] = {}
        self._stretches: list[tuple[int, npt.NDArray[np.int64]]] = []
        with self._writing():
            self._path = scratch.folder() / "divided"
            self._file = self._path.open("w+b", buffering=0)

    def add(self, rows: Numbers, parts: npt.NDArray[np.uint16]) -> None:
        """Append rows.

        Args:
            rows: Of the same columns and types at every call.
            parts: The part of each row.
        """
        assert parts.max(initial=0) < self._parts
        self._kinds = self._kinds or {name: column.dtype for name, column in rows.items()}
        order = np.argsort(parts, kind="stable")
        bounds = np.searchsorted(parts[order], np.arange(self._parts + 1))
        with self._writing():
            self._stretches.append((self._file.seek(0, 2), bounds))
            for column in rows.values():
                self._write(column[order].data.cast("B"))

    def _write(self, data: memoryview) -> None:
        while data:
            data = data[self._file.write(data) :]

    def rows(self, part: int) -> int:
        """Return how many rows a part has."""
        return sum(int(bounds[part + 1] - bounds[part]) for _, bounds in self._stretches)

    def read(self, part: int, most_rows: int | None = None) -> Iterator[dict[str, npt.NDArray[Any]]]:
        """Yield the rows of a part in the order in which they were added.

        Args:
            most_rows: Rows to yield at once, at least what one call of `add` brought; None for all.
        """
        waiting: list[int] = []
        rows = 0
        for number, (_, bounds) in enumerate(self._stretches):
            here = int(bounds[part + 1] - bounds[part])
            if waiting and most_rows is not None and rows + here > most_rows:
                yield self._joined(part, waiting, rows)
                waiting, rows = [], 0
            if here:
                waiting.append(number)
                rows += here
        if waiting:
            yield self._joined(part, waiting, rows)

    def _joined(self, part: int, stretches: list[int], rows: int) -> dict[str, npt.NDArray[Any]]:
        joined = {name: np.empty(rows, kind) for name, kind in self._kinds.items()}
        done = 0
        for number in stretches:
            place, bounds = self._stretches[number]
            start, stop = int(bounds[part]), int(bounds[part + 1])
            for name, kind in self._kinds.items():
                self._read(joined[name][done : done + stop - start], place + start * kind.itemsize)
                place += int(bounds[-1]) * kind.itemsize
            done += stop - start
        return joined

    def _read(self, column: npt.NDArray[Any], place: int) -> None:
        self._file.seek(place)
        data = column.data.cast("B")
        while data:
            got = self._file.readinto(data)
            if not got:
                msg = f"{self._path} has been cut short"
                raise OSError(msg)
            data = data[got:]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the file."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def each_batch(rows: pl.LazyFrame, take: Callable[[dict[str, npt.NDArray[Any]]], None], batch_rows: int) -> None:
    """Hand over all rows, about so many at once, in no order, one call after the other.

    What Polars streams is handed over in its own threads, where an exception would become another one: it is raised here.

    Args:
        rows: Columns of numbers without nulls.
        take: Takes them by name. It must leave Polars alone, whose thread it stands in.
    """
    waiting: list[dict[str, npt.NDArray[Any]]] = []
    failed: list[Exception] = []
    lock = threading.Lock()

    def hand_over() -> None:
        if waiting:
            joined = {name: np.concatenate([each[name] for each in waiting]) for name in waiting[0]}
            waiting.clear()
            take(joined)

    def gather(some: pl.DataFrame) -> pl.DataFrame:
        columns = {column.name: column.to_numpy() for column in some}
        with lock:
            try:
                if some.height and not failed:
                    waiting.append(columns)
                    if sum(len(next(iter(each.values()))) for each in waiting) >= batch_rows:
                        hand_over()
            except Exception as error:  # noqa: BLE001  # raised below
                failed.append(error)
        return some.clear()

    rows.map_batches(gather, streamable=True).collect(engine="streaming")
    if failed:
        raise failed[0]
    hand_over()


def kept(frames: Iterable[pl.DataFrame], scratch: Scratch, most_rows: int, schema: Mapping[str, Any]) -> pl.LazyFrame:
    """Return frames as one, in their order: those past `most_rows` rows in scratch files of about so many."""
    waiting, rows = [pl.DataFrame(schema=schema)], 0
    folder: Path | None = None
    paths: list[Path] = []
    for frame in frames:
        if rows and rows + frame.height > most_rows:
            with scratch.writing():
                folder = folder or scratch.folder()
                paths.append(folder / f"kept-{len(paths):05d}.parquet")
                pl.concat(waiting).write_parquet(paths[-1], compression="lz4", statistics=False)
            waiting, rows = waiting[:1], 0
        waiting.append(frame)
        rows += frame.height
    return pl.concat([*map(pl.scan_parquet, paths), pl.concat(waiting).lazy()])
