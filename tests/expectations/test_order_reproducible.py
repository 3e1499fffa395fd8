"""expect_order_to_be_reproducible."""

from __future__ import annotations

from typing import Any

from dataguard.result import ExpectationResult
from tests.builders import observation, sampled


def judged(first: Any, second: Any, **more: Any) -> ExpectationResult:
    """Return the verdict on one epoch, collected twice."""
    document = observation([[0, 1, 2], [3, 4, 5]], **more)
    document["epochs"][0] |= first
    document["reproduction"] = [{**document["epochs"][0], **second}]
    return sampled("expect_order_to_be_reproducible", document)


def test_accepts_the_same_twice():
    assert judged({}, {}).success


def test_flags_the_rank_and_the_position_that_differ():
    result = judged({}, {"ranks": [[0, 1, 2], [3, 5, 4]]})
    (found,) = result.findings
    assert (found.reason, found.epoch, found.rank, found.position, found.value) == ("different_order", 0, 1, 1, 4)


def test_flags_an_order_that_ends_earlier():
    (found,) = judged({}, {"ranks": [[0, 1], [3, 4, 5]]}).findings
    assert (found.reason, found.rank, found.position) == ("different_order", 0, 2)


def test_flags_the_same_numbers_with_other_content():
    result = judged({"first_batch": ["aa", "bb"]}, {"first_batch": ["aa", "cc"]})
    assert [(each.reason, each.rank) for each in result.findings] == [("different_first_batch", 1)]


def test_another_sample_in_the_first_batch_is_another_first_batch():
    result = judged({}, {"ranks": [[1, 0, 2], [3, 4, 5]]})
    assert result.details["reasons"] == {"different_first_batch": 1, "different_order": 1}


def test_is_unjudged_where_nothing_was_collected_twice():
    result = sampled("expect_order_to_be_reproducible", observation([[0]]))
    assert result.unjudged is not None
    other = observation([[0]], reproduction=[{"epoch": 7, "ranks": [[0]]}])
    assert sampled("expect_order_to_be_reproducible", other).unjudged is not None


def test_content_that_was_looked_at_once_alone_is_no_difference():
    assert judged({"first_batch": ["aa", "bb"]}, {"first_batch": None}).success
    assert judged({}, {"first_batch": ["aa", "bb"]}).success
    (found, *_) = judged({"first_batch": ["aa", "bb"]}, {"first_batch": None, "ranks": [[1, 0, 2], [3, 4, 5]]}).findings
    assert found.rank == 0
