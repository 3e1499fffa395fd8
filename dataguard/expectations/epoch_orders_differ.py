"""A sampler that is not told of the epoch shuffles every epoch alike: the model sees the same batches again and again."""

from __future__ import annotations

import hashlib
from math import prod
from typing import ClassVar

from dataguard.expectations.base import CannotJudge, ObservationExpectation, Outcome
from dataguard.expectations.observation import Observation
from dataguard.expectations.sampled import Found

CHANCE = 1e-6
"""Two shuffled orders may be equal by chance; a single rank's count as the same only where that is less likely."""
ENOUGH = 20
"""Draws past which chance is no matter any more: 1 / 20! at most."""


class ExpectEpochOrdersToDiffer(ObservationExpectation):
    """No two epochs have the same order, whatever the sampler was told; with shuffle: false they may."""

    reasons: ClassVar[tuple[str, ...]] = ("same_order",)
    fix: ClassVar[str] = "call sampler.set_epoch(epoch) before each epoch, and restore the epoch at a resume"

    shuffle: bool = True

    def judge_observation(self, seen: Observation) -> Outcome:
        found = Found(seen)
        epochs = len(seen.epochs)
        if not self.shuffle:
            return found.outcome(epochs, notes=["orders may repeat: shuffle is false"])
        if epochs < 2:
            raise CannotJudge("only one epoch was observed", "observe two: --epochs 2")
        whole: dict[bytes, int] = {}
        single: dict[tuple[int, bytes], int] = {}
        for epoch in seen.epochs:
            digests = [hashlib.blake2b(order.tobytes(), digest_size=16).digest() for order in epoch.ranks]
            everything = b"".join(digests)
            if everything in whole and seen.samples > 1 and sum(map(len, epoch.ranks)) > 1:
                found.add("same_order", epoch=epoch.epoch, detail=f"the order of epoch {whole[everything]}")
            elif everything not in whole:
                for rank, digest in enumerate(digests):
                    if (rank, digest) in single and _chance(seen.samples, len(epoch.ranks[rank])) < CHANCE:
                        detail = f"the rank's order of epoch {single[rank, digest]}"
                        found.add("same_order", epoch=epoch.epoch, rank=rank, detail=detail)
            whole.setdefault(everything, epoch.epoch)
            for rank, digest in enumerate(digests):
                single.setdefault((rank, digest), epoch.epoch)
        return found.outcome(epochs)


def _chance(samples: int, taken: int) -> float:
    """Return how likely two draws of so many samples, in order and without putting back, are the same."""
    return prod(1 / max(samples - place, 1) for place in range(min(taken, ENOUGH))) if samples >= taken else 0.0
