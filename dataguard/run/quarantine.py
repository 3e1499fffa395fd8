"""The quarantine: rejected rows as they were, with what they failed, as a data set that `datasets.load_from_disk` opens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from dataguard.run.hf_folder import HfFolder, finish
from dataguard.run.outputs import MARK
from dataguard.run.storable import decoded_bytes, storable, storable_field
from dataguard.run.writing import writing
from dataguard.shards.nbytes import nbytes_of

LIMIT = 10 * 2**30
"""Bytes of rows that are copied unless told otherwise."""
PIECE_ROWS, PIECE_BYTES = 1_000, 64 * 2**20
"""Largest record batch: datasets reads a batch for a row, and a few encoded rows may stand for any amount of memory."""
ROW_GROUP = 1 << 17
"""Rows in a row group of rejected.parquet: the same file however the rows were put together."""
MOST_OPEN = 32
"""Files written at once; with more schemas than that, the longest unused one is closed."""
OURS = (
    pa.field("dataguard_shard", pa.string()),
    pa.field("dataguard_row", pa.int64()),
    pa.field("dataguard_expectations", pa.list_(pa.string())),
    pa.field("dataguard_reasons", pa.list_(pa.string())),
)
NAMES = frozenset(field.name for field in OURS)
KNOWN_FEATURES = frozenset({"Value", "ClassLabel", "List", "LargeList", "Sequence"})
"""Features of datasets that are passed on; others may need packages, or a newer datasets, to be opened at all."""


@dataclass(frozen=True)
class Rejected:
    """Some rejected rows of one shard.

    Args:
        schema: Of the shard.
        shard: Its name.
        batch: The rejected rows, with all columns (`taking.take_rows` makes it).
        rows: Their numbers in the shard. Shape (n,), int64.
        expectations: For each row, the types of the expectations that it fails. Lists of strings, of length n.
        reasons: For each row, the reason codes, likewise.
    """

    schema: pa.Schema
    shard: str
    batch: pa.RecordBatch
    rows: npt.NDArray[np.int64]
    expectations: pa.Array
    reasons: pa.Array


@dataclass(frozen=True)
class QuarantineSummary:
    """What a quarantine holds: rows and bytes copied, and whether the limit left some out."""

    rows: int
    bytes: int
    schemas: int
    limit: int
    complete: bool

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, for the report."""
        return asdict(self)


def write_quarantine(place: Path, parts: Iterable[Rejected], limit: int = LIMIT) -> QuarantineSummary:
    """Write rejected rows as a data set; without any, nothing is written.

    Args:
        place: The folder to make, which must not exist.
        parts: In the order of DATA. Read one by one, and not to the end where the limit is reached.
        limit: Bytes of rows to copy.

    Raises:
        OutputError: The file system refuses.
    """
    folders: list[HfFolder] = []
    try:
        rows, copied, complete = _copy(parts, limit, folders, place)
        finish(folders, place, description=MARK)
    finally:
        for folder in folders:
            folder.abandon()
    return QuarantineSummary(rows, copied, len(folders), limit, complete)


def _copy(parts: Iterable[Rejected], limit: int, folders: list[HfFolder], place: Path) -> tuple[int, int, bool]:
    """Write rows into folders by schema; return how many rows and bytes, and whether all of them."""
    rows = copied = 0
    for part in parts:
        for piece in _pieces(part):
            fitting = _fitting(piece, limit - copied)
            if fitting.num_rows:
                _folder_for(part.schema, fitting.schema, folders, place).write(fitting)
            rows, copied = rows + fitting.num_rows, copied + nbytes_of(fitting)
            if fitting.num_rows < piece.num_rows:
                return rows, copied, False
    return rows, copied, True


