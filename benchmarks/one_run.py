"""One run in a process of its own: its seconds and its peak memory, as JSON.

    python benchmarks/one_run.py DATA SUITE [JSON of further arguments of dataguard.validate]

The first run over a few rows loads (or compiles) what the timed one needs.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import suites
from measure import peak_mib, seconds


def main() -> None:
    """Run it."""
    data, name = Path(sys.argv[1]), sys.argv[2]
    options = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
    suite = suites.suite_named(name)
    suites.validate(data, suite, **{**options, "head": 1})
    before = peak_mib()
    found = []
    with tempfile.TemporaryDirectory() as out:
        taken = seconds(lambda: found.append(suites.validate(data, suite, out=Path(out) / "out", **options)))
    meta = found[0].meta
    print(
        json.dumps(
            {
                "seconds": taken,
                "peak": peak_mib(),
                "before": before,
                "tokens": meta["tokens"],
                "rows": meta["rows"],
            }
        )
    )


main()
