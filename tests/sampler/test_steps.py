"""Which samples each rank took at a step."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dataguard.errors import UsageError
from dataguard.sampler.observation import observation_of
from dataguard.sampler.settings import Settings
from dataguard.sampler.steps import Steps, computed_steps, narrowed, observed_steps, robust_deviation
from tests.builders import observation

IN_ORDER = Settings(world_size=2, batch_size=2, shuffle=False)


def taken(steps: Steps) -> dict[tuple[int, int], list[int]]:
    """Return the samples by step and rank."""
    found: dict[tuple[int, int], list[int]] = {}
    for at, rank, sample in zip(steps.at.tolist(), steps.ranks.tolist(), steps.samples.tolist(), strict=True):
        found.setdefault((at, rank), []).append(sample)
    return found


def test_a_step_is_a_batch_of_every_rank():
    assert taken(computed_steps(12, IN_ORDER, 1, None, 0)) == {(1, 0): [4, 6], (1, 1): [5, 7]}


def test_steps_go_on_over_epochs():
    steps = computed_steps(12, IN_ORDER, 7, None, 0)
    assert (steps.epoch, steps.step, steps.steps) == (2, 1, 3)
    assert computed_steps(12, IN_ORDER, 1, 2, 0).epoch == 2


def test_a_window_ends_where_the_epoch_does():
    steps = computed_steps(12, IN_ORDER, 2, 0, 5)
    assert sorted(taken(steps)) == [(step, rank) for step in range(3) for rank in range(2)]


def test_gradients_are_accumulated_over_batches():
    settings = Settings(world_size=1, batch_size=2, shuffle=False, grad_accum=2)
    assert taken(computed_steps(10, settings, 1, None, 0)) == {(1, 0): [4, 5, 6, 7]}
    assert taken(computed_steps(10, settings, 2, None, 0)) == {(2, 0): [8, 9]}


@pytest.mark.parametrize(("drop_last", "steps"), [(False, 3), ("sampler", 3), ("loader", 3), (True, 2)])
def test_an_incomplete_batch_is_a_step_unless_it_is_dropped(drop_last: Any, steps: int):
    settings = Settings(world_size=2, batch_size=2, shuffle=False, drop_last=drop_last)
    assert computed_steps(11, settings, 0, None, 0).steps == steps


def test_an_observed_order_is_taken_as_it_is():
    seen = observation_of(json.dumps(observation([[3, 1], [0, 2]], [[1, 2], [3, 0]])), "observed.json")
    assert taken(observed_steps(seen, 1, 1, None, 0)) == {(1, 0): [1], (1, 1): [2]}
    steps = observed_steps(seen, 1, 3, None, 0)
    assert (steps.epoch, steps.step, taken(steps)) == (1, 1, {(1, 0): [2], (1, 1): [0]})
    assert observed_steps(seen, 1, 0, 1, 0).epoch == 1


def test_a_step_that_there_is_not_is_one_message():
    with pytest.raises(UsageError, match="epoch 0 has no step 3"):
        computed_steps(12, IN_ORDER, 3, 0, 0)
    with pytest.raises(UsageError, match="no epoch has a step"):
        computed_steps(1, Settings(world_size=2, drop_last="sampler"), 0, None, 0)
    seen = observation_of(json.dumps(observation([[0], [1]])), "observed.json")
    with pytest.raises(UsageError, match="end before that step"):
        observed_steps(seen, 1, 1, None, 0)
    with pytest.raises(UsageError, match="epoch 5 was not observed"):
        observed_steps(seen, 1, 0, 5, 0)


def test_too_many_rows_narrow_the_window_and_never_the_step():
    steps = computed_steps(100, Settings(shuffle=False), 50, 0, 10)
    near, reach = narrowed(steps, 7)
    assert (near.samples.tolist(), reach) == ([47, 48, 49, 50, 51, 52, 53], 3)
    assert narrowed(steps, 0)[0].samples.tolist() == [50]
    assert narrowed(steps, 21)[1] is None


def test_deviation_is_that_from_the_median_in_robust_units():
    found = robust_deviation([1, 2, 3, 4, 5, 1000, None])
    assert found.argmax() == 5
    assert found[-1] == 0
    assert robust_deviation([7] * 9 + [8])[-1] > 3
    assert robust_deviation([2, 2, 2]).tolist() == [0, 0, 0]
    assert robust_deviation([None, None]).tolist() == [0, 0]
    assert np.isfinite(found).all()
