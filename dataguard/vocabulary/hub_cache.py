"""Names of the hub, looked up in the local cache of huggingface_hub by plain file reading: no package, no network."""

from __future__ import annotations

import os
import re
from pathlib import Path

from dataguard.errors import VocabularyError

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
LONGEST_NAME = 200  # the hub allows 96 for each part
REVISION = re.compile(r"[A-Za-z0-9][\w-]*")


def looks_like_hub_name(name: str) -> bool:
    """Whether this could be `name` or `owner/name` on the hub."""
    return len(name) <= LONGEST_NAME and HUB_NAME.fullmatch(name) is not None


def cache_folder() -> Path:
    """Return where huggingface_hub keeps its downloads, by the variables that it reads itself, in its order.

    Where the user has no home a `~` stays as it is, and leads nowhere.
    """
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if told := os.environ.get(variable):
            return _expanded(told)
    if home := os.environ.get("HF_HOME"):
        return _expanded(home) / "hub"
    return _expanded(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface" / "hub"


def _expanded(path: str) -> Path:
    return Path(os.path.expanduser(path))  # noqa: PTH111  # pathlib's raises where there is no home


def cached_snapshot(name: str) -> Path | None:
    """Return the cached folder of a name's main revision; None where the cache does not hold the name.

    Without `refs/main` (a download of one revision) the only snapshot there is taken.

    Raises:
        VocabularyError: The cache holds several snapshots, and none of them is main.
    """
    if not looks_like_hub_name(name):
        return None
    folder = cache_folder() / f"models--{name.replace('/', '--')}"
    snapshots = folder / "snapshots"
    main = folder / "refs" / "main"
    try:
        if main.is_file():
            revision = main.read_text(encoding="utf-8").strip()
            if REVISION.fullmatch(revision) and (snapshots / revision).is_dir():
                return snapshots / revision
        found = sorted(each for each in snapshots.iterdir() if each.is_dir()) if snapshots.is_dir() else []
    except (OSError, UnicodeDecodeError) as error:
        raise VocabularyError(f"the local cache of {name} cannot be read", where=str(folder), why=str(error)) from error
    if len(found) > 1:
        raise VocabularyError(
            f"the local cache holds several revisions of {name}",
            where=str(snapshots),
            why="none of them is main",
            fix="give the path of one of these folders",
        )
    return found[0] if found else None
