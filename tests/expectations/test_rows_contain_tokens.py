"""expect_rows_to_contain_tokens."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dataguard.errors import SuiteError
from tests.builders import found, judged, table_of

CONTAIN = "expect_rows_to_contain_tokens"
ROWS = {"input_ids": [[90, 5, 91], [5, 6], [90, 90, 91], [90, 5]]}


def test_every_id_must_occur():
    result = judged(CONTAIN, ROWS, tokens=[90, 91])
    assert found(result) == [(1, "missing_token"), (3, "missing_token")]
    assert [each.detail for each in result.findings] == [
        "id 90, at least 1 asked for",
        "id 91, at least 1 asked for",
    ]


def test_too_few_and_too_many():
    result = judged(CONTAIN, ROWS, tokens=[90], min_count=2, max_count=2)
    assert found(result) == [(0, "too_few"), (1, "missing_token"), (3, "too_few")]
    result = judged(CONTAIN, ROWS, tokens=[90, 91], min_count=0, max_count=1)
    assert found(result) == [(2, "too_many")]
    assert (result.findings[0].value, result.findings[0].detail) == (2, "id 90, 0 to 1 asked for")


def test_none_may_be_asked_for():
    assert found(judged(CONTAIN, ROWS, tokens=[91], min_count=0, max_count=0)) == [(0, "too_many"), (2, "too_many")]


def test_hidden_occurrences_do_not_count():
    rows = {"input_ids": [[5, 90], [90, 5]], "attention_mask": [[1, 0], [1, 0]]}
    assert found(judged(CONTAIN, rows, tokens=[90])) == [(0, "missing_token")]


def test_bounds_may_be_larger_than_any_count():
    assert judged(CONTAIN, ROWS, tokens=[90], min_count=0, max_count=1 << 70).success


def test_a_column_may_say_how_many():
    rows = table_of(
        input_ids=[[90, 90, 5], [90, 5], [5], [5], [90, 90, 90], [90]],
        images=pa.array([2, 2, 0, 1, 2, None], pa.int16()),
    )
    result = judged(CONTAIN, rows, tokens=[90], count_column="images")
    assert found(result) == [(1, "too_few"), (3, "missing_token"), (4, "too_many")]
    assert result.findings[0].detail == "id 90, 2 asked for"
    assert result.missing_count == 1


def test_the_column_stands_for_both_bounds():
    rows = table_of(input_ids=[[5, 6]], images=pa.array([0], pa.uint8()))
    assert judged(CONTAIN, rows, tokens=[90], count_column="images", min_count=1, max_count=0).success


@pytest.mark.parametrize("cells", [pa.array(["2"]), pa.array([2.0]), pa.array([[2]])])
def test_a_column_of_something_else_cannot_be_judged(cells: pa.Array):
    result = judged(CONTAIN, table_of(input_ids=[[90]], images=cells), tokens=[90], count_column="images")
    assert not result.success
    assert result.unjudged is not None
    assert "images" in result.unjudged.missing


def test_a_column_that_is_not_there_cannot_be_judged():
    result = judged(CONTAIN, ROWS, tokens=[90], count_column="images")
    assert result.unjudged is not None
    assert "images" in result.unjudged.missing


def test_no_tokens_and_crossed_bounds_are_refused():
    with pytest.raises(SuiteError):
        judged(CONTAIN, ROWS, tokens=[])
    with pytest.raises(SuiteError, match="min_count"):
        judged(CONTAIN, ROWS, tokens=[90], max_count=0)
