"""A data set on disk as `datasets.load_from_disk` reads it, written without importing datasets.

It is Arrow IPC streams, `state.json` that lists them, and `dataset_info.json`. Without features in the latter, datasets
infers them from the Arrow schema, and takes from the schema's metadata (`huggingface`) those of columns whose type agrees:
a class label stays one. Several schemas make a DatasetDict: a folder for each, and `dataset_dict.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import xxhash

from dataguard.run.sink import Sink
from dataguard.run.writing import writing
from dataguard.shards.hf import DATASET_DICT, INFO, STATE
from dataguard.shards.nbytes import nbytes_of

FILE_BYTES = 500_000_000
"""A file of this size is full; datasets cuts its own there too."""


class HfFolder:
    """A data set on disk that grows batch by batch.

    Args:
        place: Its folder.
        original: The schema of the shards whose rows it holds.
        schema: The schema that is written.

    Attributes:
        file: The file that is being written, where one is.
        used: When it was last written to; free for the caller to count in.
    """

    def __init__(self, place: Path, original: pa.Schema, schema: pa.Schema) -> None:
        self.place, self.original, self.schema = place, original, schema
        self.file: _File | None = None
        self.used = 0
        self._files = 0
        self._digest = xxhash.xxh3_64()
        with writing(place):
            place.mkdir(parents=True, exist_ok=True)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows, to a new file where the last one is full.

        Raises:
            OutputError: The file system refuses.
        """
        with writing(self.place):
            if self.file is not None and self.file.size + nbytes_of(batch) > FILE_BYTES:
                self.end_file()
            if self.file is None:
                self.file = _File(self._path(self._files), self.schema, self._digest)
                self._files += 1
            self.file.write_rows(batch)

    def end_file(self) -> None:
        """Finish the file that is being written."""
        if self.file is not None:
            with writing(self.place):
                self.file.end()
        self.file = None

    def finish(self, description: str) -> None:
        """Finish the last file, name all as datasets does, and write what it reads first."""
        self.end_file()
        names = [f"data-{number:05d}-of-{self._files:05d}.arrow" for number in range(self._files)]
        state: dict[str, Any] = {
            "_data_files": [{"filename": name} for name in names],
            "_fingerprint": self._digest.hexdigest(),
            "_format_columns": None,
            "_format_kwargs": {},
            "_format_type": None,
            "_output_all_columns": False,
            "_split": None,
        }
        info = {"citation": "", "description": description, "homepage": "", "license": ""}
        with writing(self.place):
            for number, name in enumerate(names):
                self._path(number).rename(self.place / name)
            _write_json(self.place / INFO, info)
            _write_json(self.place / STATE, state)

    def abandon(self) -> None:
        """Let go of the file that is being written, as it is."""
        if self.file is not None:
            self.file.abandon()

    def _path(self, number: int) -> Path:
        return self.place / f"part-{number}"


class _File(Sink):
    """A stream of record batches."""

    def __init__(self, path: Path, schema: pa.Schema, digest: xxhash.xxh3_64) -> None:
        super().__init__(path, digest)
        self._schema = schema
        self._writer = pa.ipc.new_stream(pa.PythonFile(self, mode="w"), schema)

    def write_rows(self, batch: pa.RecordBatch) -> None:
        """Append a record batch. Types that are equal to Arrow may still name the items of a list differently."""
        self._writer.write_batch(pa.record_batch(batch.columns, schema=self._schema))

    def end(self) -> None:
        """Write the end of the stream and close the file, even where there is no space left for the former."""
        try:
            self._writer.close()
        finally:
            self.close()


def finish(folders: Sequence[HfFolder], place: Path, description: str) -> None:
    """Make `place` of the folders in it: a DatasetDict of several, of a single one the data set itself.

    Raises:
        OutputError: The file system refuses.
    """
    for folder in folders:
        folder.finish(description)
    with writing(place):
        if len(folders) == 1:
            for file in folders[0].place.iterdir():
                file.rename(place / file.name)
            folders[0].place.rmdir()
        elif folders:
            _write_json(place / DATASET_DICT, {"splits": [folder.place.name for folder in folders]})


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
