"""The clean copy of rows in memory: a data set on disk, as `datasets` saves one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from dataguard.run.clean_states import Copied
from dataguard.run.hf_folder import HfFolder
from dataguard.run.quarantine import bounds, sound_metadata
from dataguard.run.remaining import Kept, with_fingerprint
from dataguard.run.storable import storable, storable_field
from dataguard.run.writing import writing
from dataguard.shards.hf import DATASET_DICT
from dataguard.shards.nbytes import nbytes_of

_FOLDER_NAME = re.compile(r"\w[\w.-]*")


def write_tables(place: Path, tables: Iterable[Kept], fingerprint: str | None) -> list[Copied]:
    """Write a table as a Dataset, those of a DatasetDict as one.

    Args:
        place: The copy's folder, which exists.
        tables: Shards in memory.
        fingerprint: Of the tokenizer.

    Raises:
        OutputError: The file system refuses.
    """
    copied: list[Copied] = []
    splits: list[str] = []
    for number, table in enumerate(tables):
        split = table.shard.split
        if split is not None:
            splits.append(split if _FOLDER_NAME.fullmatch(split) else f"split-{number}")
        copied.append(_write(place / splits[-1] if split is not None else place, table, fingerprint))
    if splits:
        with writing(place):
            (place / DATASET_DICT).write_text(json.dumps({"splits": splits}) + "\n", encoding="utf-8")
    return copied


def _write(place: Path, table: Kept, fingerprint: str | None) -> Copied:
    original = table.opened.schema
    schema = pa.schema([storable_field(field) for field in original], metadata=sound_metadata(original))
    folder = HfFolder(place, original, with_fingerprint(schema, fingerprint))
    rows = size = 0
    try:
        folder.write(
            pa.record_batch([pa.array([], field.type) for field in schema], schema=schema)
        )  # or there is no file
        for batch, _ in table.batches():
            for piece in _pieces(batch, schema):
                folder.write(piece)
                rows, size = rows + piece.num_rows, size + nbytes_of(piece)
        folder.finish(description="")
    finally:
        folder.abandon()
    return Copied(rows, size, "")


def _pieces(batch: pa.RecordBatch, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for start, stop in bounds(batch.columns, batch.num_rows):
        columns = [storable(column.slice(start, stop - start)) for column in batch.columns]
        yield pa.record_batch(columns, schema=schema)
