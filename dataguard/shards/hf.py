"""What the small JSON files of a folder say that `datasets` (or a run of ours) wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dataguard.shards.files import is_file

STATE = "state.json"
DATASET_DICT = "dataset_dict.json"
_REPORT = "report.json"
_MOST_BYTES = 16 << 20
_MOST_REPORT_BYTES = 1 << 20


@dataclass(frozen=True)
class SavedState:
    """What state.json says of the folder it lies in.

    Args:
        split: The split that was saved, where it is named.
        listed: Names of the files that hold the rows; None where that cannot be read.
    """

    split: str | None = None
    listed: frozenset[str] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether a data set without rows was saved: `datasets` then writes no Arrow file at all."""
        return self.listed is not None and not self.listed


def saved_state(folder: Path) -> SavedState | None:
    """Return what a folder's state.json says; None where there is none."""
    if not is_file(folder / STATE):
        return None
    said = _json(folder / STATE)
    split, files = said.get("_split"), said.get("_data_files")
    listed = None
    if isinstance(files, list):
        names = [each.get("filename") for each in files if isinstance(each, dict)]
        listed = frozenset(name for name in names if isinstance(name, str))
        listed = listed if len(names) == len(files) else None
    return SavedState(split if isinstance(split, str) else None, listed)


def split_of(folder: Path) -> str | None:
    """Return the split that a folder holds: its name inside a DatasetDict, else what its state.json says."""
    if is_file(folder.parent / DATASET_DICT) and not is_file(folder / DATASET_DICT):
        return folder.name
    state = saved_state(folder)
    return state.split if state else None


def is_own_output(folder: Path) -> bool:
    """Whether a run of dataguard wrote its report into a folder."""
    try:
        with (folder / _REPORT).open("rb") as file:
            return b'"dataguard"' in file.read(_MOST_REPORT_BYTES)
    except OSError:
        return False


def _json(path: Path) -> Mapping[str, Any]:
    """Return the object in a JSON file; an empty one where there is none that can be read."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return {}
        said = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
