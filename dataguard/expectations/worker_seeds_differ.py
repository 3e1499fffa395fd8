"""Workers with the same random stream give the same augmentations: what looks like variety is repetition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from dataguard.expectations.base import ObservationExpectation, Outcome
from dataguard.expectations.observation import Observation, Worker
from dataguard.expectations.sampled import Found


class ExpectWorkerSeedsToDiffer(ObservationExpectation):
    """No two workers, of any rank, have the same random stream in an epoch, and no worker has it again in another.

    What they drew first is compared where it is known, else their seeds.
    """

    parts: ClassVar[tuple[str, ...]] = ("worker_streams",)
    reasons: ClassVar[tuple[str, ...]] = ("same_worker_seed", "same_seed_each_epoch")
    fix: ClassVar[str] = "seed NumPy and random in worker_init_fn from torch.initial_seed(), the rank and the epoch"

    def judge_observation(self, seen: Observation) -> Outcome:
        found = Found(seen)
        workers = [each for each in seen.workers if each.seed is not None or each.draws]
        by_epoch: dict[int, list[Worker]] = {}
        by_worker: dict[tuple[int, int], list[Worker]] = {}
        for each in workers:
            by_epoch.setdefault(each.epoch, []).append(each)
            by_worker.setdefault((each.rank, each.worker), []).append(each)
        for each, other in (pair for group in by_epoch.values() for pair in _alike(group)):
            if (each.rank, each.worker) != (other.rank, other.worker):
                detail = f"worker {each.worker} draws what worker {other.worker} of rank {other.rank} draws"
                found.add("same_worker_seed", epoch=each.epoch, rank=each.rank, value=each.seed, detail=detail)
        for each, other in (pair for group in by_worker.values() for pair in _alike(group)):
            if each.epoch != other.epoch:
                detail = f"worker {each.worker} draws what it drew in epoch {other.epoch}"
                found.add("same_seed_each_epoch", epoch=each.epoch, rank=each.rank, value=each.seed, detail=detail)
        return found.outcome(len(workers))


def _alike(group: Sequence[Worker]) -> list[tuple[Worker, Worker]]:
    """Return each worker whose stream an earlier one of the group has, with the first such one."""
    pairs = []
    like: dict[tuple[str, float], list[tuple[int, Worker]]] = {}
    for place, each in enumerate(group):
        marks: list[tuple[str, float]] = [("seed", each.seed)] if each.seed is not None else []
        marks += [("draw", each.draws[0])] if each.draws else []
        alike = [found for mark in marks if (found := _first(each, like.get(mark, ()))) is not None]
        if alike:
            pairs.append((each, min(alike, key=lambda found: found[0])[1]))
        for mark in marks:
            like.setdefault(mark, []).append((place, each))
    return pairs


def _first(worker: Worker, others: Sequence[tuple[int, Worker]]) -> tuple[int, Worker] | None:
    """Return the first of others, told with their places, that has a worker's stream."""
    return next((other for other in others if worker.same_stream(other[1])), None)
