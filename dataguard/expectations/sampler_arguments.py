"""A rank outside the world, or one without samples, waits for ever or takes what is another's."""

from __future__ import annotations

from typing import ClassVar

from dataguard.expectations.base import ObservationExpectation, Outcome
from dataguard.expectations.observation import Epoch, Observation
from dataguard.expectations.sampled import Found

SMALL = "world_larger_than_data"


class ExpectSamplerArgumentsToBeValid(ObservationExpectation):
    """Every rank lies in [0, world), the world has a rank, and every rank gets a sample."""

    reasons: ClassVar[tuple[str, ...]] = ("bad_rank", "bad_world_size", "no_samples", SMALL)
    fix: ClassVar[str] = (
        "give every process its own rank and the number of all processes, and no more ranks than samples"
    )
    value_name: ClassVar[dict[str, str]] = {"bad_rank": "rank", "bad_world_size": "world size"}

    def judge_observation(self, seen: Observation) -> Outcome:
        found, notes = Found(seen), []
        ranks = seen.epochs[0].ranks
        if seen.world_size < 1:
            found.add("bad_world_size", value=seen.world_size)
        for told in seen.arguments:
            if told.world_size < 1:
                found.add("bad_world_size", rank=told.rank, value=told.world_size)
            elif not 0 <= told.rank < told.world_size:
                found.add("bad_rank", rank=told.rank, value=told.rank, detail=f"of a world of {told.world_size}")
        for epoch in seen.epochs:
            if len(epoch.ranks) != seen.world_size >= 1:
                detail = f"{len(epoch.ranks)} ranks took samples"
                found.add("bad_world_size", epoch=epoch.epoch, value=seen.world_size, detail=detail)
            _find_idle(epoch, seen, found)
        if seen.samples < seen.world_size:
            found.reasons[SMALL] += 1
            notes = [f"{seen.world_size:,} ranks share {seen.samples:,} samples: some are taken by several, or by none"]
        return found.outcome(max(len(ranks), len(seen.arguments), 1), notes=notes, holding=[SMALL])


def _find_idle(epoch: Epoch, seen: Observation, found: Found) -> None:
    """Find the ranks without a sample, and those whose samples fill no batch."""
    for rank, order in enumerate(epoch.ranks):
        batches = seen.batches(len(order)) if epoch.batches is None else epoch.batches[rank]
        if not len(order):
            found.add("no_samples", epoch=epoch.epoch, rank=rank)
        elif not batches:
            detail = f"its {len(order):,} samples fill no batch of {seen.batch_size:,}"
            found.add("no_samples", epoch=epoch.epoch, rank=rank, detail=detail)
