"""expect_samples_to_be_covered."""

from __future__ import annotations

from typing import Any

import pytest

from dataguard.result import ExpectationResult
from tests.builders import observation, sampled


def judged(*ranks: list[int], arguments: Any = None, **more: Any) -> ExpectationResult:
    return sampled("expect_samples_to_be_covered", observation(list(ranks), **more), **(arguments or {}))


def test_accepts_every_sample_taken():
    assert judged([0, 2], [1, 3]).success


def test_flags_each_sample_that_is_never_seen():
    result = judged([0, 2], [1, 0], samples=5)
    assert [(each.reason, each.value) for each in result.findings] == [("never_seen", 3), ("never_seen", 4)]


@pytest.mark.parametrize(("drop_last", "holds"), [(False, False), ("loader", True), ("sampler", True), (True, True)])
def test_what_the_settings_leave_out_may_be_missing(drop_last: Any, holds: bool):
    assert judged([0, 2], [1, 3], samples=5, batch_size=2, drop_last=drop_last).success is holds


def test_the_sampler_may_not_drop_more():
    assert judged([0], [1], samples=4, drop_last="sampler").details["reasons"] == {"never_seen": 2}


def test_the_loader_may_drop_the_incomplete_batch_of_every_rank():
    assert judged([0, 2, 4], [1, 3, 5], samples=7, batch_size=3, drop_last="loader").success
    assert not judged([0, 2, 4], [1, 3, 5], samples=12, batch_size=3, drop_last="loader").success


def test_an_argument_wins_over_what_was_observed():
    given = {"drop_last": "sampler"}
    assert judged([0, 2], [1, 3], samples=5, arguments=given).success
    assert not judged([0, 2], [1, 3], samples=5, drop_last=True, arguments={"drop_last": False}).success


def test_a_sample_whose_like_was_taken_is_covered():
    assert judged([0], [1], samples=3, items=["a", "b", "a"]).success


def test_each_epoch_is_judged_by_itself():
    document = observation([[0, 1]], [[0, 0]], samples=2)
    assert [each.epoch for each in sampled("expect_samples_to_be_covered", document).findings] == [1]


def test_a_dataset_far_longer_than_what_was_taken_is_counted_without_being_laid_out():
    result = judged([0, 7], [1, 4_000_000_000_000], samples=4_000_000_000_000_000_000)
    assert result.unexpected_count == 4_000_000_000_000_000_000 - 4
    assert [each.value for each in result.findings][:6] == [2, 3, 4, 5, 6, 8]
    assert len(result.findings) == 200
