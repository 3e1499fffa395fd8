"""What the small JSON files of a folder say that `datasets` (or a run of ours) wrote."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataguard.shards.files import is_file
from dataguard.shards.names import STAGING

if TYPE_CHECKING:
    import pyarrow as pa

STATE = "state.json"
DATASET_DICT = "dataset_dict.json"
INFO = "dataset_info.json"
TOKENIZER = "dataguard.tokenizer_fingerprint"
"""Key of a schema's metadata, or of dataset_info.json: the fingerprint of the tokenizer that the rows were made with."""
_REPORT = "report.json"
_MOST_BYTES = 16 << 20
_MOST_REPORT_BYTES = 1 << 20


@dataclass(frozen=True)
class SavedState:
    """What state.json says of the folder it lies in.

    Args:
        split: The split that was saved, where it is named.
        listed: Names of the files that hold the rows, in order; None where that cannot be read.
        indices: Names of the files that say which of those rows are the data set's, and in which order: `datasets` before
            version 2 saved a selection so.
        fault: Why it says less than it should; None for a file of that name that `datasets` did not write.
    """

    split: str | None = None
    listed: tuple[str, ...] | None = None
    indices: tuple[str, ...] = ()
    fault: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether a data set without rows was saved: `datasets` then writes no Arrow file at all."""
        return self.listed is not None and not self.listed


def saved_state(folder: Path) -> SavedState | None:
    """Return what a folder's state.json says; None where there is none."""
    if not is_file(folder / STATE):
        return None
    said, fault = json_object(folder / STATE)
    split, listed = said.get("_split"), _filenames(said.get("_data_files"))
    if listed is None and fault is None and {"_data_files", "_fingerprint"} & said.keys():
        fault = "_data_files is no list of file names"
    indices = _filenames(said.get("_indices_data_files")) or ()
    return SavedState(split if isinstance(split, str) else None, listed, indices, fault)


def _filenames(files: object) -> tuple[str, ...] | None:
    if not isinstance(files, list):
        return None
    names = [each.get("filename") if isinstance(each, dict) else None for each in files]
    known = tuple(name for name in names if isinstance(name, str))
    return known if len(known) == len(names) else None


def split_of(folder: Path) -> str | None:
    """Return the split that a folder holds: its name inside a DatasetDict, else what its state.json says."""
    if is_file(folder.parent / DATASET_DICT) and not is_file(folder / DATASET_DICT):
        return folder.name
    state = saved_state(folder)
    return state.split if state else None


def tokenizer_of(schema: pa.Schema, folder: Path | None) -> str | None:
    """Return the fingerprint of the tokenizer that a shard names: its schema, else the dataset_info.json in its folder."""
    told = (schema.metadata or {}).get(TOKENIZER.encode(), b"").strip()
    if told:
        return str(told.decode("utf-8", "replace"))
    return None if folder is None else tokenizer_of_folder(folder)


def tokenizer_of_folder(folder: Path) -> str | None:
    """Return the fingerprint of the tokenizer that a folder's dataset_info.json names; None without."""
    if not is_file(folder / INFO):
        return None
    told = json_object(folder / INFO)[0].get(TOKENIZER)
    return told.strip() or None if isinstance(told, str) else None


def is_indices(schema: pa.Schema) -> bool:
    """Whether a file holds no rows but the numbers of some, as `datasets` caches a shuffle or a selection."""
    return bool(schema.names == ["indices"] and schema.field(0).type == "uint64")


def is_own_output(folder: Path) -> bool:
    """Whether a run of dataguard wrote its report into a folder, or is about to, or was killed before it did."""
    try:
        if any(name.startswith(STAGING) for name in os.listdir(folder)):  # noqa: PTH208 -- names alone, and no objects
            return True
        with (folder / _REPORT).open("rb") as file:
            return b'"dataguard"' in file.read(_MOST_REPORT_BYTES)
    except OSError:
        return False


def json_object(path: Path) -> tuple[Mapping[str, Any], str | None]:
    """Return the object in a JSON file, and why it cannot be read; any other value in it is an empty object."""
    try:
        size = path.stat().st_size
        if size > _MOST_BYTES:
            return {}, f"it has {size:,} bytes; at most {_MOST_BYTES:,} are read"
        said = json.loads(path.read_bytes())
    except OSError as error:
        return {}, f"it cannot be read: {error.strerror or error}"
    except (ValueError, RecursionError):
        return {}, "it is no JSON: it was cut, or written by hand"
    return (said, None) if isinstance(said, dict) else ({}, None)
