"""What expectations on a sampler share: findings in an order, and which copies of samples only even out the ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dataguard.expectations.base import Outcome
from dataguard.expectations.observation import Epoch, Observation, Samples, joined
from dataguard.result import MOST_ENTRIES, Finding

Numbers = npt.NDArray[np.int64]


class Found:
    """What is unexpected in an observation: how often each reason occurs, and the first places."""

    def __init__(self, seen: Observation) -> None:
        self._seen = seen
        self.reasons: Counter[str] = Counter()
        self.findings: list[Finding] = []

    def add(
        self,
        reason: str,
        *,
        epoch: int | None = None,
        rank: int | None = None,
        position: int | None = None,
        sample: int | None = None,
        value: Any = None,
        detail: str | None = None,
    ) -> None:
        """Take one place.

        Args:
            sample: Number of the sample that stands there; its shard and row are told where DATA is known.
            value: What else there is to tell as a number.
        """
        self.reasons[reason] += 1
        if len(self.findings) >= MOST_ENTRIES:
            return
        places = self._seen.places
        shard, row = (None, None) if sample is None or places is None else places.of(sample)
        value = value if sample is None else sample
        self.findings.append(
            Finding(
                reason=reason,
                shard=shard,
                row=row,
                position=position,
                value=value,
                detail=detail,
                epoch=epoch,
                rank=rank,
            )
        )

    def add_all(
        self, reason: str, epoch: int, taken: Taken, places: Numbers, detail: Callable[[int], str] | None = None
    ) -> None:
        """Take several places of an epoch, told as places in `taken`.

        Args:
            detail: What to say of each place.
        """
        room = MOST_ENTRIES - len(self.findings)
        for place in places[:room].tolist():
            self.add(
                reason,
                epoch=epoch,
                rank=int(taken.ranks[place]),
                position=int(taken.positions[place]),
                sample=int(taken.samples[place]),
                detail=None if detail is None else detail(place),
            )
        self.reasons[reason] += len(places[room:])

    def outcome(
        self,
        elements: int,
        *,
        observed: Any = None,
        notes: Sequence[str] = (),
        hints: Sequence[str] = (),
        holding: Sequence[str] = (),
    ) -> Outcome:
        """Return the verdict.

        Args:
            elements: How many samples, ranks or whatever were judged.
            observed: `observed_value`.
            notes: What else there is to say.
            hints: What the cause may be.
            holding: Reasons that are counted and hold.
        """
        unexpected = sum(count for reason, count in self.reasons.items() if reason not in holding)
        details = {
            "reasons": {reason: count for reason, count in sorted(self.reasons.items()) if count},
            "hints": list(hints),
            "notes": list(notes),
        }
        return Outcome(
            success=not unexpected,
            element_count=elements,
            unexpected_count=unexpected,
            missing_count=0,
            observed_value=observed,
            findings=tuple(each for each in self.findings if each.reason not in holding),
            details={key: value for key, value in details.items() if value},
        )


@dataclass(frozen=True)
class Taken:
    """Samples that the ranks took in an epoch, rank after rank. Each array has the shape (taken,).

    Args:
        samples: Their numbers.
        ranks: Who took each.
        positions: Where it stands in its rank's order.
        left: How many samples follow in its rank's order.
    """

    samples: Samples
    ranks: Numbers
    positions: Numbers
    left: Numbers

    @classmethod
    def of(cls, orders: Sequence[Samples], chosen: Sequence[npt.NDArray[np.bool_]]) -> Taken:
        """Put what is chosen of the orders of the ranks behind each other."""
        places = [np.flatnonzero(each) for each in chosen]
        return cls(
            samples=joined(order[each] for order, each in zip(orders, places, strict=True)),
            ranks=np.repeat(np.arange(len(orders)), [len(each) for each in places]),
            positions=joined(places),
            left=joined(len(order) - 1 - each for order, each in zip(orders, places, strict=True)),
        )


@dataclass(frozen=True)
class Copies:
    """Samples that come again in an epoch, as places in `taken`.

    Args:
        total: How many samples were taken in all.
        taken: Those that were taken more than once, every time.
        padded: Copies that only even out the ranks.
        overlapping: Samples that another rank has taken already.
        first: Where the sample of each place was taken first; known for those two alone.
    """

    total: int
    taken: Taken
    padded: Numbers
    overlapping: Numbers
    first: dict[int, int]

    def before(self, place: int) -> str:
        """Return where the sample of a place was taken first, in words."""
        first = self.first[place]
        return f"rank {self.taken.ranks[first]} has it too, at position {self.taken.positions[first]}"


def padding_of(seen: Observation, sizes: Sequence[int]) -> tuple[int, int]:
    """Return how many samples were added so that all ranks are equally long, and in how many last places they may stand.

    Ranks are evened out by samples (torch's DistributedSampler) or by whole batches (Accelerate's even_batches). More
    copies than that, or ranks that are not even after all, are no padding.
    """
    ranks, added = len(sizes), sum(sizes) - seen.samples
    if seen.drops_remainder or len(set(sizes)) != 1 or added <= 0 or not seen.samples:
        return 0, 0
    if added == -seen.samples % ranks:
        return added, -(-added // ranks)
    together = ranks * seen.batch_size
    return (added, seen.batch_size) if added <= -seen.samples % together else (0, 0)


def repeated(orders: Sequence[Samples]) -> list[npt.NDArray[np.bool_]]:
    """Return of each order which of its numbers come more than once in all of them."""
    numbers = joined(orders)
    numbers.sort()
    again = np.unique(numbers[1:][numbers[1:] == numbers[:-1]])
    if not len(again):
        return [np.zeros(len(each), np.bool_) for each in orders]
    return [np.isin(each, again) for each in orders]


def copies_of(seen: Observation, epoch: Epoch) -> Copies:
    """Return the samples that come again in an epoch: those that are padding, and those that two ranks share.

    The copy is what stands in the last places of a rank, where padding stands, else what comes later.
    """
    sizes = [len(each) for each in epoch.ranks]
    taken = Taken.of(epoch.ranks, repeated([seen.identities(each) for each in epoch.ranks]))
    what = seen.identities(taken.samples)
    most, places = padding_of(seen, sizes)
    at_end = taken.left < places
    again = np.lexsort((taken.ranks, taken.positions, at_end, what))
    at_end = at_end[again]
    same = what[again[1:]] == what[again[:-1]]
    starts = np.flatnonzero(np.concatenate([[True], ~same])) if len(again) else np.empty(0, np.int64)
    group = np.cumsum(np.concatenate([[0], ~same])) if len(again) else np.empty(0, np.int64)
    firsts = again[starts[group]] if len(again) else again
    is_copy = again != firsts
    padded = is_copy & at_end
    if np.count_nonzero(padded) > most:
        padded[:] = False
    overlapping = is_copy & ~padded & (taken.ranks[again] != taken.ranks[firsts])
    return Copies(
        total=sum(sizes),
        taken=taken,
        padded=np.sort(again[padded]),
        overlapping=np.sort(again[overlapping]),
        first=dict(zip(again[padded | overlapping].tolist(), firsts[padded | overlapping].tolist(), strict=True)),
    )
