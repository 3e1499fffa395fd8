"""Which samples each rank took at a step, by an observed or a computed order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dataguard.errors import UsageError
from dataguard.expectations.observation import Epoch, Observation, Samples, joined
from dataguard.sampler.settings import Settings
from dataguard.sampler.simulate import orders_of

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Steps:
    """The samples of some steps of one epoch. The arrays have the shape (taken,).

    Args:
        epoch: Its number.
        step: The step that was asked for, counted in the epoch from 0.
        steps: How many steps the epoch has.
        samples: What was taken.
        ranks, at: By which rank, and at which step of the epoch.
    """

    epoch: int
    step: int
    steps: int
    samples: Samples
    ranks: Numbers
    at: Numbers


def computed_steps(samples: int, settings: Settings, step: int, epoch: int | None, window: int) -> Steps:
    """Return the steps around one, as torch's DistributedSampler deals them.

    Args:
        samples: Length of the dataset.
        step: Of the optimizer, from 0: in an epoch, or over all epochs where no epoch is told.
        window: So many steps before and behind it, too, within the epoch.

    Raises:
        UsageError: There is no such step.
    """
    share = samples // settings.world_size if settings.drops_remainder else -(-samples // settings.world_size)
    each = _steps_of(share, settings)
    if not each:
        why = f"{samples:,} samples give no batch to each of {settings.world_size:,} ranks"
        raise UsageError("no epoch has a step", where=f"--step {step}", why=why)
    if epoch is None:
        epoch, step = divmod(step, each)
    orders = orders_of(samples, settings, epoch)
    return _around(Epoch(epoch, orders), settings, step, window, each)


def observed_steps(seen: Observation, grad_accum: int, step: int, epoch: int | None, window: int) -> Steps:
    """Return the steps around one, as they were observed; otherwise as `computed_steps`.

    Raises:
        UsageError: There is no such step.
    """
    settings = Settings(
        world_size=max(seen.world_size, 1),
        batch_size=seen.batch_size,
        drop_last=seen.drop_last,
        grad_accum=grad_accum,
    )
    for each in seen.epochs:
        steps = max((_steps_of(len(order), settings) for order in each.ranks), default=0)
        if each.epoch == epoch or (epoch is None and step < steps):
            return _around(each, settings, step, window, steps)
        step -= steps if epoch is None else 0
    known = ", ".join(str(each.epoch) for each in seen.epochs[:20])
    what = "the observed epochs end before that step" if epoch is None else f"epoch {epoch} was not observed"
    raise UsageError(what, where="--step" if epoch is None else "--epoch", why=f"observed epochs: {known}")


def _steps_of(samples: int, settings: Settings) -> int:
    """Return how many steps of the optimizer a rank makes of so many samples; a last one may have fewer batches."""
    size = settings.batch_size
    batches = samples // size if settings.drops_batch else -(-samples // size)
    return -(-batches // settings.grad_accum)


def _around(epoch: Epoch, settings: Settings, step: int, window: int, steps: int) -> Steps:
    if step >= steps:
        why = f"it has {steps:,} steps, counted from 0"
        raise UsageError(f"epoch {epoch.epoch} has no step {step:,}", where="--step", why=why)
    size = settings.batch_size * settings.grad_accum
    first, last = max(step - window, 0), step + window + 1
    parts = [_whole(order, settings)[first * size : last * size] for order in epoch.ranks]
    return Steps(
        epoch=epoch.epoch,
        step=step,
        steps=steps,
        samples=joined(parts).astype(np.int64),
        ranks=np.repeat(np.arange(len(parts)), [len(part) for part in parts]),
        at=joined(first + np.arange(len(part)) // size for part in parts),
    )


def _whole(order: Samples, settings: Settings) -> Samples:
    """Return what a rank's loader makes batches of."""
    return order[: len(order) // settings.batch_size * settings.batch_size] if settings.drops_batch else order


def narrowed(steps: Steps, most: int) -> tuple[Steps, int | None]:
    """Return as many of the steps, nearest first, as have so many samples at most, and how far they reach then.

    The step itself is kept whole. The second is None where nothing was left out.
    """
    if len(steps.samples) <= most:
        return steps, None
    distance = np.abs(steps.at - steps.step)
    totals = np.cumsum(np.bincount(distance))
    reach = max(int(np.searchsorted(totals, most, side="right")) - 1, 0)
    kept = distance <= reach
    return Steps(steps.epoch, steps.step, steps.steps, steps.samples[kept], steps.ranks[kept], steps.at[kept]), reach


def robust_deviation(values: Sequence[float | None]) -> npt.NDArray[np.float64]:
    """Return how far each number lies from the median, in robust standard deviations; 0 where there is none.

    Where more than half are the same, the mean distance stands in for the median one.
    """
    numbers = np.array([np.nan if each is None else each for each in values], np.float64)
    if np.isnan(numbers).all():
        return np.zeros(len(numbers))
    distance = np.abs(numbers - np.nanmedian(numbers))
    scale = 1.4826 * np.nanmedian(distance) or 1.2533 * np.nanmean(distance)
    return np.nan_to_num(distance / scale) if scale else np.zeros(len(numbers))
