"""expect_sampler_arguments_to_be_valid."""

from __future__ import annotations

import pytest

from tests.builders import observation, sampled

VALID = "expect_sampler_arguments_to_be_valid"


def test_accepts_ranks_of_their_world():
    told = [{"rank": 0, "world_size": 2}, {"rank": 1, "world_size": 2}]
    assert sampled(VALID, observation([[0], [1]], arguments=told)).success


@pytest.mark.parametrize(
    ("rank", "world", "reason"), [(2, 2, "bad_rank"), (-1, 2, "bad_rank"), (0, 0, "bad_world_size")]
)
def test_flags_what_a_process_told_its_sampler(rank: int, world: int, reason: str):
    result = sampled(VALID, observation([[0], [1]], arguments=[{"rank": rank, "world_size": world}]))
    assert [(each.reason, each.rank) for each in result.findings] == [(reason, rank)]
    assert not result.success


def test_flags_a_world_without_ranks():
    result = sampled(VALID, observation([[0]], world_size=0))
    assert [(each.reason, each.value) for each in result.findings] == [("bad_world_size", 0)]


def test_flags_a_world_that_is_not_as_large_as_it_was_told():
    assert sampled(VALID, observation([[0, 2], [1, 3]], world_size=3)).details["reasons"] == {"bad_world_size": 1}


def test_flags_the_rank_without_a_sample():
    result = sampled(VALID, observation([[0, 1], []]))
    assert [(each.reason, each.epoch, each.rank) for each in result.findings] == [("no_samples", 0, 1)]


def test_more_ranks_than_samples_are_noted_and_hold():
    result = sampled(VALID, observation([[0], [1], [0]]))
    assert result.success
    assert result.details["reasons"] == {"world_larger_than_data": 1}
    assert result.unexpected_count == 0


@pytest.mark.parametrize(
    ("drop_last", "reasons"), [("loader", {"no_samples": 2}), (True, {"no_samples": 2}), (False, {})]
)
def test_flags_ranks_whose_only_batch_is_incomplete_and_left_out(drop_last: object, reasons: dict[str, int]):
    seen = observation([[0, 2], [1, 3]], batch_size=8, drop_last=drop_last)
    assert sampled(VALID, seen).details.get("reasons", {}) == reasons


def test_flags_the_rank_of_which_no_batch_was_counted():
    seen = observation([[0, 2], [1, 3]])
    seen["epochs"][0]["batches"] = [2, 0]
    assert [(each.reason, each.rank) for each in sampled(VALID, seen).findings] == [("no_samples", 1)]
