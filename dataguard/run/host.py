"""What may differ from run to run, and therefore stands in run.json beside the report."""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from dataguard.run.timings import Timings
from dataguard.version import __version__


def run_json(started: float, timings: Timings, facts: Mapping[str, Any], remembered: str | None = None) -> str:
    """Return run.json of a run that has judged rows.

    Args:
        started: In seconds since the epoch.
        facts: What else there is to tell of it.
        remembered: When the run began that found the verdict; None where this one did.
    """
    told = host_facts(started, timings=timings.to_dict(), **facts, remembered=remembered)
    return json.dumps(told, indent=2, default=sorted) + "\n"


def host_facts(started: float, **told: Any) -> dict[str, Any]:
    """Return when a run began, how long it took, what else is told of it, and where it ran.

    Args:
        started: In seconds since the epoch.
    """
    return {
        "dataguard": __version__,
        "started": moment(started),
        "seconds": round(time.time() - started, 3),
        **told,
        "host": platform.node(),
        "platform": platform.platform(),
        "python": sys.version.split()[0],
    }


def moment(seconds: float) -> str:
    """Return a time, in seconds since the epoch, as people write it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
