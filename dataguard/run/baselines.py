"""Earlier reports that a suite compares with, read once a run. One that cannot be read is no pass, and stops nothing else."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from dataguard.expectations.baseline import Baseline, baseline_of
from dataguard.expectations.distributions_match import ANEW, ExpectDistributionsToMatchBaseline
from dataguard.result import Unjudged
from dataguard.suite.model import Suite

MOST_BYTES = 64 << 20
"""A report has some hundred KB: a larger file is something else."""


def read_baselines(suite: Suite) -> dict[str, Baseline | Unjudged]:
    """Return what the baselines of a suite hold, by path, or why that cannot be told."""
    expectations = (each.expectation for each in suite.expectations)
    comparing = (each for each in expectations if isinstance(each, ExpectDistributionsToMatchBaseline))
    paths = {each.baseline for each in comparing if each.baseline}  # null where it will be skipped
    return {path: _read(path) for path in sorted(paths)}


def _read(path: str) -> Baseline | Unjudged:
    try:
        state = Path(path).stat()
        if not stat.S_ISREG(state.st_mode):
            fix = f"name the report.json in it: {path}/report.json" if stat.S_ISDIR(state.st_mode) else ANEW
            return Unjudged(f"the baseline {path} is no file", fix)
        if state.st_size > MOST_BYTES:
            return Unjudged(f"the baseline {path} is too large for a report ({state.st_size:,} bytes)", ANEW)
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        why = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "it is no text"
        return Unjudged(f"the baseline {path} cannot be read: {why}", ANEW)
    try:
        return baseline_of(json.loads(text))
    except json.JSONDecodeError as error:
        return Unjudged(f"the baseline {path} is no report: line {error.lineno} is no JSON", ANEW)
    except (ValueError, RecursionError) as error:
        return Unjudged(f"the baseline {path} holds no distributions: {error}", ANEW)
