"""Another seed should give another order of the same mixture: one that changes lengths or sources changes the experiment."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from dataguard.expectations.base import CannotJudge, ObservationExpectation, Outcome
from dataguard.expectations.observation import Epoch, Observation, Samples, joined
from dataguard.expectations.psi import psi
from dataguard.expectations.sampled import Found
from dataguard.result import Severity

BINS = 10
FEWEST = 1000
"""Samples below which chance alone would look like a difference; then more of the epoch is compared."""


class ExpectSeedsToAgreeInDistribution(ObservationExpectation):
    """Other seeds give other orders, whose first halves have the same mix of lengths and sources as that of the run's seed.

    Two mixes are compared by their population stability index: 0 where they are the same, 0.1 where they begin to differ.
    `seeds` are those to compare; without it all that were observed.
    """

    default_severity: ClassVar[Severity] = "warning"
    parts: ClassVar[tuple[str, ...]] = ("other_seeds", "lengths_or_sources")
    reasons: ClassVar[tuple[str, ...]] = ("biased_order", "same_order")
    fix: ClassVar[str] = "shuffle all samples together, across shards and sources, by a generator that the seed decides"
    value_name: ClassVar[str] = "index"

    seeds: Annotated[tuple[int, ...], Field(min_length=1)] | None = None
    max_psi: Annotated[float, Field(ge=0)] = 0.1

    def judge_observation(self, seen: Observation) -> Outcome:
        found, observed, others = Found(seen), [], _by_seed(seen)
        wanted = [seed for seed in self.seeds or sorted(others) if seed != seen.seed]
        for seed in wanted:
            if seed not in others:
                raise CannotJudge(f"the order of seed {seed} was not observed", "leave it out of seeds, or observe it")
        own = {epoch.epoch: epoch for epoch in reversed(seen.epochs)}
        for seed in wanted:
            for epoch in others[seed]:
                if not _both_took(own.get(epoch.epoch), epoch):
                    continue
                indices = self._compare(own[epoch.epoch], epoch, seen)
                observed.append({"seed": seed, "epoch": epoch.epoch, **indices})
                for what, index in indices.items():
                    if index > self.max_psi:
                        detail = f"{what} under seed {seed} differs from that under seed {seen.seed}"
                        found.add("biased_order", epoch=epoch.epoch, value=index, detail=detail)
                if seen.shuffle and _same(own[epoch.epoch], epoch) and seen.samples > 1:
                    detail = f"seeds {seen.seed} and {seed} give the same order"
                    found.add("same_order", epoch=epoch.epoch, detail=detail)
        if not observed:
            raise CannotJudge("no epoch was observed under two seeds", "observe the same epoch under another seed")
        return found.outcome(len(observed), observed=observed)

    def _compare(self, own: Epoch, other: Epoch, seen: Observation) -> dict[str, float]:
        """Return how much the mix of lengths and of sources differs between the beginnings of two orders."""
        ours, theirs = _beginning(own), _beginning(other)
        indices = {}
        if seen.lengths is not None:
            binned = _binned(seen.lengths)
            indices["length"] = _apart(binned[ours], binned[theirs])
        if seen.sources is not None:
            sources = seen.sources + 1
            indices["source"] = _apart(sources[ours], sources[theirs])
        return indices


def _binned(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return which of ten parts of about the same size each length belongs to; equal lengths are never parted."""
    if not len(lengths):
        return lengths
    edges = np.unique(np.quantile(lengths, np.linspace(0, 1, BINS + 1)[1:-1]))
    return np.searchsorted(edges, lengths, side="right").astype(np.int64)


def _beginning(epoch: Epoch) -> Samples:
    """Return the samples of the first half of an epoch, or of as much as holds FEWEST of them."""
    total = sum(map(len, epoch.ranks))
    share = min(1.0, max(0.5, FEWEST / total)) if total else 1.0
    return joined(order[: round(len(order) * share)] for order in epoch.ranks)


def _by_seed(seen: Observation) -> dict[int, list[Epoch]]:
    """Return the epochs of each other seed, which may stand in several entries."""
    others: dict[int, list[Epoch]] = {}
    for each in seen.seeds:
        others.setdefault(each.seed, []).extend(each.epochs)
    return others


def _both_took(ours: Epoch | None, theirs: Epoch) -> bool:
    """Whether there is something to compare."""
    return ours is not None and any(map(len, ours.ranks)) and any(map(len, theirs.ranks))


def _same(ours: Epoch, theirs: Epoch) -> bool:
    return len(ours.ranks) == len(theirs.ranks) and all(map(np.array_equal, ours.ranks, theirs.ranks))


def _apart(ours: npt.NDArray[np.int64], theirs: npt.NDArray[np.int64]) -> float:
    """Return the index of two samples of classes, whole numbers from 0; 0 where one is empty."""
    if not len(ours) or not len(theirs):
        return 0.0
    classes = int(max(ours.max(), theirs.max())) + 1
    return psi(np.bincount(ours, minlength=classes), np.bincount(theirs, minlength=classes))
