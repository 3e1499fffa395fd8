"""Ranks that take the same samples train on them twice, and never see others."""

from __future__ import annotations

from typing import ClassVar

from dataguard.expectations.base import ObservationExpectation, Outcome
from dataguard.expectations.observation import Observation
from dataguard.expectations.sampled import Found, copies_of


class ExpectRanksToBeDisjoint(ObservationExpectation):
    """No sample is taken by two ranks in an epoch, but for copies at the end that even out the ranks.

    Samples are compared by what they are (`items`) where that is known, else by number.
    """

    reasons: ClassVar[tuple[str, ...]] = ("overlap",)
    fix: ClassVar[str] = "give all ranks the same seed and epoch, and each its own rank and the number of all ranks"
    value_name: ClassVar[str] = "sample"

    def judge_observation(self, seen: Observation) -> Outcome:
        found, taken = Found(seen), 0
        for epoch in seen.epochs:
            copies = copies_of(seen, epoch)
            taken += copies.total
            found.add_all("overlap", epoch.epoch, copies.taken, copies.overlapping, copies.before)
        return found.outcome(taken)
