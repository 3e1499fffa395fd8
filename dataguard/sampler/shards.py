"""What an iterable dataset deals whose shards are dealt to the ranks, by the numbers of their rows alone: no row is read.

As Hugging Face's split_dataset_by_node does it: where the ranks divide the number of shards, each takes every world-size-th
shard, and may get more rows than others; else every rank reads all shards and keeps every world-size-th row. The workers of a
rank share its shards in turn, and each makes batches of its own, the last of which may be incomplete.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from dataguard.expectations.observation import Epoch, Observation, Samples, Worker, joined
from dataguard.sampler.settings import Settings


def deal_shards(sizes: Sequence[int], settings: Settings) -> Observation:
    """Return what one epoch deals, in the order of the shards.

    Args:
        sizes: Rows of each shard.
        settings: Of these, those of a sampler that shuffles do not matter: who runs out of rows first does not depend on it.
    """
    ends = np.cumsum([0, *sizes])
    shards = [np.arange(first, last) for first, last in itertools.pairwise(ends)]
    ranks, batches, workers = [], [], []
    for rank in range(settings.world_size):
        parts = _parts(shards, rank, settings)
        ranks.append(joined(parts))
        batches.append(sum(_batches(len(part), settings) for part in parts))
        if settings.num_workers:
            workers += [Worker(0, rank, number, part) for number, part in enumerate(parts)]
    return Observation(
        samples=int(ends[-1]),
        world_size=settings.world_size,
        batch_size=settings.batch_size,
        drop_last="loader" if settings.drops_batch else False,
        shuffle=False,
        seed=settings.seed,
        epochs=(Epoch(0, tuple(ranks), None, tuple(batches)),),
        workers=tuple(workers),
    )


def _parts(shards: Sequence[Samples], rank: int, settings: Settings) -> list[Samples]:
    """Return what each worker of a rank takes; all of it where there are none. Workers without a shard are left out."""
    world = settings.world_size
    whole = not len(shards) % world
    mine = shards[rank::world] if whole else shards
    workers = max(min(settings.num_workers, len(mine)), 1)
    parts = [joined(mine[worker::workers]) for worker in range(workers)]
    return parts if whole else [part[rank::world] for part in parts]


def _batches(samples: int, settings: Settings) -> int:
    return samples // settings.batch_size if settings.drops_batch else -(-samples // settings.batch_size)
