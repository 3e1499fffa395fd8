"""expect_epoch_orders_to_differ."""

from __future__ import annotations

from typing import Any

import pytest

from dataguard.result import ExpectationResult
from tests.builders import observation, sampled

A, B = [4, 1, 3, 5, 0, 2], [0, 5, 2, 1, 4, 3]


def judged(*epochs: Any, **kwargs: Any) -> ExpectationResult:
    return sampled("expect_epoch_orders_to_differ", observation(*epochs), **kwargs)


def test_accepts_orders_that_differ():
    assert judged([A], [B]).success


def test_flags_every_epoch_that_repeats_one_wherever_it_stands():
    result = judged([A], [B], [A], [A])
    assert [(each.epoch, each.detail) for each in result.findings] == [
        (2, "the order of epoch 0"),
        (3, "the order of epoch 0"),
    ]


def test_orders_may_repeat_without_shuffling():
    assert judged([A], [A], shuffle=False).success


def test_flags_one_rank_that_was_not_told_of_the_epoch():
    ours, theirs, again = list(range(40)), list(range(40, 80)), list(range(79, 39, -1))
    (found,) = judged([ours, theirs], [ours, again]).findings
    assert (found.reason, found.epoch, found.rank) == ("same_order", 1, 0)


def test_a_rank_that_takes_the_same_few_samples_by_chance_is_no_fault():
    assert judged([[0], [1], [2]], [[0], [2], [1]]).success


def test_one_epoch_cannot_be_judged():
    assert judged([A]).unjudged is not None
    assert judged([A], shuffle=False).success


def test_a_single_sample_has_one_order():
    assert judged([[0]], [[0]]).success


@pytest.mark.parametrize(("samples", "same"), [(10**18, {"same_order": 1}), (5, {})])
def test_a_rank_with_the_same_order_is_told_from_chance_in_a_dataset_of_any_size(samples: int, same: dict[str, int]):
    seen = observation([[0, 1, 2], [3, 4]], [[0, 1, 2], [4, 3]], samples=samples)
    assert sampled("expect_epoch_orders_to_differ", seen).details.get("reasons", {}) == same


def test_one_sample_has_one_order_however_many_ranks_take_a_copy():
    assert sampled("expect_epoch_orders_to_differ", observation([[0], [0]], [[0], [0]])).success
