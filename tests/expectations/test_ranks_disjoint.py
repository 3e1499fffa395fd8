"""expect_ranks_to_be_disjoint, and which copies are padding."""

from __future__ import annotations

from typing import Any

from dataguard.result import ExpectationResult
from tests.builders import observation, sampled


def judged(*ranks: list[int], **more: Any) -> ExpectationResult:
    return sampled("expect_ranks_to_be_disjoint", observation(list(ranks), **more))


def test_accepts_ranks_that_share_nothing():
    assert judged([0, 2], [1, 3]).success


def test_flags_each_sample_that_a_second_rank_takes():
    result = judged([4, 0, 3], [4, 1, 0], samples=6)
    assert [(each.rank, each.position, each.value) for each in result.findings] == [(1, 0, 4), (1, 2, 0)]


def test_copies_that_even_out_the_ranks_are_no_overlap():
    assert judged([0, 4], [1, 0], [2, 1], [3, 2], samples=5).success
    assert judged([0], [1], [0], [1], [0], samples=2).success


def test_so_are_copies_that_fill_the_last_batches():
    assert judged([0, 1, 2, 6, 0, 1], [3, 4, 5, 2, 3, 4], samples=7, batch_size=3).success


def test_a_copy_that_stands_where_no_padding_does_is_an_overlap():
    assert [(each.rank, each.value) for each in judged([0, 1, 2], [0, 3, 4], samples=5).findings] == [(1, 0)]


def test_more_copies_than_padding_needs_are_overlaps():
    result = judged([0, 1], [2, 1], [3, 1], samples=5)
    assert result.details["reasons"] == {"overlap": 2}


def test_where_the_sampler_drops_there_is_no_padding():
    assert not judged([0, 4], [1, 0], [2, 1], [3, 2], samples=5, drop_last=True).success


def test_every_rank_that_reads_everything_overlaps():
    assert judged([0, 1, 2], [0, 1, 2]).details["reasons"] == {"overlap": 3}


def test_items_say_what_is_the_same():
    assert not judged([0, 1], [2, 3], items=["a", "b", "a", "c"]).success
    assert judged([0, 1], [2, 3], items=["a", "b", "d", "c"]).success


def test_a_sample_that_comes_twice_on_one_rank_is_not_shared():
    assert judged([0, 0, 0], [1, 2, 3]).success


def test_many_overlaps_are_all_counted():
    result = judged(list(range(500)), list(range(500)))
    assert (result.unexpected_count, len(result.findings)) == (500, 200)


def test_numbers_of_samples_may_be_far_beyond_memory():
    far = 3_000_000_000_000_000_000
    result = sampled("expect_ranks_to_be_disjoint", observation([[0, far], [far, 1]], samples=far + 5))
    assert [(each.reason, each.value) for each in result.findings] == [("overlap", far)]
