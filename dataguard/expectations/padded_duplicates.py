"""Samplers copy samples so that all ranks are equally long: harmless in training, wrong where results are counted."""

from __future__ import annotations

from typing import ClassVar

from dataguard.expectations.base import ObservationExpectation, Outcome
from dataguard.expectations.observation import Observation
from dataguard.expectations.sampled import Found, copies_of

PADDED = "padded_duplicate"


class ExpectNoPaddedDuplicates(ObservationExpectation):
    """Copies that even out the ranks are counted; with exact: true, as an evaluation needs it, there is none."""

    reasons: ClassVar[tuple[str, ...]] = (PADDED,)
    fix: ClassVar[str] = "drop the copies before results are counted, or take a sampler that does not pad"
    value_name: ClassVar[str] = "sample"

    exact: bool = False

    def judge_observation(self, seen: Observation) -> Outcome:
        found, taken = Found(seen), 0
        for epoch in seen.epochs:
            copies = copies_of(seen, epoch)
            taken += copies.total
            found.add_all(PADDED, epoch.epoch, copies.taken, copies.padded, copies.before)
        padded = found.reasons[PADDED]
        notes = [f"{padded:,} copies even out the ranks"] if padded and not self.exact else []
        return found.outcome(taken, observed=padded, notes=notes, holding=() if self.exact else [PADDED])
