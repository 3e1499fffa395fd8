"""Samples that no rank ever takes are data that was paid for and not trained on."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dataguard.expectations.base import ObservationExpectation, Outcome
from dataguard.expectations.observation import DropLast, Epoch, Observation, joined
from dataguard.expectations.sampled import Found
from dataguard.result import MOST_ENTRIES


class ExpectSamplesToBeCovered(ObservationExpectation):
    """Every sample is taken in every epoch, but for as many as the settings leave out.

    drop_last is that of the observation where it is not given.
    """

    reasons: ClassVar[tuple[str, ...]] = ("never_seen",)
    fix: ClassVar[str] = (
        "let every rank take its own part of one common order, with the same seed, epoch and number of ranks"
    )
    value_name: ClassVar[str] = "sample"

    drop_last: DropLast | None = None

    def judge_observation(self, seen: Observation) -> Outcome:
        found, notes = Found(seen), []
        drop_last = seen.drop_last if self.drop_last is None else self.drop_last
        for epoch in seen.epochs:
            count, first = _unseen(seen, epoch)
            left_out = left_out_on_purpose(seen, epoch, drop_last)
            if count <= left_out:
                if count:
                    notes.append(f"epoch {epoch.epoch}: {count:,} samples are left out on purpose (drop_last)")
                continue
            detail = f"one of {count:,}; the settings leave out {left_out:,}"
            for sample in first:
                found.add("never_seen", epoch=epoch.epoch, sample=sample, detail=detail)
            found.reasons["never_seen"] += count - len(first)
        return found.outcome(seen.samples * len(seen.epochs), notes=notes)


def _unseen(seen: Observation, epoch: Epoch) -> tuple[int, list[int]]:
    """Return how many samples no rank takes, and the first of them; one whose like (by `items`) is taken counts as taken.

    Of a dataset longer than what was taken no more is laid out than holds those first ones.
    """
    if seen.items is not None:
        taken = np.zeros(int(seen.items.max(initial=-1)) + 1, np.bool_)
        for order in epoch.ranks:
            taken[seen.items[order]] = True
        unseen = np.flatnonzero(~taken[seen.items])
        return len(unseen), unseen[:MOST_ENTRIES].tolist()
    near = min(seen.samples, sum(map(len, epoch.ranks)) + MOST_ENTRIES)
    taken = np.zeros(near, np.bool_)
    for order in epoch.ranks:
        taken[order[order < near]] = True
    beyond = len(np.unique(joined(order[order >= near] for order in epoch.ranks)))
    count = seen.samples - int(np.count_nonzero(taken)) - beyond
    return count, np.flatnonzero(~taken)[:MOST_ENTRIES].tolist()


def left_out_on_purpose(seen: Observation, epoch: Epoch, drop_last: DropLast) -> int:
    """Return how many samples the settings leave out of an epoch at most."""
    ranks, samples = max(len(epoch.ranks), 1), seen.samples
    by_sampler = samples % ranks if drop_last in {True, "sampler"} else 0
    if drop_last not in {True, "loader"}:
        return by_sampler
    sizes = {len(order) for order in epoch.ranks}
    if len(sizes) != 1:  # parts of different sizes: nobody knows how much each lost
        return by_sampler + ranks * (seen.batch_size - 1)
    of_rank = samples // ranks if by_sampler or drop_last is True else -(-samples // ranks)
    return by_sampler + ranks * (of_rank % seen.batch_size)
