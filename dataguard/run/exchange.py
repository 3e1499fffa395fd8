"""Two names of a file system, swapped in one step."""

from __future__ import annotations

import os
from pathlib import Path


def exchange(one: Path, other: Path) -> bool:
    """Swap two names in one step; False where the platform or the file system cannot."""
    import ctypes  # noqa: PLC0415  # a run that places nothing needs none of it, and may take no longer than this does

    system = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if hasattr(system, "renameat2"):  # Linux: AT_FDCWD, RENAME_EXCHANGE
        return bool(system.renameat2(-100, names[0], -100, names[1], 2) == 0)
    if hasattr(system, "renamex_np"):  # macOS: RENAME_SWAP
        return bool(system.renamex_np(*names, 2) == 0)
    return False
