"""The metric table while a run fills it: in memory while it is small, in segment files once it is not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from dataguard.metrics.base import Metric
from dataguard.run.scan import SOURCE, Scanned
from dataguard.run.scratch import scratch_folder, scratch_writing

pl.Series([0]).to_numpy()
"""Polars looks NumPy up at the first conversion, and panics where Ctrl-C falls into that: so it does it here."""

SEGMENT_BYTES = 64 << 20
FEW = 4096
MOST_SOURCES = 1000
"""Past so many names of sources a column says something else: the rows then have no source."""


class RunTable:
    """The numbers of one run, in the order in which units are appended.

    The segments lie in a temporary folder that goes when nobody holds the table any more.
    """

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._schema = {f"{metric.key}.{name}": kind for metric in metrics for name, kind in metric.gives.items()}
        self._folder: Path | None = None
        self._segments: list[Path] = []
        self._recent: list[pl.DataFrame] = []
        self._recent_bytes = 0
        self._places: dict[str, int] = {}
        self._broken: set[int] = set()
        self.too_many_sources = False

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources, in the order in which they came; none where they are too many."""
        return () if self.too_many_sources else tuple(self._places)

    def notes(self) -> list[str]:
        """Return what a report should say of the sources."""
        many = f"more than {MOST_SOURCES:,} sources: the rows are taken to have none"
        return [many] if self.too_many_sources else []

    def append(self, scanned: Scanned) -> None:
        """Take the numbers of some pieces."""
        rows = scanned.rows
        lengths = [piece.unit.rows for piece in scanned.pieces]
        shard = _repeated(pl.Series("shard", [piece.shard for piece in scanned.pieces], dtype=pl.UInt32), lengths)
        known = {column.name: column for column in scanned.numbers()}
        nulls = (pl.Series(name, [None], dtype=kind) for name, kind in self._schema.items() if name not in known)
        known |= {column.name: column.new_from_index(0, rows) for column in nulls}
        columns = [
            shard,
            _row_numbers(scanned),
            self._places_of(scanned, lengths),
            *(known[name] for name in self._schema),
        ]
        frame = pl.DataFrame(columns)
        self._recent.append(frame)
        self._recent_bytes += int(frame.estimated_size())
        if self._recent_bytes > SEGMENT_BYTES:
            self._write_segment()

    def drop(self, shard: int) -> None:
        """Leave a shard out: it turned out not to be intact."""
        self._broken.add(shard)

    def frame(self) -> pl.LazyFrame:
        """Return the whole table (`MetricTable.frame`)."""
        empty = pl.DataFrame(schema={"shard": pl.UInt32, "row": pl.Int64, "source": pl.Int32, **self._schema})
        parts = [pl.scan_parquet(path) for path in self._segments]
        parts += [pl.concat([empty, *self._recent]).lazy()]
        table = pl.concat(parts)
        if self._broken:
            table = table.filter(~pl.col("shard").is_in(sorted(self._broken)))
        return table.with_columns(pl.lit(None, pl.Int32).alias("source")) if self.too_many_sources else table

    def _places_of(self, scanned: Scanned, lengths: Sequence[int]) -> pl.Series:
        """Return the sources of some pieces' rows as places in the list of all."""
        if scanned.task.source_key is None:
            sources = pl.Series("source", [piece.source for piece in scanned.pieces], dtype=pl.String)
            return _repeated(self._placed(sources), lengths)
        return self._placed(scanned.frames[scanned.task.source_key][SOURCE])

    def _placed(self, sources: pl.Series) -> pl.Series:
        few = len(sources) <= FEW  # then Polars's set-up costs more than the work
        names = dict.fromkeys(sources.to_list() if few else sources.unique(maintain_order=True).to_list())
        if not self.too_many_sources:
            for name in names:
                if name is not None:
                    self._places.setdefault(name, len(self._places))
            self.too_many_sources = len(self._places) > MOST_SOURCES
        if self.too_many_sources:
            return pl.Series("source", [None], dtype=pl.Int32).new_from_index(0, len(sources))
        places = {name: self._places.get(name) for name in names}
        if few:
            return pl.Series("source", [places[name] for name in sources.to_list()], dtype=pl.Int32)
        return sources.replace_strict(places, default=None, return_dtype=pl.Int32).alias("source")

    def _write_segment(self) -> None:
        if self._folder is None:
            self._folder = scratch_folder(self)
        path = self._folder / f"segment-{len(self._segments):05d}.parquet"
        with scratch_writing():
            pl.concat(self._recent).write_parquet(path, compression="lz4", statistics=False)
        self._segments.append(path)
        self._recent, self._recent_bytes = [], 0


def _repeated(values: pl.Series, lengths: Sequence[int]) -> pl.Series:
    """Return each value as often as its length says."""
    if len(values) == 1:
        return values.new_from_index(0, lengths[0])
    return values.gather(np.repeat(np.arange(len(lengths)), lengths))


def _row_numbers(scanned: Scanned) -> pl.Series:
    parts = [np.arange(unit.first_row, unit.first_row + unit.rows) for unit in (piece.unit for piece in scanned.pieces)]
    return pl.Series("row", np.concatenate(parts).astype(np.int64, copy=False))
