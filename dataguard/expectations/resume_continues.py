"""A resume that goes on elsewhere trains on some samples twice, and never on others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from math import lcm
from typing import ClassVar, Literal

import numpy as np

from dataguard.expectations.base import ObservationExpectation, Outcome
from dataguard.expectations.observation import Observation, Resume, Samples, joined
from dataguard.expectations.order_reproducible import first_difference
from dataguard.expectations.sampled import Found
from dataguard.result import MOST_ENTRIES


class ExpectResumeToContinue(ObservationExpectation):
    """What follows a resume is what an unbroken run would have had: rank by rank, or (mode: elastic) in each global step.

    A global step is one batch of every rank; where the batches of all ranks together have another size after the resume,
    as many steps are compared as both divide. Where resumes with as many ranks were observed, mode: exact judges those.
    """

    parts: ClassVar[tuple[str, ...]] = ("resume",)
    reasons: ClassVar[tuple[str, ...]] = ("repeated", "skipped", "wrong_epoch")
    fix: ClassVar[str] = (
        "restore epoch and position of the sampler, and count the position in samples of all ranks where their number changes"
    )
    value_name: ClassVar[str] = "sample"

    mode: Literal["exact", "elastic"] = "exact"

    def judge_observation(self, seen: Observation) -> Outcome:
        found, judged = Found(seen), list(seen.resumes)
        if self.mode == "exact" and any(not each.changed for each in judged):
            judged = [each for each in judged if not each.changed]
        for resume in judged:
            expected = [order[resume.consumed_per_rank :] for order in resume.unbroken]
            if self.mode == "exact":
                self._exact(resume, expected, seen, found)
            else:
                self._elastic(resume, expected, seen, found)
        return found.outcome(sum(len(order) for resume in judged for order in resume.ranks))

    def _exact(self, resume: Resume, expected: list[Samples], seen: Observation, found: Found) -> None:
        """Compare rank by rank."""
        if _same(resume.ranks, expected):
            return
        other = _other_epoch(resume, seen)
        if other is not None:
            found.add("wrong_epoch", epoch=resume.epoch, detail=f"the order of epoch {other} goes on")
        elif not _amiss(resume, _identities(seen, expected, resume.ranks), seen, found):
            for rank, order in enumerate(expected):
                got = resume.ranks[rank] if rank < len(resume.ranks) else order[:0]
                position = first_difference(order, got)
                if position is not None:
                    after = resume.consumed_per_rank + position
                    sample = int(order[position]) if position < len(order) else None
                    found.add(
                        "skipped",
                        epoch=resume.epoch,
                        rank=rank,
                        position=after,
                        sample=sample,
                        detail="it comes on another rank, or later: the samples that follow are the same, in another order",
                    )

    def _elastic(self, resume: Resume, expected: list[Samples], seen: Observation, found: Found) -> None:
        """Compare the samples of each global step, whoever takes them."""
        before, after = _steps(resume, expected, seen)
        if len(before) == len(after) and all(map(_alike, before, after)):
            return
        other = _other_epoch(resume, seen)
        if other is not None:
            found.add("wrong_epoch", epoch=resume.epoch, detail=f"the order of epoch {other} goes on")
        elif not _amiss(resume, (before, after), seen, found):
            pairs = list(zip_longest(before, after, fillvalue=np.empty(0, np.int64)))
            place = next(place for place, pair in enumerate(pairs) if not _alike(*pair))
            missing = np.setdiff1d(*pairs[place])
            detail = f"{len(missing):,} samples of global step {place} after the resume come at another one"
            if not len(missing):
                detail = f"global step {place} after the resume has the same samples, and not as often"
            sample = _number_of(int(missing[0]), resume, seen) if len(missing) else None
            found.add("skipped", epoch=resume.epoch, sample=sample, detail=detail)


def _number_of(identity: int, resume: Resume, seen: Observation) -> int:
    """Return a sample that is this."""
    numbers = joined([*resume.unbroken, *resume.ranks])
    return int(numbers[np.flatnonzero(seen.identities(numbers) == identity)[0]])


def _identities(
    seen: Observation, ours: Sequence[Samples], theirs: Sequence[Samples]
) -> tuple[list[Samples], list[Samples]]:
    return [seen.identities(each) for each in ours], [seen.identities(each) for each in theirs]


def _same(ours: Sequence[Samples], theirs: Sequence[Samples]) -> bool:
    return len(ours) == len(theirs) and all(map(np.array_equal, ours, theirs))


def _alike(ours: Samples, theirs: Samples) -> bool:
    """Whether two steps hold the same samples."""
    return np.array_equal(np.sort(ours), np.sort(theirs))


def _steps(resume: Resume, expected: Sequence[Samples], seen: Observation) -> tuple[list[Samples], list[Samples]]:
    """Return what follows by global step (or by as many as both sizes divide): as it should, and as it does.

    The last one is without the copies that even out the ranks, of which another number of ranks needs others, and without
    samples that the settings leave out with one of the two numbers of ranks alone.
    """
    was, now = len(resume.unbroken), resume.world_size
    together = lcm(was * seen.batch_size, now * resume.batch_size)
    consumed = seen.identities(joined(order[: resume.consumed_per_rank] for order in resume.unbroken))
    before, left = _without_padding(_cut(expected, together // was, seen), consumed, was * seen.batch_size)
    most = 0 if seen.drops_remainder or now == 1 else -left % (now * resume.batch_size)
    after, _ = _without_padding(_cut(resume.ranks, together // now, seen), consumed, most)
    return _without_remainder(before, after, _most_left_out(resume, seen))


def _most_left_out(resume: Resume, seen: Observation) -> int:
    """Return how many samples at the end of an epoch the settings leave out at most, with either number of ranks."""
    was, now = len(resume.unbroken), resume.world_size
    if seen.drops_batch:
        return max(was * seen.batch_size, now * resume.batch_size) - 1
    return max(was, now) - 1 if seen.drops_remainder else 0


def _without_remainder(ours: list[Samples], theirs: list[Samples], most: int) -> tuple[list[Samples], list[Samples]]:
    """Return two lists of steps, without what one of them has more at its end where that is no more than `most`."""
    whole = max(min(len(ours), len(theirs)) - 1, 0)
    end, other = (joined(steps[whole:]) for steps in (ours, theirs))
    shorter, longer = sorted((end, other), key=len)
    if len(longer) - len(shorter) > most or not np.isin(shorter, longer).all():
        return ours, theirs
    return [*ours[:whole], shorter], [*theirs[:whole], shorter]


def _cut(orders: Sequence[Samples], size: int, seen: Observation) -> list[Samples]:
    """Return what the ranks take, in pieces of so many samples of each."""
    longest = max(map(len, orders), default=0)
    starts = range(0, longest, size)
    return [seen.identities(joined(order[start : start + size] for order in orders)) for start in starts]


def _without_padding(steps: list[Samples], consumed: Samples, most: int) -> tuple[list[Samples], int]:
    """Return steps without the copies in the last one, and how many samples are left in all.

    Args:
        consumed: What was taken before them.
        most: Where there are more copies than that, they are no padding and stay.
    """
    if steps:
        last = steps[-1]
        real = _not_in(last, [consumed, *steps[:-1]])
        if len(last) - len(real) <= most:
            steps = [*steps[:-1], real] if len(real) else steps[:-1]
    return steps, sum(map(len, steps))


def _not_in(few: Samples, many: Sequence[Samples]) -> Samples:
    """Return what does not come in many others, rising, each once; the many are looked up in the few, and never sorted."""
    known = np.unique(few)
    if not len(known):
        return known
    fresh = np.ones(len(known), np.bool_)
    for part in many:
        place = np.minimum(np.searchsorted(known, part), len(known) - 1)
        fresh[place[known[place] == part]] = False
    return known[fresh]


def _other_epoch(resume: Resume, seen: Observation) -> int | None:
    """Return the epoch whose order goes on after the resume, from there or from its start, where it is another one."""
    if not any(map(len, resume.ranks)):
        return None
    for epoch in (*seen.epochs, *seen.reproduction):
        if epoch.epoch == resume.epoch or _same(epoch.ranks, resume.unbroken):
            continue
        for start in (resume.consumed_per_rank, 0):
            rest = [order[start:] for order in epoch.ranks]
            if resume.changed:
                before, after = _steps(resume, rest, seen)
                goes_on = bool(before and after) and _alike(before[0], after[0])
            else:
                sizes = map(len, resume.ranks)
                goes_on = _same([order[:size] for order, size in zip(rest, sizes, strict=False)], resume.ranks)
            if goes_on:
                return epoch.epoch
    return None


def _amiss(
    resume: Resume, compared: tuple[Sequence[Samples], Sequence[Samples]], seen: Observation, found: Found
) -> bool:
    """Find what comes again, and what does not come any more; return whether there is anything.

    Args:
        compared: What should follow and what does, as identities.
    """
    should, does = (joined(each) for each in compared)
    known, places = np.unique(joined((should, does)), return_inverse=True)
    size = len(known)
    surplus = np.bincount(places[len(should) :], minlength=size) - np.bincount(places[: len(should)], minlength=size)
    found_any = False
    for reason, what in (("repeated", known[surplus > 0]), ("skipped", known[surplus < 0])):
        for each in what[:MOST_ENTRIES].tolist():
            found.add(reason, epoch=resume.epoch, sample=_number_of(each, resume, seen))
        found.reasons[reason] += len(what[MOST_ENTRIES:])
        found_any |= len(what) > 0
    return found_any
