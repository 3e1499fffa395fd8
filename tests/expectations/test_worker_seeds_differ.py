"""expect_worker_seeds_to_differ."""

from __future__ import annotations

from typing import Any

import pytest

from dataguard.expectations.observation import Worker
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


def test_many_workers_are_not_compared_each_with_each(monkeypatch: pytest.MonkeyPatch):
    compared, same = [], Worker.same_stream
    monkeypatch.setattr(Worker, "same_stream", lambda *pair: compared.append(pair) or same(*pair))
    workers = [{"epoch": 0, "rank": rank, "worker": 0, "seed": rank, "draws": [rank / 7]} for rank in range(500)]
    workers.append({"epoch": 0, "rank": 500, "worker": 0, "seed": 17})
    workers.append({"epoch": 0, "rank": 501, "worker": 0, "seed": 502, "draws": [3 / 7]})
    result = sampled("expect_worker_seeds_to_differ", observation([[0]], workers=workers))
    assert [(each.rank, each.detail) for each in result.findings] == [
        (500, "worker 0 draws what worker 0 of rank 17 draws"),
        (501, "worker 0 draws what worker 0 of rank 3 draws"),
    ]
    assert len(compared) < 20
