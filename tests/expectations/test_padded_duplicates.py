"""expect_no_padded_duplicates."""

from __future__ import annotations

from tests.builders import observation, sampled

PADDED = "expect_no_padded_duplicates"
FIVE = observation([[0, 4], [1, 0], [2, 1], [3, 2]])


def test_counts_copies_and_holds():
    result = sampled(PADDED, FIVE)
    assert result.success
    assert (result.details["reasons"], result.unexpected_count, result.observed_value) == (
        {"padded_duplicate": 3},
        0,
        3,
    )


def test_flags_them_where_results_must_be_exact():
    result = sampled(PADDED, FIVE, exact=True)
    assert [(each.rank, each.position, each.value) for each in result.findings] == [(1, 1, 0), (2, 1, 1), (3, 1, 2)]


def test_accepts_ranks_that_divide_the_samples():
    result = sampled(PADDED, observation([[0, 2], [1, 3]]), exact=True)
    assert result.success
    assert "reasons" not in result.details


def test_an_overlap_is_another_expectations():
    assert sampled(PADDED, observation([[4, 0, 3], [4, 1, 0]], samples=6), exact=True).success
