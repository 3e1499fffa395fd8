"""What may differ from run to run, and therefore stands in run.json beside the report."""

from __future__ import annotations

import platform
import sys
import time
from datetime import UTC, datetime
from typing import Any

from dataguard.version import __version__


def host_facts(started: float, **told: Any) -> dict[str, Any]:
    """Return when a run began, how long it took, what else is told of it, and where it ran.

    Args:
        started: In seconds since the epoch.
    """
    return {
        "dataguard": __version__,
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - started, 3),
        **told,
        "host": platform.node(),
        "platform": platform.platform(),
        "python": sys.version.split()[0],
    }
