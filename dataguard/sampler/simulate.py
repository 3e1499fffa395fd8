"""What torch's DistributedSampler deals to every rank, computed at once, without processes.

The order of an epoch is torch's own permutation of all samples (its CPU generator, seeded with seed plus epoch), evened out by
repeating it from its front or cut to what the ranks divide; rank r takes every world-size-th sample of it, from the r-th on.
Torch promises no reproducibility across its releases, so the order comes from the torch that is installed, and its version
belongs beside the digest of an order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dataguard.errors import UsageError
from dataguard.expectations.observation import Epoch, Observation, Resume, Samples, SeedOrder, Told, Worker
from dataguard.sampler.settings import Settings

LOWEST, HIGHEST = -(1 << 63), (1 << 64) - 1
"""Seeds that torch takes."""
FirstBatch = Callable[[Sequence[Samples]], tuple[str, ...]]
"""Gives a digest of the content of each rank's first batch, from the samples in it."""


def torch_of(wanted_by: str) -> Any:
    """Return torch.

    Raises:
        UsageError: It is not installed; the message says what wants it, and names the extra.
    """
    try:
        import torch  # noqa: PLC0415  # it takes seconds, and most of what we do needs none of it
    except ImportError as error:
        why, fix = f"torch cannot be imported: {error}", "pip install 'dataguard[torch]'"
        raise UsageError(f"{wanted_by} needs torch", why=why, fix=fix) from error
    return torch


def order_of(samples: int, settings: Settings, epoch: int, seed: int | None = None) -> Samples:
    """Return the samples of an epoch in the order in which they are dealt, one to each rank in turn.

    Args:
        samples: Length of the dataset.
        seed: Another one than that of the settings.

    Returns:
        Shape (T,), int32 where that holds every sample, else int64; T is a multiple of the world size.

    Raises:
        UsageError: It shuffles, and torch is not installed or takes no such seed.
    """
    return _dealt(_permutation(samples, settings, epoch, seed), settings)


def _permutation(samples: int, settings: Settings, epoch: int, seed: int | None = None) -> Samples:
    """Return all samples in the order of an epoch, however many ranks there are. Shape (samples,)."""
    small = samples < 1 << 31
    if not settings.shuffle:
        return np.arange(samples, dtype=np.int32 if small else np.int64)
    torch = torch_of("the order of a sampler that shuffles")
    generator = torch.Generator()
    generator.manual_seed(_within(settings.seed if seed is None else seed, epoch))
    kind = torch.int32 if small else torch.int64  # torch draws the same numbers for both
    return torch.randperm(samples, generator=generator, dtype=kind).numpy()  # type: ignore[no-any-return]


def _dealt(order: Samples, settings: Settings) -> Samples:
    """Return an order evened out for the ranks."""
    samples = len(order)
    remainder = samples % settings.world_size
    if not remainder:
        return order
    if settings.drops_remainder:
        return order[: samples - remainder]
    missing = settings.world_size - remainder
    return np.concatenate([order, np.resize(order[:missing], missing)])  # repeated from the front, as often as it takes


def _within(seed: int, epoch: int) -> int:
    """Return the seed of an epoch, which is their sum.

    Raises:
        UsageError: torch takes none that is so far from 0.
    """
    if not LOWEST <= seed + epoch <= HIGHEST:
        why = f"torch is seeded with seed plus epoch, which must lie between {LOWEST:,} and {HIGHEST:,}"
        raise UsageError(f"there is no order for seed {seed:,} and epoch {epoch:,}", why=why)
    return seed + epoch


def orders_of(samples: int, settings: Settings, epoch: int, seed: int | None = None) -> tuple[Samples, ...]:
    """Return the samples of each rank in an epoch, in order."""
    return _shared_out(_permutation(samples, settings, epoch, seed), settings)


def _shared_out(order: Samples, settings: Settings) -> tuple[Samples, ...]:
    """Return what each rank takes of all samples in the order of an epoch."""
    dealt, world = _dealt(order, settings), settings.world_size
    return tuple(dealt[rank::world] for rank in range(world))


