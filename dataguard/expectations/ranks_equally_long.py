"""A rank that runs out of batches before the others leaves them waiting for it: the job hangs."""

from __future__ import annotations

from typing import ClassVar, Literal

from dataguard.expectations.base import ObservationExpectation, Outcome
from dataguard.expectations.observation import Observation
from dataguard.expectations.sampled import Found


class ExpectRanksToBeEquallyLong(ObservationExpectation):
    """All ranks have as many batches in an epoch (unit: sample, as many samples), so that none waits for one that has ended.

    A rank that was seen to hang is one that has fewer, however many the others had.
    """

    reasons: ClassVar[tuple[str, ...]] = ("unequal_batches", "unequal_samples")
    fix: ClassVar[str] = (
        "even out the ranks: a number of shards that the ranks divide, split_dataset_by_node over samples, or drop_last"
    )
    value_name: ClassVar[dict[str, str]] = {"unequal_batches": "batches", "unequal_samples": "samples"}

    unit: Literal["batch", "sample"] = "batch"

    def judge_observation(self, seen: Observation) -> Outcome:
        found, observed = Found(seen), []
        by_batch = self.unit == "batch"
        hung = {(each.epoch, each.rank) for each in seen.stalls}
        for each in seen.stalls:
            detail = f"it gave no further batch for {each.seconds:g} s at step {each.step:,}, and would never have"
            found.add("unequal_batches", epoch=each.epoch, rank=each.rank, value=each.step, detail=detail)
        for epoch in seen.epochs:
            sizes = [len(order) for order in epoch.ranks]
            if by_batch:
                sizes = [seen.batches(size) for size in sizes] if epoch.batches is None else list(epoch.batches)
            longest = max(sizes, default=0)
            observed.append({"epoch": epoch.epoch, "min": min(sizes, default=0), "max": longest})
            for rank, size in enumerate(sizes):
                if size < longest and (epoch.epoch, rank) not in hung:
                    detail = f"others have {longest:,}" + (f", and wait at step {size:,}" if by_batch else "")
                    reason = "unequal_batches" if by_batch else "unequal_samples"
                    found.add(reason, epoch=epoch.epoch, rank=rank, value=size, detail=detail)
        return found.outcome(sum(len(epoch.ranks) for epoch in seen.epochs), observed=observed)
