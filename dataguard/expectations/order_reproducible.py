"""A run that cannot be repeated cannot be debugged: the same seed and epoch must give the same order."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dataguard.expectations.base import CannotJudge, ObservationExpectation, Outcome
from dataguard.expectations.observation import Epoch, Observation, Samples, pairs_of_epochs
from dataguard.expectations.sampled import Found


class ExpectOrderToBeReproducible(ObservationExpectation):
    """The same seed and epoch give every rank the same order and the same first batch, twice.

    The first batch is compared by the tokens in it where they were looked at, else by its samples.
    """

    parts: ClassVar[tuple[str, ...]] = ("reproduction",)
    reasons: ClassVar[tuple[str, ...]] = ("different_order", "different_first_batch")
    fix: ClassVar[str] = "seed the sampler with seed and epoch alone, and read shards in an order that does not change"
    value_name: ClassVar[dict[str, str]] = {"different_order": "sample"}

    def judge_observation(self, seen: Observation) -> Outcome:
        found, pairs = Found(seen), list(pairs_of_epochs(seen))
        if not pairs:
            raise CannotJudge("no epoch was collected twice", "collect the same epochs again in reproduction")
        for epoch, again in pairs:
            for rank in range(max(len(epoch.ranks), len(again.ranks))):
                ours, theirs = _of(epoch, rank), _of(again, rank)
                position = first_difference(ours, theirs)
                if position is not None:
                    sample = int(ours[position]) if position < len(ours) else None
                    found.add(
                        "different_order",
                        epoch=epoch.epoch,
                        rank=rank,
                        position=position,
                        sample=sample,
                        detail=f"the second time {_stands(theirs, position)}",
                    )
                by_content = epoch.first_batch is not None and again.first_batch is not None
                if _batch(epoch, rank, seen, by_content) != _batch(again, rank, seen, by_content):
                    found.add("different_first_batch", epoch=epoch.epoch, rank=rank)
        notes = (
            []
            if len(pairs) == len(seen.epochs)
            else [f"{len(pairs)} of {len(seen.epochs)} epochs were collected twice"]
        )
        if all(epoch.first_batch is None or again.first_batch is None for epoch, again in pairs):
            notes.append("first batches are compared by the numbers of their samples: no content was looked at")
        return found.outcome(sum(len(epoch.ranks) for epoch, _ in pairs), notes=notes)


def first_difference(ours: Samples, theirs: Samples) -> int | None:
    """Return the first position at which two orders differ; None where they are the same."""
    shorter = min(len(ours), len(theirs))
    differ = np.flatnonzero(ours[:shorter] != theirs[:shorter])
    if len(differ):
        return int(differ[0])
    return None if len(ours) == len(theirs) else shorter


def _of(epoch: Epoch, rank: int) -> Samples:
    return epoch.ranks[rank] if rank < len(epoch.ranks) else np.empty(0, np.int64)


def _stands(order: Samples, position: int) -> str:
    return f"sample {order[position]} stands there" if position < len(order) else "the order has ended there"


def _batch(epoch: Epoch, rank: int, seen: Observation, by_content: bool) -> object:  # noqa: FBT001  # private
    """Return what a rank's first batch was: its content where both collections looked at that, else its samples."""
    if by_content and epoch.first_batch is not None:
        return epoch.first_batch[rank] if rank < len(epoch.first_batch) else None
    return _of(epoch, rank)[: seen.batch_size].tolist()
