"""expect_worker_seeds_to_differ."""

from __future__ import annotations

from typing import Any

from dataguard.result import ExpectationResult
from tests.builders import observation, sampled


def judged(*workers: dict[str, Any]) -> ExpectationResult:
    return sampled("expect_worker_seeds_to_differ", observation([[0]], workers=list(workers)))


def worker(epoch: int, rank: int, number: int, **stream: Any) -> dict[str, Any]:
    return {"epoch": epoch, "rank": rank, "worker": number, **stream}


def test_accepts_seeds_that_all_differ():
    assert judged(worker(0, 0, 0, seed=1), worker(0, 0, 1, seed=2), worker(1, 0, 0, seed=3)).success


def test_flags_workers_with_the_same_seed():
    (found,) = judged(worker(0, 0, 0, seed=1), worker(0, 0, 1, seed=1)).findings
    assert (found.reason, found.epoch, found.rank) == ("same_worker_seed", 0, 0)


def test_flags_workers_of_two_ranks_with_the_same_seed():
    (found,) = judged(worker(0, 0, 0, seed=1), worker(0, 1, 0, seed=1)).findings
    assert (found.reason, found.rank) == ("same_worker_seed", 1)


def test_flags_a_worker_that_draws_the_same_in_each_epoch():
    result = judged(worker(0, 0, 0, draws=[3, 1]), worker(1, 0, 0, draws=[3, 1]))
    assert result.details["reasons"] == {"same_seed_each_epoch": 1}


def test_what_was_drawn_says_more_than_the_seed():
    assert judged(worker(0, 0, 0, seed=1, draws=[1]), worker(1, 0, 0, seed=1, draws=[2])).success
    assert not judged(worker(0, 0, 0, seed=1, draws=[1]), worker(0, 0, 1, seed=2, draws=[1])).success


def test_a_worker_that_is_told_twice_is_one_worker():
    assert judged(worker(0, 0, 0, seed=1), worker(0, 0, 0, seed=1)).success


def test_is_unjudged_where_no_stream_was_observed():
    assert judged(worker(0, 0, 0, samples=[0])).unjudged is not None
