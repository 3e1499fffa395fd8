"""expect_resume_to_continue."""

from __future__ import annotations

from typing import Any

import pytest

from dataguard.result import ExpectationResult
from tests.builders import observation, sampled

UNBROKEN = [[3, 0, 4, 2], [5, 1, 7, 6]]
OTHER = [[1, 7, 6, 5], [0, 2, 3, 4]]


def judged(ranks: Any, mode: str = "exact", **resume: Any) -> ExpectationResult:
    """Judge what followed after two samples of each of two ranks."""
    given = {"epoch": 0, "consumed_per_rank": 2, "unbroken": UNBROKEN, "ranks": ranks, **resume}
    document = observation(UNBROKEN, OTHER, batch_size=2, resume=given)
    return sampled("expect_resume_to_continue", document, mode=mode)


@pytest.mark.parametrize("mode", ["exact", "elastic"])
class TestBothModes:
    def test_accepts_what_an_unbroken_run_has(self, mode: str):
        assert judged([[4, 2], [7, 6]], mode).success

    def test_flags_samples_that_come_again(self, mode: str):
        result = judged([[0, 4], [1, 7]], mode)
        assert {(each.reason, each.value) for each in result.findings} == {
            ("repeated", 0),
            ("repeated", 1),
            ("skipped", 2),
            ("skipped", 6),
        }

    def test_flags_samples_that_do_not_come_any_more(self, mode: str):
        result = judged([[2], [6]], mode)
        assert {(each.reason, each.value) for each in result.findings} == {("skipped", 4), ("skipped", 7)}

    def test_names_the_epoch_that_goes_on_instead(self, mode: str):
        (found,) = judged([[6, 5], [3, 4]], mode).findings
        assert (found.reason, found.detail) == ("wrong_epoch", "the order of epoch 1 goes on")

    def test_names_the_epoch_that_begins_instead(self, mode: str):
        assert judged([[1, 7], [0, 2]], mode).details["reasons"] == {"wrong_epoch": 1}


def test_exact_wants_every_rank_to_go_on_with_its_own():
    assert not judged([[7, 6], [4, 2]]).success
    assert judged([[7, 6], [4, 2]], "elastic").success


def test_elastic_takes_another_number_of_ranks():
    more = {"world_size": 4, "batch_size": 1}
    assert judged([[4], [2], [7], [6]], "elastic", **more).success
    assert not judged([[4], [2], [7], [6]], "exact", **more).success


def test_elastic_wants_the_same_samples_in_each_global_step():
    unbroken = [[0, 1, 2, 3, 4, 5]]
    given = {"epoch": 0, "consumed_per_rank": 2, "unbroken": unbroken, "ranks": [[2, 5], [4, 3]], "batch_size": 1}
    document = observation(unbroken, batch_size=2, resume={**given, "world_size": 2})
    result = sampled("expect_resume_to_continue", document, mode="elastic")
    assert "global step 0" in str(result.findings[0].detail)


def test_steps_of_another_size_are_compared_where_both_end():
    unbroken = [[0, 1, 2, 3, 4, 5, 6, 7]]
    given = {"epoch": 0, "consumed_per_rank": 2, "unbroken": unbroken, "world_size": 3, "batch_size": 1}
    document = observation(unbroken, batch_size=2, resume={**given, "ranks": [[2, 5], [3, 6], [4, 7]]})
    assert sampled("expect_resume_to_continue", document, mode="elastic").success
    document["resume"]["ranks"] = [[2, 5], [3, 6], [4, 1]]
    assert not sampled("expect_resume_to_continue", document, mode="elastic").success


def test_copies_that_even_out_other_ranks_at_the_end_do_not_count():
    given = {"epoch": 0, "consumed_per_rank": 1, "unbroken": [[0, 1, 2, 3]], "world_size": 2, "batch_size": 1}
    document = observation([[0, 1, 2, 3]], batch_size=2, resume={**given, "ranks": [[1, 3], [2, 1]]})
    assert sampled("expect_resume_to_continue", document, mode="elastic").success


def test_exact_judges_the_resumes_with_as_many_ranks():
    same = {"epoch": 0, "consumed_per_rank": 2, "unbroken": UNBROKEN, "ranks": [[4, 2], [7, 6]]}
    other = {**same, "ranks": [[4], [2], [7], [6]], "world_size": 4, "batch_size": 1}
    document = observation(UNBROKEN, batch_size=2, resume=[same, other])
    assert sampled("expect_resume_to_continue", document).success
    assert sampled("expect_resume_to_continue", document, mode="elastic").success


def test_items_say_what_is_the_same():
    given = {"epoch": 0, "consumed_per_rank": 1, "unbroken": [[0, 1, 2]], "ranks": [[1, 0]]}
    document = observation([[0, 1, 2]], items=["a", "b", "c"], resume=given)
    result = sampled("expect_resume_to_continue", document)
    assert {(each.reason, each.value) for each in result.findings} == {("repeated", 0), ("skipped", 2)}


def test_what_one_number_of_ranks_leaves_out_at_the_end_does_not_count():
    given = {"epoch": 0, "consumed_per_rank": 1, "unbroken": [[0, 2], [1, 3]], "world_size": 1, "batch_size": 2}
    document = observation([[0, 2], [1, 3]], samples=5, drop_last="sampler", resume={**given, "ranks": [[2, 3, 4]]})
    assert sampled("expect_resume_to_continue", document, mode="elastic").success
    document["resume"]["ranks"] = [[2, 3, 1, 0]]
    assert not sampled("expect_resume_to_continue", document, mode="elastic").success


def test_numbers_of_samples_may_be_far_beyond_memory():
    far = 3_000_000_000_000_000_000
    resume = {"epoch": 0, "consumed_per_rank": 1, "unbroken": [[0, far, 1]], "ranks": [[far, far]]}
    result = sampled("expect_resume_to_continue", observation([[0, far, 1]], samples=far + 5, resume=resume))
    assert [(each.reason, each.value) for each in result.findings] == [("repeated", far), ("skipped", 1)]
