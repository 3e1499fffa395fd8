"""Real ranks on this machine: started, watched, and ended whatever happens."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dataguard.errors import UsageError
from dataguard.expectations.observation import Epoch, Observation, Resume, Stall, Told, Worker
from dataguard.sampler.content import Content
from dataguard.sampler.loaders import factory_of
from dataguard.sampler.rank import (
    COLLECTED,
    DONE,
    PASSES,
    RESUME,
    RUNNING,
    STARTING,
    Job,
    main,
    order_file,
    progress_of,
)
from dataguard.sampler.settings import Settings
from dataguard.sampler.simulate import torch_of

TIMEOUT = 60.0
"""Seconds without a batch after which a rank has stalled."""
START = 300.0
"""Seconds that all ranks may take to start: they load torch, and a machine may have few cores."""
TICK = 0.05


@dataclass(frozen=True)
class Collected:
    """What real ranks did.

    Args:
        seen: The observation.
        facts: How it was collected: backend, device, and what the ranks found together.
    """

    seen: Observation
    facts: Mapping[str, Any]


def backend_for(asked: str, world_size: int) -> str:
    """Return which backend ranks use: nccl where every rank has a GPU of its own, else gloo.

    Raises:
        UsageError: torch is not installed, or nccl is asked for and there are not enough GPUs.
    """
    torch = torch_of("a run of real ranks")
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    enough = gpus >= world_size and torch.distributed.is_nccl_available()
    if asked == "nccl" and not enough:
        why = f"{world_size} ranks need a GPU each, and there are {gpus}"
        raise UsageError("nccl cannot be used", where="--backend nccl", why=why, fix="give --backend gloo")
    return "nccl" if enough and asked != "gloo" else "gloo"


def collect(
    samples: int,
    settings: Settings,
    *,
    backend: str = "gloo",
    content: Content | None = None,
    loader: str | None = None,
    timeout: float = TIMEOUT,
) -> Collected:
    """Start real ranks, each with its own sampler, loader and workers, and return what they took.

    Args:
        samples: Length of the dataset.
        backend: gloo, nccl, or auto.
        content: The rows of DATA.
        loader: A user's factory (module:factory).
        timeout: Seconds without a batch after which a rank has stalled, and all are ended.

    Raises:
        UsageError: torch is not installed, no time is given, or a rank failed; the message names rank, epoch and step.
    """
    if not timeout > 0:
        raise UsageError(f"--timeout cannot be {timeout:g}", why="it must be a number of seconds above 0")
    backend = backend_for(backend, settings.world_size)
    if loader is not None:
        with redirect_stdout(sys.stderr):  # stdout is the report's, whatever a module prints as it is imported
            factory_of(loader)  # what is wrong with it is told before any process starts
    with tempfile.TemporaryDirectory(prefix="dataguard-ranks-") as folder:
        most = 2 * (samples + settings.world_size * settings.batch_size)
        job = Job(samples, settings, backend, Path(folder), content, loader, most, multiprocessing.get_start_method())
        progress = progress_of(job.folder, settings.world_size, "w+")
        processes = _Ranks(job)
        try:
            stalled = processes.watch(progress, timeout)
        finally:
            processes.end()
        return _observed(job, progress, stalled, timeout)


class _Ranks:
    """The processes of the ranks; each leads a group of its own, with the workers of its loader."""

    def __init__(self, job: Job) -> None:
        self._job, context = job, multiprocessing.get_context("spawn")
        self._processes = [
            context.Process(target=main, args=(rank, job), name=f"dataguard-rank-{rank}")
            for rank in range(job.settings.world_size)
        ]

    def watch(self, progress: npt.NDArray[np.int64], timeout: float) -> bool:
        """Start all, and wait until they are done; return whether one has stalled.

        Raises:
            UsageError: One failed.
        """
        for each in self._processes:
            each.start()
        before, since = progress.copy(), time.monotonic()
        while any(each.exitcode is None for each in self._processes):
            self._refuse_failed(progress)
            if not np.array_equal(before, progress):
                before, since = progress.copy(), time.monotonic()
            patience = START if (progress[:, 0] == STARTING).any() else timeout
            if time.monotonic() - since > patience:
                self._refuse_not_started(progress)
                return True
            self._wait()
        self._refuse_failed(progress)
        return False

    def _wait(self) -> None:
        wait([each.sentinel for each in self._processes if each.exitcode is None], TICK)

    def _refuse_failed(self, progress: npt.NDArray[np.int64]) -> None:
        """Raise where a rank has ended otherwise than it should: the first one, for the others then fail to reach it."""
        codes = [each.exitcode for each in self._processes]
        failed = [rank for rank, code in enumerate(codes) if code or (code == 0 and progress[rank, 0] != DONE)]
        if not failed:
            return
        ranks = range(len(self._processes))  # the first one may still be about to end
        said = {rank: found for rank in ranks if (found := _report(self._job.folder / f"error-{rank}.json"))}
        for rank in failed:
            if rank not in said:
                code = self._processes[rank].exitcode or 0
                why = (
                    f"it was ended by signal {-code}"
                    if code < 0
                    else f"it ended with status {code}, before it was done"
                )
                raise UsageError(f"rank {rank} died {_at(progress[rank])}", where=self._where, why=why)
        if said:
            rank, first = min(said.items(), key=lambda each: each[1]["at"])
            what = first["what"] or f"rank {rank} failed {_at(progress[rank])}"
            raise UsageError(what, where=self._where, why=first["why"], fix=first["fix"])

    def _refuse_not_started(self, progress: npt.NDArray[np.int64]) -> None:
        waiting = np.flatnonzero(progress[:, 0] == STARTING).tolist()
        if waiting:
            why = f"ranks {', '.join(map(str, waiting[:8]))} did not start in {START:.0f} s"
            raise UsageError("the ranks do not come together", where=self._where, why=why)

    @property
    def _where(self) -> str | None:
        return None if self._job.loader is None else f"--loader {self._job.loader}"

    def end(self) -> None:
        """End every rank and every worker of its loader; nothing is left running."""
        for each in self._processes:
            if each.pid is None:
                continue
            with suppress(ProcessLookupError, PermissionError):  # it has not become the leader of its group yet
                os.killpg(each.pid, signal.SIGKILL)
            each.kill()
        for each in self._processes:
            if each.pid is not None:
                each.join()
                each.close()


def _at(place: npt.NDArray[np.int64]) -> str:
    state, _, epoch, batches = place.tolist()
    return "as it started" if state == STARTING else f"in epoch {epoch}, step {batches}"


def _observed(job: Job, progress: npt.NDArray[np.int64], stalled: bool, timeout: float) -> Collected:  # noqa: FBT001  # private
    """Return what the ranks wrote, as far as they came."""
    settings = job.settings
    ranks, states = range(settings.world_size), progress.tolist()
    reports = [_report(job.folder / f"rank-{rank}.json") for rank in ranks]
    runs: list[tuple[Epoch, ...]] = []
    still = [place[1:3] for place in states if place[0] in {STARTING, RUNNING}] if stalled else []
    for run in range(PASSES):
        found = []
        for epoch in range(settings.epochs):
            if any([run, epoch] > each for each in still):  # others have gone on; nobody would, in a training run
                continue
            files = [order_file(job.folder, rank, run, epoch) for rank in ranks]
            if (run, epoch) != (0, 0) and not any(file.exists() for file in files):
                continue
            orders = tuple(np.fromfile(file, np.int64) if file.exists() else np.empty(0, np.int64) for file in files)
            first = [report["first"][run * settings.epochs + epoch] for report in reports if report is not None]
            known = len(first) == len(ranks) and all(each is not None for each in first)
            counts = [report["batches"][run * settings.epochs + epoch] for report in reports if report is not None]
            batches = tuple(counts) if len(counts) == len(ranks) else None
            found.append(Epoch(epoch, orders, tuple(first) if known else None, batches))
        runs.append(tuple(found))
    stalls = [
        Stall(epoch, rank, batches, timeout)
        for rank, (state, _, epoch, batches) in enumerate(states)
        if stalled and state in {STARTING, RUNNING}
    ]
    told = [report["told"] for report in reports if report is not None and report["told"] is not None]
    compared = [report["compared"] for report in reports if report is not None]
    seen = Observation(
        samples=job.samples,
        world_size=settings.world_size,
        batch_size=settings.batch_size,
        drop_last=settings.drop_last,
        shuffle=settings.shuffle,
        seed=settings.seed,
        epochs=runs[0],
        reproduction=runs[1],
        arguments=tuple(Told(**each) for each in told),
        workers=tuple(_worker(each) for report in reports if report is not None for each in report["workers"]),
        resumes=() if stalled or not runs[0] else _resumes(job, runs[0][-1], reports),
        stalls=tuple(stalls),
        told=_notes(states, stalled=stalled),
    )
    devices = sorted({report["device"] for report in reports if report is not None})
    facts = {
        "backend": job.backend,
        "device": ", ".join(devices) or None,
        "compared": compared[0] if compared else None,
    }
    return Collected(seen, facts if job.loader is None else {**facts, "loader": job.loader})


def _resumes(job: Job, unbroken: Epoch, reports: Sequence[Mapping[str, Any] | None]) -> tuple[Resume, ...]:
    """Return what followed where loaders that keep their state were stopped in the last epoch; nothing where they do not."""
    consumed = [None if report is None else report["consumed"] for report in reports]
    if None in consumed or len(set(consumed)) != 1:
        return ()
    ranks, epoch = range(job.settings.world_size), job.settings.epochs - 1
    followed = tuple(np.fromfile(order_file(job.folder, rank, RESUME, epoch), np.int64) for rank in ranks)
    world, batch = job.settings.world_size, job.settings.batch_size
    return (Resume(epoch, consumed[0] or 0, unbroken.ranks, followed, world, batch),)


def _notes(states: Sequence[Sequence[int]], *, stalled: bool) -> tuple[str, ...]:
    ended = [rank for rank, (state, *_) in enumerate(states) if state in {COLLECTED, DONE}]
    if not stalled:
        return ()
    return (f"all ranks were ended: {len(ended)} of {len(states)} had taken all that they get",)


def _report(path: Path) -> dict[str, Any] | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _worker(given: Mapping[str, Any]) -> Worker:
    return Worker(
        epoch=given["epoch"],
        rank=given["rank"],
        worker=given["worker"],
        samples=np.array(given["samples"], np.int64),
        seed=given["seed"],
        draws=tuple(given["draws"]) or None,
    )
