"""One rank of a real run: a process of its own, which iterates over its loader and writes down what it took.

What it takes is written as it comes, so that whoever watches sees where it stands, and knows its order even if it never ends.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dataguard.errors import UsageError
from dataguard.sampler.content import Content
from dataguard.sampler.device import counts_of, device_of, digest_of, hexadecimal
from dataguard.sampler.loaders import Rows, factory_of, iterated, our_batches, their_batches
from dataguard.sampler.settings import Settings

STARTING, RUNNING, COLLECTED, DONE = range(4)
PASSES = 2
"""Every epoch is collected twice, by loaders of their own."""
RESUME = PASSES
"""The number of the run in which loaders that keep their state are stopped and resumed."""
PROGRESS = "progress"
DIES_WITH_PARENT = 1
LONG = timedelta(days=1)
"""A rank never gives up by itself: whoever watches ends it."""


@dataclass(frozen=True)
class Job:
    """What the ranks are to do.

    Args:
        samples: Length of the dataset.
        settings: Of sampler and loader.
        backend: gloo or nccl.
        folder: Where ranks meet and write.
        content: The rows of DATA, for what is in first batches.
        loader: A user's factory (module:factory); None takes torch's DistributedSampler and DataLoader.
        most: Samples of a rank past which it is ended: its loader has no end.
        start_method: How workers of loaders start, as in a process that torchrun starts.
    """

    samples: int
    settings: Settings
    backend: str
    folder: Path
    content: Content | None
    loader: str | None
    most: int
    start_method: str


def progress_of(folder: Path, ranks: int, mode: Any = "r+") -> npt.NDArray[np.int64]:
    """Return where each rank stands: state, pass, epoch, batches so far. Shape (ranks, 4), shared by all processes."""
    return np.memmap(folder / PROGRESS, np.int64, mode, shape=(ranks, 4))


def order_file(folder: Path, rank: int, run: int, epoch: int) -> Path:
    """Return the file of what a rank took, int64 numbers one after the other."""
    return folder / f"order-{run}-{epoch}-{rank}"


def main(rank: int, job: Job) -> None:
    """Be a rank. What it saw is in `rank-R.json`, its orders beside it; what went wrong in `error-R.json`."""
    _leave_with_parent()
    multiprocessing.set_start_method(job.start_method, force=True)
    try:
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            _quiet(nowhere)
            found = _collected(rank, job)
        _write(job.folder / f"rank-{rank}.json", found)
    except UsageError as error:
        _fail(rank, job, error.what, error.why, error.fix)
    except BaseException as error:  # noqa: BLE001  # whatever a user's loader raises is told to whoever watches
        _fail(rank, job, None, f"{type(error).__name__}: {error}", None)


def _fail(rank: int, job: Job, what: str | None, why: str | None, fix: str | None) -> None:
    """Say what went wrong, and when, before others can notice that this rank is gone; end."""
    _write(job.folder / f"error-{rank}.json", {"what": what, "why": why, "fix": fix, "at": time.monotonic_ns()})
    sys.exit(1)


def _leave_with_parent() -> None:
    """Form a group of processes of its own, with the workers of its loader, that ends where the parent does."""
    os.setsid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGKILL)


def _quiet(nowhere: Any) -> None:
    """Let nothing that a loader prints come between the lines of the report."""
    os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _write(path: Path, found: Any) -> None:
    staged = path.with_suffix(".new")
    staged.write_text(json.dumps(found), encoding="utf-8")
    staged.replace(path)


@contextmanager
def _together(torch: Any, rank: int, job: Job) -> Iterator[Any]:
    """Yield torch.distributed, joined with the other ranks.

    A rank that fails stays joined until it has said so: the others fail as soon as it leaves, and are not to be the first.
    """
    dist = torch.distributed
    if sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # all ranks run here, whatever this machine is called
    meeting = f"file://{(job.folder / 'meeting').absolute()}"
    dist.init_process_group(job.backend, meeting, rank=rank, world_size=job.settings.world_size, timeout=LONG)
    yield dist
    dist.destroy_process_group()


def _collected(rank: int, job: Job) -> dict[str, Any]:
    """Collect every epoch twice, and compare with the other ranks."""
    import torch  # noqa: PLC0415  # in the ranks alone

    torch.set_num_threads(1)
    progress, settings = progress_of(job.folder, job.settings.world_size), job.settings
    factory = None if job.loader is None else factory_of(job.loader)
    device = device_of(torch, job.backend, rank)
    if job.backend == "nccl":
        torch.cuda.set_device(device)
    first, workers, told, digests, batches = [], [], None, [], []
    with _together(torch, rank, job) as dist:
        for run in range(PASSES):
            for epoch in range(settings.epochs):
                progress[rank] = RUNNING, run, epoch, 0
                if factory is None:
                    rows = Rows(job.samples, job.content, settings.batch_size)
                    loader, read = our_batches(torch, rank, settings, epoch, rows)
                else:
                    loader, read = their_batches(factory, rank, settings, epoch)
                told = told or _told(loader)
                order, content, by_worker = _iterate(loader, read, rank, job, progress)
                batches.append(int(progress[rank, 3]))
                digests.append(digest_of(torch, torch.from_numpy(order).to(device)))
                seen = None if content is None else hexadecimal(digest_of(torch, torch.from_numpy(content).to(device)))
                first.append(seen)
                if not run:
                    workers += [{"epoch": epoch, "rank": rank, **each} for each in by_worker]
        consumed = None
        if factory is not None and all(hasattr(loader, name) for name in ("state_dict", "load_state_dict")):
            consumed = _resume(factory, rank, job, progress, batches[-1] // 2)
        progress[rank, 0] = COLLECTED
        compared = _compare(torch, dist, digests, rank, job)
    progress[rank, 0] = DONE
    return {
        "first": first,
        "batches": batches,
        "consumed": consumed,
        "workers": workers,
        "told": told,
        "device": str(device),
        "compared": compared,
    }


def _iterate(
    loader: Any, read: Any, rank: int, job: Job, progress: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64] | None, list[dict[str, Any]]]:
    """Take all batches of a loader; return the samples, what the first batch held, and what each worker took and drew."""
    _, run, epoch, _ = progress[rank].tolist()
    parts, content = [np.empty(0, np.int64)], None
    streams: dict[int, tuple[int, tuple[float, ...]]] = {}
    taken: dict[int, list[int]] = {}
    total = 0
    with order_file(job.folder, rank, run, epoch).open("wb", buffering=0) as file:
        for number, given in enumerate(iterated(loader)):
            batch = read(given)
            parts.append(np.array(batch.samples, np.int64))
            if number == 0:
                content = batch.content
            if batch.worker is not None:
                worker, seed, draws = batch.worker
                streams.setdefault(worker, (seed, draws))
                taken.setdefault(worker, []).extend(batch.samples)
            file.write(parts[-1].tobytes())
            progress[rank, 3] = number + 1
            total += max(len(batch.samples), 1)  # a batch of nothing is a step, too
            if total > job.most:
                why = f"rank {rank} is at batch {number + 1:,} of epoch {epoch}, of {job.samples:,} samples that there are"
                raise UsageError("the loader never ends", where="--loader", why=why)
    order = np.concatenate(parts)
    outside = order[(order < 0) | (order >= job.samples)]
    if len(outside):
        why = f"rank {rank} took sample {outside[0]} in epoch {epoch}; there are {job.samples:,}"
        fix = "give --samples N, or DATA, of the dataset that the loader reads"
        raise UsageError("the loader gives samples that there are not", where="--loader", why=why, fix=fix)
    by_worker = [
        {"worker": worker, "seed": seed, "draws": list(draws), "samples": taken[worker]}
        for worker, (seed, draws) in sorted(streams.items())
    ]
    return order, content, by_worker


def _resume(factory: Any, rank: int, job: Job, progress: npt.NDArray[np.int64], steps: int) -> int | None:
    """Stop a loader in the middle of the last epoch and go on with another that has its state; return the samples before that.

    None where it has no state after all: Accelerate's loaders have the methods whether they keep one or not.
    """
    epoch, consumed = job.settings.epochs - 1, 0
    progress[rank] = RUNNING, RESUME, epoch, 0
    loader, read = their_batches(factory, rank, job.settings, epoch)
    batches = iterated(loader)
    for number in range(steps):
        consumed += len(read(next(batches)).samples)
        progress[rank, 3] = number + 1
    try:
        state = loader.state_dict()
    except (AttributeError, NotImplementedError):
        return None
    del batches
    again, read = their_batches(factory, rank, job.settings, epoch, resumed=True)
    again.load_state_dict(state)
    _iterate(again, read, rank, job, progress)
    return consumed


def _told(loader: Any) -> dict[str, int] | None:
    """Return what a loader's sampler was told, where it says so."""
    sampler = getattr(loader, "sampler", None)
    names = {"rank": "rank", "world_size": "num_replicas", "seed": "seed"}
    found = {name: value for name, theirs in names.items() if isinstance(value := getattr(sampler, theirs, None), int)}
    return found if {"rank", "world_size"} <= set(found) else None


def _compare(torch: Any, dist: Any, digests: list[Any], rank: int, job: Job) -> dict[str, Any]:
    """Return what the ranks find together: whether both passes agree on all of them, and how often samples came."""
    device = device_of(torch, job.backend, rank)
    where = device if job.backend == "nccl" else "cpu"
    epochs = job.settings.epochs
    ours = torch.stack(digests).to(where)
    everyones = [torch.empty_like(ours) for _ in range(job.settings.world_size)]
    dist.all_gather(everyones, ours)
    agree = [bool(torch.equal(each[:epochs], each[epochs:])) for each in everyones]
    coverage = []
    for epoch in range(epochs):
        order = np.fromfile(order_file(job.folder, rank, 0, epoch), np.int64)
        counts = counts_of(torch, torch.from_numpy(order).to(device), job.samples).to(where)
        dist.all_reduce(counts)
        never, again = int((counts == 0).sum()), int((counts > 1).sum())
        coverage.append({"epoch": epoch, "never_seen": never, "seen_again": again})
    return {"ranks_that_agree": sum(agree), "coverage": coverage}
