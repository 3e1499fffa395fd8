"""expect_workers_to_be_disjoint."""

from __future__ import annotations

from typing import Any

from dataguard.result import ExpectationResult
from tests.builders import observation, sampled


def judged(*taken: tuple[int, int, int, list[int]], **more: Any) -> ExpectationResult:
    """Judge (epoch, rank, worker, samples)."""
    keys = ("epoch", "rank", "worker", "samples")
    workers = [dict(zip(keys, each, strict=True)) for each in taken]
    document = observation([[0, 1, 2, 3]], samples=8, workers=workers, **more)
    return sampled("expect_workers_to_be_disjoint", document)


def test_accepts_workers_that_share_nothing():
    assert judged((0, 0, 0, [0, 2]), (0, 0, 1, [1, 3])).success


def test_flags_each_sample_that_a_second_worker_takes():
    result = judged((0, 0, 0, [0, 1]), (0, 0, 3, [1, 2]))
    (found,) = result.findings
    assert (found.reason, found.epoch, found.rank, found.value, found.detail) == (
        "worker_duplicate",
        0,
        0,
        1,
        "workers 0 and 3",
    )


def test_workers_of_other_ranks_and_epochs_are_not_compared():
    assert judged((0, 0, 0, [0]), (0, 1, 0, [0]), (1, 0, 1, [0])).success


def test_parts_of_one_worker_belong_together():
    assert judged((0, 0, 0, [0]), (0, 0, 0, [0])).success


def test_items_say_what_is_the_same():
    items = ["a", "b", "a", "c", "d", "e", "f", "g"]
    assert not judged((0, 0, 0, [0]), (0, 0, 1, [2]), items=items).success


def test_is_unjudged_without_workers():
    assert sampled("expect_workers_to_be_disjoint", observation([[0]])).unjudged is not None
