"""From what a user calls a tokenizer or a model to a place on this machine."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

from dataguard.errors import VocabularyError
from dataguard.vocabulary.hub_cache import cache_folder, cached_snapshot, looks_like_hub_name

FILES = (".json", ".txt", ".model", ".safetensors", ".yaml")
"""Ends of names that are files, and no names of the hub."""


def resolve(named: Path | str, *, what: str, option: str) -> Path:
    """Return the file or folder of that name, or the folder that the local hub cache holds under it.

    Args:
        named: A path, or a hub name. A path that exists wins.
        what: `tokenizer` or `model`, for the message.
        option: The option that named it, for the message.

    Raises:
        VocabularyError: There is neither; the message says where it was looked for.
    """
    if os.path.exists(named):  # noqa: PTH110 (Path.exists raises on names that are too long)
        return Path(named)
    name = str(named)
    if not looks_like_hub_name(name) or name.endswith(FILES):
        fix = _nearest_beside(name) or f"give {option} the path of a {what} that exists"
        raise VocabularyError(f"there is no {what} {name!r}", where=option, why="the path does not exist", fix=fix)
    snapshot = cached_snapshot(name)
    if snapshot is not None:
        return snapshot
    raise VocabularyError(
        f"there is no {what} {name!r}",
        where=option,
        why=f"no such path, and the local hub cache {cache_folder()} does not hold that name (nothing is downloaded)",
        fix=f"give {option} a path, or download it first: hf download {name}",
    )


def _nearest_beside(name: str) -> str | None:
    """Return the file or folder of nearly this name that lies where it was looked for."""
    folder = Path(name).parent
    try:
        close = get_close_matches(Path(name).name, [entry.name for entry in folder.iterdir()], n=1)
    except OSError:
        return None
    return f"did you mean {folder / close[0]}?" if close else None
