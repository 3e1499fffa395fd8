"""An iterable dataset that is not split among the workers comes as often as there are workers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dataguard.expectations.base import ObservationExpectation, Outcome
from dataguard.expectations.observation import Observation, Samples, joined
from dataguard.expectations.sampled import Found, Taken, repeated


class ExpectWorkersToBeDisjoint(ObservationExpectation):
    """No sample comes from several workers of a rank in an epoch."""

    parts: ClassVar[tuple[str, ...]] = ("workers",)
    reasons: ClassVar[tuple[str, ...]] = ("worker_duplicate",)
    fix: ClassVar[str] = "split an iterable dataset among its workers by torch.utils.data.get_worker_info()"
    value_name: ClassVar[str] = "sample"

    def judge_observation(self, seen: Observation) -> Outcome:
        found, taken = Found(seen), 0
        of_rank: dict[tuple[int, int], dict[int, list[Samples]]] = {}
        for each in seen.workers:
            if each.samples is not None:
                of_rank.setdefault((each.epoch, each.rank), {}).setdefault(each.worker, []).append(each.samples)
        for (epoch, rank), by_worker in of_rank.items():
            workers = list(by_worker)
            orders = [joined(by_worker[worker]) for worker in workers]
            taken += sum(map(len, orders))
            parts = Taken.of(orders, repeated([seen.identities(each) for each in orders]))
            what = seen.identities(parts.samples)
            order = np.lexsort((parts.positions, parts.ranks, what))
            starts = np.flatnonzero(np.concatenate([[True], what[order][1:] != what[order][:-1]]))
            firsts = np.repeat(order[starts], np.diff(np.append(starts, len(order)))) if len(order) else order
            again = parts.ranks[order] != parts.ranks[firsts]
            for place, first in zip(order[again].tolist(), firsts[again].tolist(), strict=True):
                found.add(
                    "worker_duplicate",
                    epoch=epoch,
                    rank=rank,
                    sample=int(parts.samples[place]),
                    detail=f"workers {workers[parts.ranks[first]]} and {workers[parts.ranks[place]]}",
                )
        return found.outcome(taken)