def write_rejected(place: Path, rejected: pl.DataFrame | pl.LazyFrame) -> None:
    """Write the list of every rejected row: shard, row, types (of expectations), reasons.

    Args:
        place: The Parquet file to make.
        rejected: Columns shard, row, expectations, reasons.

    Raises:
        OutputError: The file system refuses.
    """
    columns = rejected.lazy().select("shard", "row", pl.col("expectations").alias("types"), "reasons")
    with writing(place):
        columns.sink_parquet(place, row_group_size=ROW_GROUP)


def _pieces(part: Rejected) -> Iterator[pa.RecordBatch]:
    """Yield a part's rows in batches of bounded size: its own columns in types that datasets knows, then ours."""
    kept = [place for place, field in enumerate(part.schema) if field.name not in NAMES]
    fields = [storable_field(part.schema.field(place)) for place in kept]
    schema = pa.schema([*fields, *OURS], metadata=sound_metadata(part.schema))
    columns = [part.batch.column(part.schema.field(place).name) for place in kept]
    for start, stop in bounds(columns, part.batch.num_rows):
        about = (
            pa.array([part.shard] * (stop - start), pa.string()),
            pa.array(part.rows[start:stop], pa.int64()),
            *(_own(texts.slice(start, stop - start)) for texts in (part.expectations, part.reasons)),
        )
        own = [storable(column.slice(start, stop - start)) for column in columns]
        yield pa.record_batch([*own, *about], schema=schema)


def _own(array: pa.Array) -> pa.Array:
    """Return an array in buffers of its own size: what a slice leaves around it would be counted and written."""
    return pa.concat_arrays([array])


def bounds(columns: Sequence[pa.Array], rows: int) -> Iterator[tuple[int, int]]:
    """Yield (first row, row behind the last) of pieces that stay small even when their types are made storable."""
    start = 0
    while start < rows:
        stop = min(rows, start + PIECE_ROWS)
        while (
            stop - start > 1 and sum(decoded_bytes(each.slice(start, stop - start)) for each in columns) > PIECE_BYTES
        ):
            stop = (start + stop) // 2
        yield start, stop
        start = stop


def _fitting(piece: pa.RecordBatch, room: int) -> pa.RecordBatch:
    """Return as many of the first rows as `room` bytes hold."""
    fits, beyond = 0, piece.num_rows + 1
    if nbytes_of(piece) <= room:
        return piece
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        fits, beyond = (middle, beyond) if nbytes_of(piece.slice(0, middle)) <= room else (fits, middle)
    return piece.slice(0, fits)


def sound_metadata(schema: pa.Schema) -> dict[bytes, bytes]:
    """Return a schema's metadata; without the features of datasets where they could keep it from opening the rows."""
    metadata = dict(schema.metadata or {})
    if b"huggingface" in metadata:
        try:
            told = json.loads(metadata[b"huggingface"])
            sound = all(map(_is_feature, told["info"]["features"].values()))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            sound = False
        if not sound:
            del metadata[b"huggingface"]
    return metadata


def _is_feature(feature: Any) -> bool:
    if isinstance(feature, list):
        return len(feature) == 1 and _is_feature(feature[0])
    kind = feature.get("_type")
    if not isinstance(kind, str):
        return all(map(_is_feature, feature.values()))
    inner = feature.get("feature")
    return kind in KNOWN_FEATURES and (inner is None or _is_feature(inner))


def _folder_for(schema: pa.Schema, columns: pa.Schema, folders: list[HfFolder], place: Path) -> HfFolder:
    """Return the folder for the rows of a shard's schema; names, types and nullability tell schemas apart."""
    for folder in folders:
        if folder.original.equals(schema, check_metadata=False):
            break
    else:
        folder = HfFolder(place / f"schema-{len(folders)}", schema, columns)
        folders.append(folder)
    busy = [each for each in folders if each.file is not None and each is not folder]
    if len(busy) >= MOST_OPEN:
        min(busy, key=lambda each: each.used).end_file()
    folder.used = 1 + max(each.used for each in folders)
    return folder