def simulate(
    samples: int,
    settings: Settings,
    *,
    seeds: Sequence[int] | None = None,
    first_batch: FirstBatch | None = None,
) -> Observation:
    """Return what DistributedSampler and a DataLoader deal: all epochs twice, workers, other seeds, and resumes.

    Args:
        samples: Length of the dataset.
        seeds: Other seeds to look at; None takes the next one.
        first_batch: Looks at the content of first batches.

    Raises:
        UsageError: It shuffles, and torch is not installed.
    """

    def collected(epoch: int, seed: int | None = None) -> Epoch:
        ranks = orders_of(samples, settings, epoch, seed)
        digests = None
        if first_batch is not None and seed is None:
            digests = first_batch([order[: settings.batch_size] for order in ranks])
        return Epoch(epoch, ranks, digests)

    epochs = tuple(collected(epoch) for epoch in range(settings.epochs))
    others = [settings.seed + 1] if seeds is None else [seed for seed in seeds if seed != settings.seed]
    return Observation(
        samples=samples,
        world_size=settings.world_size,
        batch_size=settings.batch_size,
        drop_last=settings.drop_last,
        shuffle=settings.shuffle,
        seed=settings.seed,
        epochs=epochs,
        reproduction=tuple(_held_once(each, collected(each.epoch)) for each in epochs),
        arguments=tuple(Told(rank, settings.world_size, settings.seed) for rank in range(settings.world_size)),
        workers=tuple(_workers(epochs[0], settings)),
        resumes=tuple(_resumes(samples, settings, epochs[-1])),
        seeds=tuple(SeedOrder(seed, (collected(0, seed),)) for seed in others),
    )


def _held_once(epoch: Epoch, again: Epoch) -> Epoch:
    """Return the second collection of an epoch; where its orders are those of the first, they are held once."""
    same = all(map(np.array_equal, epoch.ranks, again.ranks))
    return replace(again, ranks=epoch.ranks) if same else again


def _workers(epoch: Epoch, settings: Settings) -> list[Worker]:
    """Return what each worker loads: a DataLoader hands out its batches in turn. Those past the last batch are left out."""
    found = []
    for rank, order in enumerate(epoch.ranks):
        batch = np.arange(len(order)) // settings.batch_size
        found += [
            Worker(epoch.epoch, rank, worker, order[batch % settings.num_workers == worker])
            for worker in range(min(settings.num_workers, int(batch.max(initial=0)) + 1))
        ]
    return found


def _resumes(samples: int, settings: Settings, epoch: Epoch) -> list[Resume]:
    """Return what follows where a run stops in the middle of an epoch, and goes on with as many ranks or with others.

    The run counts its steps, and leaves out as many batches of the epoch's order as it had done.
    """
    steps = len(epoch.ranks[0]) // settings.batch_size // 2
    if not steps:
        return []
    order, found = _permutation(samples, settings, epoch.epoch), []
    for changed in (settings, other_world(settings)):
        if changed is None:
            continue
        consumed = steps * changed.batch_size
        ranks = tuple(each[consumed:] for each in _shared_out(order, changed))
        found.append(
            Resume(
                epoch=epoch.epoch,
                consumed_per_rank=steps * settings.batch_size,
                unbroken=epoch.ranks,
                ranks=ranks,
                world_size=changed.world_size,
                batch_size=changed.batch_size,
                changed=changed is not settings,
            )
        )
    return found


def other_world(settings: Settings) -> Settings | None:
    """Return settings with another number of ranks and as large a batch of all of them; None where there is none."""
    world, batch = settings.world_size, settings.batch_size
    for other in (0 if world % 2 else world // 2, 2 * world, 1):
        if other and other != world and not world * batch % other:
            return replace(settings, world_size=other, batch_size=world * batch // other)
    return None


def digest_of(epoch: Epoch) -> str:
    """Return a digest of who took what in an epoch, in which order; equal orders of equally many ranks have equal ones."""
    digest = hashlib.blake2b(digest_size=16)
    for order in epoch.ranks:
        digest.update(len(order).to_bytes(8, "little"))
        digest.update(np.ascontiguousarray(order, dtype="<i8").tobytes())
    return digest.hexdigest()
