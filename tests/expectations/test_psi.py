"""The population stability index, and what chance alone makes of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.expectations.psi import by_chance, psi
from tests.examples import examples


def of(*counts: int) -> np.ndarray:
    return np.array(counts)


def test_the_index_is_0_for_one_mix_and_grows_with_the_difference():
    even, skewed, other = of(500, 500), of(600, 400), of(1000, 0)
    assert psi(even, even) == 0
    assert 0 < psi(even, skewed) < 0.1 < psi(even, other)
    assert psi(even, skewed) == pytest.approx(0.04, abs=0.005)


def test_an_empty_side_says_nothing():
    assert psi(of(0, 0), of(5, 5)) == psi(of(5, 5), of(0, 0)) == 0


def test_classes_that_nobody_has_change_nothing():
    assert psi(of(5, 0, 5), of(9, 0, 1)) == psi(of(5, 5), of(9, 1))


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=6))
def test_agrees_with_the_formula(pairs: list[tuple[int, int]]):
    ours, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    if not sum(ours) or not sum(theirs):
        return
    used = [(a, b) for a, b in pairs if a or b]
    p = [(a + 0.5) / (sum(ours) + 0.5 * len(used)) for a, _ in used]
    q = [(b + 0.5) / (sum(theirs) + 0.5 * len(used)) for _, b in used]
    expected = sum((x - y) * math.log(x / y) for x, y in zip(p, q, strict=True))
    assert psi(of(*ours), of(*theirs)) == pytest.approx(expected, abs=1e-6)
    assert psi(of(*ours), of(*theirs)) == psi(of(*theirs), of(*ours))


def test_tokens_that_are_worth_few_samples_are_smoothed_as_few():
    tokens = of(1000, 0), of(0, 1000)
    assert psi(*tokens, (10, 10)) == psi(of(10, 0), of(0, 10)) < psi(*tokens)


@pytest.mark.parametrize(("classes", "quantile"), [(2, 10.83), (4, 16.27), (11, 29.59), (31, 59.70)])
def test_chance_is_a_quantile_of_the_chi_squared_law(classes: int, quantile: float):
    assert by_chance(classes, (100, 300)) == pytest.approx(quantile * (1 / 100 + 1 / 300), rel=0.035)


def test_one_class_leaves_nothing_to_chance():
    assert by_chance(1, (5, 5)) == 0


def test_classes_that_move_together_leave_more_to_chance():
    assert by_chance(4, (9, 9), clustered=True) == by_chance(4, (9, 9))
    assert by_chance(12, (9, 9), clustered=True) == pytest.approx(11 / 3 * by_chance(4, (9, 9)), rel=1e-5)


@pytest.mark.parametrize(("rows", "others"), [(50, 50), (50, 5000), (1000, 1000)])
def test_two_draws_from_one_mix_exceed_it_hardly_ever(rows: int, others: int):
    draw = np.random.default_rng(7)
    mix = draw.dirichlet(np.ones(10) * 5)
    pairs = [(draw.multinomial(rows, mix), draw.multinomial(others, mix)) for _ in range(2000)]
    beyond = sum(psi(a, b) > by_chance(int(((a > 0) | (b > 0)).sum()), (rows, others)) for a, b in pairs)
    assert beyond <= 10
