"""Where dataguard keeps things between runs."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder for what dataguard keeps between runs: under XDG_CACHE_HOME, else ~/.cache.

    Raises:
        OSError: The user has no home, as in a container that runs under a number of nobody's.
    """
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dataguard"
    except RuntimeError as error:
        raise OSError(str(error)) from error
