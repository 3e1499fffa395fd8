"""Warming leaves nothing to compile."""

from __future__ import annotations

import pytest

from dataguard.expectations import EXPECTATIONS
from dataguard.expectations.base import Expectation
from dataguard.metrics.base import Metric
from dataguard.run.kernels import PER_ROW, examples_of, planned, role_sets, warm_all


def concrete(kind: type[Metric]) -> set[type[Metric]]:
    """Return the metrics of ours that derive from a class and can be computed."""
    below = set().union(*(concrete(each) for each in kind.__subclasses__()))
    own = {kind} if hasattr(kind, "gives") and kind.__module__.startswith("dataguard.") else set()
    return own | below


@pytest.mark.parametrize("kind", EXPECTATIONS.values(), ids=EXPECTATIONS)
def test_every_expectation_can_be_asked(kind: type[Expectation]) -> None:
    assert list(examples_of(kind))


def test_an_argument_that_is_a_choice_is_tried_each_way() -> None:
    sides = {each.side for each in examples_of(EXPECTATIONS["expect_padding_side_to_be"])}
    assert sides == {"auto", "left", "right", "none"}


def test_every_metric_is_among_them() -> None:
    found = {type(metric) for _, metrics in planned(EXPECTATIONS) for metric in metrics}
    assert concrete(Metric) - found == set()


def test_every_column_is_among_them() -> None:
    read = {
        role for _, metrics in planned(EXPECTATIONS) for each in metrics for role in (*each.reads(), *each.may_read())
    }
    assert read - set(PER_ROW) <= {role for roles in role_sets() for role in roles}


def test_a_second_time_there_is_nothing_left_to_do() -> None:
    told: list[str] = []
    first = warm_all(EXPECTATIONS, told.append)
    second = warm_all(EXPECTATIONS)
    assert (second.kernels, second.compiled, second.found) == (first.kernels, first.compiled, first.found)
    assert first.kernels >= 20
    assert first.left_out == ()
    assert len(told) <= 1
