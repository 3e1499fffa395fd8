"""The JSON files of a clean copy that `datasets` reads first: a folder that it opened before opens again.

state.json and dataset_info.json are those of the original, but for what is no longer true: the files, the fingerprint (the
key of what datasets caches) and the sizes of the splits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import xxhash

from dataguard.run.writing import writing
from dataguard.shards.files import is_file
from dataguard.shards.hf import DATASET_DICT, INFO, STATE, json_object, saved_state, split_of


@dataclass(frozen=True)
class Copied:
    """A file that was written: its rows, their bytes in memory, and the digest of the file."""

    rows: int
    bytes: int
    digest: str


@dataclass(frozen=True)
class CopiedFolder:
    """A folder of a clean copy.

    Args:
        origin: The folder that its shards come from.
        inside: Its path inside the copy.
        files: What was written into it, by name, in the order of DATA.
    """

    origin: Path
    inside: PurePath
    files: Mapping[str, Copied]

    def listed(self) -> list[str] | None:
        """Return the files that make the data set, in its order; None where the original is no saved data set."""
        state = saved_state(self.origin)
        if state is None:
            return None
        names = self.files if state.listed is None else state.listed
        return [name for name in names if name in self.files]

    def size(self) -> tuple[int, int]:
        """Return rows and bytes of the data set."""
        files = [self.files[name] for name in self.listed() or ()]
        return sum(each.rows for each in files), sum(each.bytes for each in files)


def write_states(place: Path, folders: Sequence[CopiedFolder]) -> None:
    """Write state.json, dataset_info.json and dataset_dict.json wherever the original has them.

    A split of which nothing is left is no split of the copy: datasets cannot open one without a file.

    Args:
        place: The copy.
        folders: Those that hold files.

    Raises:
        OutputError: The file system refuses.
    """
    saved = [folder for folder in folders if folder.listed()]
    for folder in saved:
        splits = {
            split: each.size() for each in saved if _are_splits(each, folder) and (split := split_of(each.origin))
        }
        _write_state(place / folder.inside, folder)
        _write_info(place / folder.inside, folder, splits)
    for inside, names in _dicts(saved):
        _write(place / inside / DATASET_DICT, {"splits": names})


def _are_splits(one: CopiedFolder, other: CopiedFolder) -> bool:
    """Whether two folders are (splits of) one data set."""
    return one is other or (one.origin.parent == other.origin.parent and is_file(one.origin.parent / DATASET_DICT))


def _write_state(place: Path, folder: CopiedFolder) -> None:
    names = folder.listed() or []
    digests = "".join(f"{name} {folder.files[name].digest} " for name in names)
    said, _ = json_object(folder.origin / STATE)
    state = {
        **said,
        "_data_files": [{"filename": name} for name in names],
        "_fingerprint": xxhash.xxh3_64_hexdigest(digests.encode("utf-8", "surrogateescape")),
    }
    if "_indices_data_files" in state:
        state["_indices_data_files"] = []  # they number rows as they were
    _write(place / STATE, state)


def _write_info(place: Path, folder: CopiedFolder, sizes: Mapping[str, tuple[int, int]]) -> None:
    said, _ = json_object(folder.origin / INFO)
    info = dict(said)
    splits = info.get("splits")
    entries = list(splits.values()) if isinstance(splits, dict) else splits if isinstance(splits, list) else []
    entries = [each for each in entries if isinstance(each, dict)]
    for entry in entries:
        size = folder.size() if len(entries) == 1 else sizes.get(str(entry.get("name")))
        if size is not None:
            entry["num_examples"], entry["num_bytes"] = size
            entry.pop("shard_lengths", None)
    if entries and "dataset_size" in info:
        info["dataset_size"] = sum(each["num_bytes"] for each in entries if isinstance(each.get("num_bytes"), int))
        if isinstance(info.get("download_size"), int) and "size_in_bytes" in info:
            info["size_in_bytes"] = info["dataset_size"] + info["download_size"]
    _write(place / INFO, info)


def _dicts(saved: Sequence[CopiedFolder]) -> Iterator[tuple[PurePath, list[str]]]:
    """Yield (folder inside the copy, its splits in the original's order) of every DatasetDict."""
    parents: dict[PurePath, dict[Path, list[str]]] = {}
    for folder in saved:
        if folder.inside.parts and is_file(folder.origin.parent / DATASET_DICT):
            splits = parents.setdefault(folder.inside.parent, {}).setdefault(folder.origin.parent, [])
            splits.append(folder.inside.name)
    for inside, origins in parents.items():
        if len(origins) == 1:
            ((origin, splits),) = origins.items()
            said, _ = json_object(origin / DATASET_DICT)
            listed = said.get("splits")
            order = [name for name in listed if name in splits] if isinstance(listed, list) else []
            yield inside, order or splits


def _write(path: Path, value: Mapping[str, Any]) -> None:
    with writing(path):
        if not path.exists():  # a shard of that name
            path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
