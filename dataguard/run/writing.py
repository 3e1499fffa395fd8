"""What the operating system refuses to write, as an error of ours."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dataguard.errors import OutputError
from dataguard.shards.names import STAGING


@contextmanager
def writing(place: Path, what: str = "an output cannot be written") -> Iterator[None]:
    """Turn what the operating system refuses inside the block into an `OutputError` about `place`."""
    try:
        yield
    except _errors() as error:
        refused = _refusal(error)
        if refused is None:
            raise
        fix = "give another folder with --out"
        if refused.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            fix = "free some space, or give a folder on another disk with --out"
            fix += "; a smaller --quarantine-limit, or no --clean, needs less"
        elif isinstance(refused, FileExistsError | NotADirectoryError):
            fix = "remove the file that is in the way, or give another folder with --out"
        why = (refused.strerror or str(refused) or type(refused).__name__).lower()
        raise OutputError(what, where=str(_placed(place)), why=why, fix=fix) from error


def _errors() -> tuple[type[Exception], ...]:
    """Return the errors that may be refusals. Those of Polars are none where it is not loaded: then nobody raises them."""
    polars = sys.modules.get("polars")
    return (OSError,) if polars is None else (OSError, polars.exceptions.ComputeError)


def _refusal(error: Exception) -> OSError | None:
    """Return what the operating system refused; None for another error. Polars says it in words alone."""
    found = re.search(r"\(os error (\d+)\)", str(error))
    if isinstance(error, OSError) and (error.errno is not None or found is None):
        return error
    return None if found is None else OSError(int(found[1]), os.strerror(int(found[1])))


def _placed(path: Path) -> Path:
    """Return where something that is staged shall lie: nobody knows the staging folder, and it will be gone."""
    return Path(*(part for part in path.parts if not part.startswith(STAGING)))
