"""expect_ranks_to_be_equally_long."""

from __future__ import annotations

from typing import Any

import pytest

from dataguard.result import ExpectationResult
from tests.builders import observation, sampled


def judged(sizes: list[int], unit: str = "batch", **more: Any) -> ExpectationResult:
    starts = [sum(sizes[:rank]) for rank in range(len(sizes))]
    ranks = [list(range(start, start + size)) for start, size in zip(starts, sizes, strict=True)]
    return sampled("expect_ranks_to_be_equally_long", observation(ranks, **more), unit=unit)


def test_accepts_as_many_batches():
    assert judged([4, 4], batch_size=3).success
    assert judged([4, 5], batch_size=3).success


def test_names_the_rank_that_runs_out_and_the_step_at_which_others_wait():
    (found,) = judged([4, 3, 4], batch_size=3).findings
    assert (found.reason, found.rank, found.value) == ("unequal_batches", 1, 1)
    assert "step 1" in str(found.detail)


@pytest.mark.parametrize(("drop_last", "holds"), [(True, True), ("loader", True), ("sampler", False), (False, False)])
def test_what_the_loader_drops_does_not_count(drop_last: Any, holds: bool):
    assert judged([4, 3], batch_size=3, drop_last=drop_last).success is holds


def test_samples_are_counted_where_asked_for():
    (found,) = judged([4, 5], unit="sample", batch_size=3).findings
    assert (found.reason, found.rank, found.value) == ("unequal_samples", 0, 4)


def test_a_rank_that_hung_has_fewer_however_many_the_others_had():
    (found,) = judged([4, 4], stalls=[{"epoch": 0, "rank": 1, "step": 4, "seconds": 60}]).findings
    assert (found.reason, found.rank, found.value) == ("unequal_batches", 1, 4)
