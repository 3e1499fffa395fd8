"""Units on the threads of this process: the kernels and the readers release the GIL.

The threads are daemons of our own instead of a ThreadPoolExecutor, whose threads the interpreter waits for at its exit:
Ctrl-C must end a run at once, not after the unit that each worker happens to be in.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

Unit = TypeVar("Unit")
Out = TypeVar("Out")

PATIENCE = 2.0
"""Seconds that an engine which stops early waits for the units that are being worked on."""


def run(
    work: Callable[[Unit], Out], units: Iterable[Unit], jobs: int, stopped: threading.Event | None = None
) -> Generator[Out, None, None]:
    """Yield what `work` makes of each unit, in the order of the units.

    At most `2 * jobs` units are between taken and yielded, so that memory stays bounded whatever their number. `units` is
    read in the caller's thread. When a unit fails, those behind it are not begun any more; the results of those before it
    are still yielded, then its exception is raised. Closing the generator stops likewise.

    Args:
        work: Called in a worker's thread.
        units: Read as far as needed, no further.
        jobs: Worker threads, at least 1.
        stopped: Is set when no more is wanted, for work that looks at it to end early.

    Raises:
        ValueError: `jobs` is below 1.
    """
    if jobs < 1:
        msg = f"jobs must be at least 1, not {jobs}"
        raise ValueError(msg)
    return _run(work, units, jobs, stopped or threading.Event())


def _run(
    work: Callable[[Unit], Out], units: Iterable[Unit], jobs: int, stopped: threading.Event
) -> Generator[Out, None, None]:
    tasks: queue.SimpleQueue[tuple[Unit, Future[Out]] | None] = queue.SimpleQueue()
    threads: list[threading.Thread] = []
    waiting: deque[Future[Out]] = deque()
    try:
        for unit in units:
            if len(threads) < jobs:
                threads.append(threading.Thread(target=_serve, args=(work, tasks, stopped), daemon=True))
                threads[-1].start()
            future: Future[Out] = Future()
            waiting.append(future)
            tasks.put((unit, future))
            if len(waiting) == 2 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        stopped.set()
        for _ in threads:
            tasks.put(None)
        _join(threads)


def _serve(
    work: Callable[[Unit], Out], tasks: queue.SimpleQueue[tuple[Unit, Future[Out]] | None], stopped: threading.Event
) -> None:
    """Work on tasks until told to stop; after a failure, here or elsewhere, the remaining ones are cancelled.

    Tasks are taken in order, so a cancelled one always stands behind the one that failed, whose exception is read first.
    """
    while (task := tasks.get()) is not None:
        unit, future = task
        if stopped.is_set():
            future.cancel()
            continue
        try:
            future.set_result(work(unit))
        except BaseException as error:  # noqa: BLE001  # it is the caller's to handle, in the caller's thread
            stopped.set()
            future.set_exception(error)


def _join(threads: Iterable[threading.Thread]) -> None:
    end = time.monotonic() + PATIENCE
    for thread in threads:
        if thread.is_alive():  # Ctrl-C may have come before it was
            thread.join(max(0.0, end - time.monotonic()))


def default_jobs() -> int:
    """Return the number of cores that this process may use: by affinity and by the control group's quota."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    quota = _cgroup_cores(Path("/sys/fs/cgroup"), Path("/proc/self/cgroup"))
    return max(1, cores if quota is None else min(cores, quota))


def _cgroup_cores(root: Path, own: Path) -> int | None:
    """Return the cores that control groups allow, rounded up; None where they set no limit.

    A limit may stand at any level between the process's own group and the root, which inside a container is the
    container's own group. Version 2 writes `cpu.max` ("MICROSECONDS PERIOD" or "max PERIOD"), version 1 two files.
    """
    limits = [limit for folder in _cgroup_folders(root, own) if (limit := _cores_of(folder)) is not None]
    return min(limits, default=None)


def _cgroup_folders(root: Path, own: Path) -> Iterator[Path]:
    yield from (root, root / "cpu")
    for line in _read(own).splitlines():
        _, _, group = line.partition(":")
        controllers, _, path = group.partition(":")
        if ".." in path.split("/") or (controllers and "cpu" not in controllers.split(",")):
            continue
        folder = root / "cpu" if controllers else root
        for part in path.strip("/").split("/"):
            folder /= part
            yield folder


def _cores_of(folder: Path) -> int | None:
    quota, _, period = _read(folder / "cpu.max").strip().partition(" ")
    if not quota:
        quota, period = _read(folder / "cpu.cfs_quota_us").strip(), _read(folder / "cpu.cfs_period_us").strip()
    if not (quota.isdigit() and period.isdigit()) or int(period) == 0:
        return None
    return -(-int(quota) // int(period))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
