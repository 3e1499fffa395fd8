"""The simulated sampler deals what torch's DistributedSampler deals."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from dataguard.errors import UsageError
from dataguard.run.sampler import Judging
from dataguard.sampler.settings import Settings
from dataguard.sampler.simulate import digest_of, order_of, orders_of, other_world, simulate
from dataguard.suite.loading import load_suite

torch = pytest.importorskip("torch")


def by_torch(samples: int, settings: Settings, epoch: int) -> list[list[int]]:
    from torch.utils.data.distributed import DistributedSampler

    found = []
    for rank in range(settings.world_size):
        sampler = DistributedSampler(
            range(samples),  # type: ignore[arg-type]
            num_replicas=settings.world_size,
            rank=rank,
            shuffle=settings.shuffle,
            seed=settings.seed,
            drop_last=settings.drops_remainder,
        )
        sampler.set_epoch(epoch)
        found.append(list(sampler))
    return found


def test_deals_what_torch_deals_whatever_the_settings():
    dice = random.Random(20)
    for _ in range(3000):
        samples = dice.choice([dice.randrange(1, 12), dice.randrange(1, 300)])
        settings = Settings(
            world_size=dice.choice([1, 2, 3, 4, 8, dice.randrange(1, 40)]),
            seed=dice.choice([0, 1, dice.randrange(1 << 40)]),
            shuffle=dice.random() < 0.8,
            drop_last=dice.choice([False, True, "sampler", "loader"]),
        )
        epoch = dice.randrange(1000)
        ours = [order.tolist() for order in orders_of(samples, settings, epoch)]
        assert ours == by_torch(samples, settings, epoch), (samples, settings, epoch)


def test_so_it_does_for_many_samples():
    settings = Settings(world_size=64, seed=3)
    ours = orders_of(100_003, settings, 2)
    assert [order.tolist() for order in ours[::21]] == by_torch(100_003, settings, 2)[::21]


def test_one_order_is_known_for_good():
    """Another torch may deal otherwise: then this says so, and every order that was written down is another one."""
    assert order_of(10, Settings(world_size=4), 0).tolist() == [4, 1, 7, 5, 3, 9, 0, 8, 6, 2, 4, 1]


def test_a_sampler_that_does_not_shuffle_needs_no_torch():
    with patch.dict(sys.modules, {"torch": None}):
        assert order_of(5, Settings(world_size=2, shuffle=False), 0).tolist() == [0, 1, 2, 3, 4, 0]
        with pytest.raises(UsageError, match=r"dataguard\[torch\]"):
            order_of(5, Settings(world_size=2), 0)


def test_collects_everything_that_can_be_judged():
    seen = simulate(40, Settings(world_size=4, batch_size=2, epochs=3, num_workers=2))
    assert [epoch.epoch for epoch in seen.epochs] == [epoch.epoch for epoch in seen.reproduction] == [0, 1, 2]
    assert [(each.world_size, each.batch_size, each.changed) for each in seen.resumes] == [(4, 2, False), (2, 4, True)]
    assert [each.seed for each in seen.seeds] == [1]
    assert len(seen.workers) == 8
    assert digest_of(seen.epochs[0]) == digest_of(seen.reproduction[0]) != digest_of(seen.epochs[1])


def test_a_loader_hands_its_batches_to_the_workers_in_turn():
    seen = simulate(10, Settings(batch_size=2, shuffle=False, num_workers=2))
    taken = [each.samples.tolist() for each in seen.workers if each.samples is not None]
    assert taken == [[0, 1, 4, 5, 8, 9], [2, 3, 6, 7]]


@pytest.mark.parametrize(("world", "batch", "other"), [(8, 4, (4, 8)), (3, 2, (6, 1)), (1, 4, (2, 2)), (3, 1, (1, 3))])
def test_another_world_has_as_large_a_batch(world: int, batch: int, other: tuple[int, int]):
    found = other_world(Settings(world_size=world, batch_size=batch))
    assert found is not None
    assert (found.world_size, found.batch_size) == other


def test_a_batch_of_one_leaves_no_other_world():
    assert other_world(Settings()) is None


@pytest.mark.parametrize("shuffle", [True, False])
def test_no_sample_is_dealt_twice_but_to_even_out_the_ranks(shuffle: bool):
    order = order_of(1001, Settings(world_size=8, shuffle=shuffle), 5)
    assert len(order) == 1008
    assert np.array_equal(np.sort(order[:1001]), np.arange(1001))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"world_size": 0}, "--world-size cannot be 0"),
        ({"batch_size": -1}, "--batch-size cannot be -1"),
        ({"epochs": 0}, "--epochs cannot be 0"),
        ({"seed": 1 << 63}, "--seed cannot be"),
        ({"seed": True}, "--seed cannot be True"),
        ({"drop_last": "some"}, "--drop-last cannot be 'some'"),
    ],
)
def test_settings_that_cannot_be_are_refused(given: dict[str, object], told: str):
    with pytest.raises(UsageError, match=told):
        replace(Settings(), **given)  # type: ignore[arg-type]


def test_what_torch_deals_holds_whatever_the_settings():
    dice, suite = random.Random(7), load_suite("sampler")
    for _ in range(400):
        settings = Settings(
            world_size=dice.randrange(1, 9),
            batch_size=dice.randrange(1, 6),
            epochs=dice.randrange(1, 4),
            seed=dice.randrange(1000),
            drop_last=dice.choice([False, True, "sampler", "loader"]),
            num_workers=dice.randrange(3),
        )
        samples = dice.randrange(40, 120)  # a batch for each rank at least
        result = Judging(suite, simulate(samples, settings), "info").result(chosen=False)
        failed = [(each.type, each.findings[:2]) for each in result.results if not each.success]
        assert failed == [], (samples, settings)


def test_fewer_samples_than_ranks_are_copied_or_missed():
    suite = load_suite("sampler")
    assert Judging(suite, simulate(3, Settings(world_size=5)), "critical").result(chosen=False).success
    lost = Judging(suite, simulate(3, Settings(world_size=5, drop_last="sampler")), "critical").result(chosen=False)
    assert {each.type for each in lost.failures()} >= {"expect_sampler_arguments_to_be_valid"}


@pytest.mark.parametrize(("seed", "epoch"), [(1 << 64, 0), ((1 << 64) - 1, 1), (-(1 << 63) - 1, 0), (0, 1 << 80)])
def test_a_seed_that_torch_does_not_take_is_one_message(seed: int, epoch: int):
    with pytest.raises(UsageError, match="there is no order for seed"):
        order_of(4, Settings(), epoch, seed)


def test_workers_past_the_number_of_batches_cost_nothing():
    seen = simulate(6, Settings(world_size=2, num_workers=1 << 31))
    assert [(each.rank, each.worker) for each in seen.workers] == [
        (rank, number) for rank in (0, 1) for number in range(3)
    ]
