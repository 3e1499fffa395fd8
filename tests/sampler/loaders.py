"""Loaders as training scripts make them, right and wrong, for ranks to run. Each reads the numbers from 0 to 23."""

from __future__ import annotations

import itertools
import os
import random
import time
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from torch.utils.data.distributed import DistributedSampler

SAMPLES = 24


def collated(rows: list[int]) -> dict[str, Any]:
    worker = get_worker_info()
    stream = {} if worker is None else {"worker": [worker.id, worker.seed]}
    return {"index": torch.tensor(rows), "input_ids": torch.tensor([[row, row + 1] for row in rows]), **stream}


def loader(sampler: Any, **more: Any) -> DataLoader[int]:
    return DataLoader(range(SAMPLES), sampler=sampler, batch_size=4, collate_fn=collated, **more)  # type: ignore[arg-type]


def sampler_of(rank: int, world_size: int, seed: int) -> DistributedSampler[int]:
    return DistributedSampler(range(SAMPLES), num_replicas=world_size, rank=rank, seed=seed)  # type: ignore[arg-type]


def right(rank: int, world_size: int, epoch: int, seed: int) -> DataLoader[int]:
    sampler = sampler_of(rank, world_size, seed)
    sampler.set_epoch(epoch)
    generator = torch.Generator().manual_seed(seed + epoch * world_size + rank)
    return loader(sampler, num_workers=2, generator=generator)


def epoch_forgotten(rank: int, world_size: int, seed: int) -> DataLoader[int]:
    return loader(sampler_of(rank, world_size, seed))


def a_seed_for_each_rank(rank: int, world_size: int, epoch: int, seed: int) -> DataLoader[int]:
    sampler = sampler_of(rank, world_size, seed + rank)
    sampler.set_epoch(epoch)
    return loader(sampler)


def seeded_by_the_clock(rank: int, world_size: int, epoch: int) -> DataLoader[int]:
    return loader(random.SystemRandom().sample(range(SAMPLES), SAMPLES)[rank::world_size])


def one_rank_drops(rank: int, world_size: int) -> DataLoader[int]:
    taken = list(range(rank, SAMPLES - 2, world_size))
    return loader(taken, drop_last=rank == 1)


def the_same_streams(rank: int, world_size: int, epoch: int, seed: int) -> DataLoader[int]:
    sampler = sampler_of(rank, world_size, seed)
    sampler.set_epoch(epoch)
    return loader(sampler, num_workers=2, generator=torch.Generator().manual_seed(seed))


class Shards(IterableDataset[int]):
    """Shards of samples, dealt to the ranks in turn; workers share them only where they are told to."""

    def __init__(self, rank: int, world_size: int, sizes: list[int], *, split: bool) -> None:
        ends = np.cumsum([0, *sizes]).tolist()
        self.mine = [range(first, last) for first, last in itertools.pairwise(ends)][rank::world_size]
        self.split = split

    def __iter__(self) -> Any:
        worker, mine = get_worker_info(), self.mine
        if worker is not None and self.split:
            mine = mine[worker.id :: worker.num_workers]
        for shard in mine:
            yield from shard


def uneven_shards(rank: int, world_size: int) -> DataLoader[int]:
    return DataLoader(Shards(rank, world_size, [10, 5, 6, 3], split=True), batch_size=4, collate_fn=collated)


def every_worker_reads_all(rank: int, world_size: int) -> DataLoader[int]:
    dataset = Shards(rank, world_size, [6, 6, 6, 6], split=False)
    return DataLoader(dataset, batch_size=4, num_workers=2, collate_fn=collated)


def even_shards(rank: int, world_size: int) -> DataLoader[int]:
    dataset = Shards(rank, world_size, [6, 6, 6, 6], split=True)
    return DataLoader(dataset, batch_size=3, num_workers=2, collate_fn=collated)


def raises(rank: int, world_size: int) -> Any:
    for step in range(3):
        if rank == 1 and step == 2:
            msg = "no such row"
            raise KeyError(msg)
        yield [2 * step + rank]


def dies(rank: int) -> Any:
    yield [rank]
    if rank == 1:
        os.kill(os.getpid(), 9)
    time.sleep(30)


def never_ends() -> Any:
    while True:
        yield [0]


def ends_as_if_done(rank: int) -> Any:
    yield [rank]
    if rank == 1:
        os._exit(0)
    time.sleep(30)


def never_ends_and_gives_nothing() -> Any:
    while True:
        yield []


def fractions() -> Any:
    yield torch.tensor([0.25, 1.75])


def hangs_before_the_first_batch(rank: int) -> Any:
    time.sleep(600)


def hangs(rank: int, world_size: int) -> Any:
    for step in range(SAMPLES // world_size):
        if rank == 1 and step == 5:
            time.sleep(600)
        yield [step * world_size + rank]


def says_nothing() -> Any:
    yield {"text": ["a"]}


def outside() -> Any:
    yield [SAMPLES]


def no_loader() -> int:
    return 3


def stateful(rank: int, world_size: int, epoch: int, seed: int) -> Any:
    from torchdata.stateful_dataloader import StatefulDataLoader

    sampler = sampler_of(rank, world_size, seed)
    sampler.set_epoch(epoch)
    return StatefulDataLoader(range(SAMPLES), sampler=sampler, batch_size=4, collate_fn=collated)  # type: ignore[arg-type]


def stateful_in_another_epoch(rank: int, world_size: int, epoch: int, seed: int, resumed: bool) -> Any:
    return stateful(rank, world_size, 0 if resumed else epoch, seed)


class Forgetful:
    """A loader whose state says nothing."""

    def __init__(self, batches: Any) -> None:
        self.batches = batches

    def __iter__(self) -> Any:
        return iter(self.batches)

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        pass


def begins_again(rank: int, world_size: int) -> Forgetful:
    return Forgetful([[number] for number in range(rank, SAMPLES, world_size)])


def accelerated(rank: int, world_size: int, epoch: int, seed: int, *, even: bool = True) -> Any:
    from accelerate.data_loader import prepare_data_loader

    order = torch.randperm(SAMPLES - 4, generator=torch.Generator().manual_seed(seed + epoch)).tolist()
    plain = DataLoader(range(SAMPLES - 4), sampler=order, batch_size=4, collate_fn=collated)  # type: ignore[arg-type]
    return prepare_data_loader(
        plain, num_processes=world_size, process_index=rank, put_on_device=False, even_batches=even, rng_types=[]
    )


def accelerated_uneven(rank: int, world_size: int, epoch: int, seed: int) -> Any:
    return accelerated(rank, world_size, epoch, seed, even=False)


def of_hugging_face(rank: int, world_size: int, sizes: tuple[int, ...] = (6, 6, 6, 6)) -> DataLoader[int]:
    import datasets
    from datasets.distributed import split_dataset_by_node

    ends = np.cumsum([0, *sizes]).tolist()
    whole = datasets.IterableDataset.from_generator(numbered, gen_kwargs={"parts": list(itertools.pairwise(ends))})
    return DataLoader(split_dataset_by_node(whole, rank=rank, world_size=world_size), batch_size=4)


def of_hugging_face_uneven(rank: int, world_size: int) -> DataLoader[int]:
    return of_hugging_face(rank, world_size, (10, 5, 6, 3))


def numbered(parts: list[tuple[int, int]]) -> Any:
    for first, last in parts:
        yield from ({"idx": number} for number in range(first, last))
