"""expect_seeds_to_agree_in_distribution."""

from __future__ import annotations

import random
from typing import Any

import pytest

from dataguard.result import ExpectationResult
from tests.builders import observation, sampled

MANY = 4000


def shuffled(seed: int) -> list[int]:
    order = list(range(MANY))
    random.Random(seed).shuffle(order)
    return order


def judged(own: list[int], other: list[int], more: dict[str, Any], **kwargs: Any) -> ExpectationResult:
    seeds = [{"seed": 1, "epochs": [{"epoch": 0, "ranks": [other]}]}]
    document = observation([own], samples=MANY, seeds=seeds, **more)
    return sampled("expect_seeds_to_agree_in_distribution", document, **kwargs)


LENGTHS = {"lengths": [each % 997 for each in range(MANY)]}
SOURCES = {"sources": ["web" if each < MANY // 2 else "code" for each in range(MANY)]}


@pytest.mark.parametrize("more", [LENGTHS, SOURCES])
def test_accepts_two_shuffles_of_all_samples(more: dict[str, Any]):
    assert judged(shuffled(0), shuffled(1), more).success


def test_flags_a_seed_that_takes_one_source_first():
    result = judged(shuffled(0), list(range(MANY)), SOURCES)
    (found,) = result.findings
    assert (found.reason, found.epoch) == ("biased_order", 0)
    assert found.value > 0.1
    assert "source under seed 1" in str(found.detail)


def test_flags_a_seed_that_takes_short_samples_first():
    result = judged(shuffled(0), sorted(range(MANY), key=lambda each: each % 997), LENGTHS)
    assert result.details["reasons"] == {"biased_order": 1}
    assert judged(shuffled(0), sorted(range(MANY)), LENGTHS, max_psi=100).success


def test_flags_a_seed_that_changes_nothing():
    assert judged(shuffled(0), shuffled(0), LENGTHS).details["reasons"] == {"same_order": 1}


def test_a_seed_that_was_not_observed_cannot_be_compared():
    assert judged(shuffled(0), shuffled(1), LENGTHS, seeds=[5]).unjudged is not None
    assert judged(shuffled(0), shuffled(1), LENGTHS, seeds=[1]).success


def test_needs_lengths_or_sources():
    assert judged(shuffled(0), shuffled(1), {}).unjudged is not None


def test_few_samples_are_compared_as_a_whole():
    seeds = [{"seed": 1, "epochs": [{"epoch": 0, "ranks": [[0, 1, 2, 3]]}]}]
    document = observation([[3, 1, 0, 2]], seeds=seeds, sources=["a", "a", "b", "b"])
    assert sampled("expect_seeds_to_agree_in_distribution", document).success


def test_a_seed_of_which_nothing_was_taken_is_not_judged():
    result = judged(shuffled(0), [], SOURCES)
    assert (result.success, result.unjudged is not None) == (False, True)


def test_a_seed_may_be_observed_in_several_entries():
    entries = [{"seed": 1, "epochs": [{"epoch": epoch, "ranks": [list(range(MANY))]}]} for epoch in (0, 9)]
    document = observation([shuffled(0)], samples=MANY, seeds=entries, **SOURCES)
    assert sampled("expect_seeds_to_agree_in_distribution", document).details["reasons"] == {"biased_order": 1}
