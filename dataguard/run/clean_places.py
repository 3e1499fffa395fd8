"""Where the copy of each shard goes: the same names and folders as below DATA.

Every folder of DATA has one of its own in the copy, because a folder can be a data set (state.json), and two of them run
together are none. So where folders of one name meet, as much of the path before them is kept as tells them apart.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePath

from dataguard.shards.model import Shard
from dataguard.shards.names import CLEAN_MARK


def folders_of(shards: Sequence[Shard]) -> dict[Path, PurePath]:
    """Return the copy's folder for each folder that holds shards: {absolute path: path inside the copy}.

    Args:
        shards: Files, in the order of DATA.
    """
    names: dict[Path, set[str]] = {}
    depths: dict[Path, int] = {}
    for shard in shards:
        if shard.path is not None:
            folder = folder_of(shard.path)
            names.setdefault(folder, set()).add(shard.path.name)
            depth = min(len(PurePath(shard.name).parts) - 1, len(folder.parts) - 1)
            depths[folder] = max(depths.get(folder, 0), depth)
    while clashing := _clashing(depths, names):
        for folder in clashing:
            depths[folder] += 1
    return {folder: _last(folder, depth) for folder, depth in depths.items()}


def folder_of(path: Path) -> Path:
    """Return the folder of a file as it is told: absolute, without `..`, links as they are."""
    return Path(os.path.abspath(path.parent))  # noqa: PTH100  # pathlib's `absolute` leaves `..` in


def _last(folder: Path, depth: int) -> PurePath:
    return PurePath(*folder.parts[len(folder.parts) - depth :]) if depth else PurePath()


def _clashing(depths: dict[Path, int], names: dict[Path, set[str]]) -> list[Path]:
    """Return the folders that need more of their path: two that would be one, and those of a file that a folder hides."""
    owners: dict[PurePath, list[Path]] = {}
    for folder, depth in depths.items():
        owners.setdefault(_last(folder, depth), []).append(folder)
    taken = {PurePath(CLEAN_MARK), *(parent for place in owners for parent in (place, *place.parents))}
    clashing = {folder for folders in owners.values() if len(folders) > 1 for folder in folders}
    for place, folders in owners.items():
        for folder in folders:
            if any(place / name in taken for name in names[folder]):
                clashing.add(folder)
    more = [folder for folder in clashing if depths[folder] < len(folder.parts) - 1]
    if clashing and not more:  # whole paths differ, so that the file stands in the way of a folder with a shorter one
        more = [folder for folder in depths if depths[folder] < len(folder.parts) - 1]
    return more
