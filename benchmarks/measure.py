"""Times, peaks and the machine they were taken on."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from dataguard.version import __version__

HERE = Path(__file__).resolve().parent
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
PACKAGES = ("numpy", "numba", "pyarrow", "polars", "datasets", "pandas", "great-expectations")
FURTHER = ("datatrove", "ai2-olmo-core", "spacy")


def seconds(work: Callable[[], object]) -> float:
    """Return how long a call takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


class Taken(NamedTuple):
    """Median seconds of a call: by the clock, and of all cores of this process together."""

    wall: float
    cpu: float


def alternate(works: Mapping[str, Callable[[], object]], runs: int) -> dict[str, Taken]:
    """Return what each takes, in rounds that take all of them in turn, after a first round that is thrown away.

    What disturbs the machine for a while then disturbs all of them.
    """
    taken: dict[str, list[Taken]] = {name: [] for name in works}
    for number in range(runs + 1):
        for name, work in works.items():
            before = time.process_time()
            once = Taken(seconds(work), time.process_time() - before)
            if number:
                taken[name].append(once)
    return {name: Taken(*map(statistics.median, zip(*each, strict=True))) for name, each in taken.items()}


def threaded(work: Callable[[Any], object], things: Sequence[Any]) -> None:
    """Do the same to all things, on every core."""
    with ThreadPoolExecutor(CORES) as pool:
        for _ in pool.map(work, things):
            pass


def child(script: str, *arguments: str, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run one of the scripts beside this file in a fresh process; return the JSON of its last line.

    Raises:
        RuntimeError: It failed; the message ends with what it said.
    """
    command = [sys.executable, str(HERE / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})})
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        raise RuntimeError(f"{script} {' '.join(arguments)}\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def peak_mib() -> float:
    """Return the most memory that this process has held (VmHWM), in MiB."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return float("nan")


def machine() -> list[str]:
    """Return what results depend on, a fact a line."""
    load = ", ".join(f"{number:.2f}" for number in os.getloadavg())
    versions = {name: _version(name) for name in (*PACKAGES, *FURTHER)}
    return [
        f"begun {datetime.now(UTC).isoformat(timespec='minutes')}, load average at start {load}",
        f"{_cpu()}, {CORES} cores, {_memory_gib():.0f} GiB, {platform.system()} {platform.release()}",
        f"dataguard {__version__}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {number}" for name, number in versions.items()),
    ]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
