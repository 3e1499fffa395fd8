"""Where dataguard keeps things between runs."""

from __future__ import annotations

import os
from pathlib import Path

AUTO = "auto"


def cache_folder() -> Path:
    """Return the folder for what dataguard keeps between runs: under XDG_CACHE_HOME, else ~/.cache.

    Raises:
        OSError: The user has no home, as in a container that runs under a number of nobody's.
    """
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dataguard"
    except RuntimeError as error:
        raise OSError(str(error)) from error


def store_folder(told: str | Path | None) -> Path:
    """Return the folder of the store that is told; `auto` (or None) is the one in the user's cache.

    Raises:
        OSError: The user has no folder for a cache.
    """
    return cache_folder() / "store" if told in {None, AUTO} else Path(str(told))
