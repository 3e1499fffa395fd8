"""Stored numbers: where they lie in a segment file, and how those of many units become columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import xxhash

Columns = Mapping[str, pl.Series]
"""The numbers of a metric, by name, all of one length."""


@dataclass(frozen=True)
class Blob:
    """A stretch of a segment file: a table with the numbers of some units, one behind the other.

    Args:
        keys: What it holds, in the order of its columns: two blobs of the same keys have the same columns.
    """

    segment: Path
    start: int
    length: int
    checksum: int
    keys: str

    def load(self) -> pl.DataFrame | None:
        """Return the table; None where the bytes are not what was written."""
        try:
            with self.segment.open("rb") as file:
                file.seek(self.start)
                data = file.read(self.length)
        except OSError:
            return None
        if len(data) != self.length or xxhash.xxh3_64_intdigest(data) != _unsigned(self.checksum):
            return None
        return pl.read_ipc_stream(data)


@dataclass(frozen=True)
class Stored:
    """Where numbers of a unit lie: rows of a blob, and which of its columns are wanted ({key: place})."""

    blob: Blob
    places: Mapping[str, int]
    first: int
    rows: int

    def goes_on(self, other: Stored) -> bool:
        """Whether the same columns of another table are wanted."""
        return self.blob.keys == other.blob.keys and self.places == other.places


def loaded(units: Sequence[Sequence[Stored]]) -> dict[str, Columns] | None:
    """Return stored numbers by key, those of the first unit before those of the next one.

    Args:
        units: Where the numbers of each lie: the same keys for all of them.

    Returns:
        What could be read of one unit alone; of several all of it, or None where some of it is not what was written.
    """
    tables: dict[Blob, pl.DataFrame | None] = {}
    parts: list[tuple[Stored, list[pl.DataFrame]]] = []
    for stored in _in_runs(units):
        if stored.blob not in tables:
            tables[stored.blob] = stored.blob.load()
        table = tables[stored.blob]
        if table is None and len(units) > 1:
            return None
        if table is not None:
            whole = stored.first == 0 and stored.rows == table.height
            rows = table if whole else table.slice(stored.first, stored.rows)
            if parts and len(units) > 1 and stored.goes_on(parts[-1][0]):
                parts[-1][1].append(rows)
            else:
                parts.append((stored, [rows]))
    found: dict[str, list[Columns]] = {}
    for stored, frames in parts:
        for key, columns in _by_key(pl.concat(frames) if len(frames) > 1 else frames[0], stored.places):
            found.setdefault(key, []).append(columns)
    return {key: behind_each_other(columns) for key, columns in found.items()}


def _in_runs(units: Sequence[Sequence[Stored]]) -> Iterator[Stored]:
    """Yield what is stored of units, as one where the rows of the next follow in the same blobs."""
    runs: list[Stored] = []
    for unit in units:
        follows = [(each.blob, each.places, each.first) for each in unit]
        if runs and follows == [(each.blob, each.places, each.first + each.rows) for each in runs]:
            runs = [replace(run, rows=run.rows + each.rows) for run, each in zip(runs, unit, strict=True)]
        else:
            yield from runs
            runs = list(unit)
    yield from runs


def _by_key(table: pl.DataFrame, places: Mapping[str, int]) -> Iterator[tuple[str, Columns]]:
    columns: dict[str, dict[str, pl.Series]] = {}
    for column in table.get_columns():
        number, _, name = column.name.partition(".")
        columns.setdefault(number, {})[name] = column
    for key, place in places.items():
        yield key, columns.get(str(place), {})


def behind_each_other(parts: Sequence[Columns]) -> Columns:
    """Return the numbers of the first part, then those of the next one; a part has the same names as every other."""
    return parts[0] if len(parts) == 1 else {name: pl.concat([part[name] for part in parts]) for name in parts[0]}


def _unsigned(number: int) -> int:
    return number % (1 << 64)
