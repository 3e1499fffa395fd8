"""expect_sequence_lengths_to_be_between."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import found, judged, reasons

LENGTHS = "expect_sequence_lengths_to_be_between"
ROWS = {"input_ids": [[1] * length for length in (2, 3, 4, 5)]}


@pytest.mark.parametrize(
    ("arguments", "unexpected"),
    [
        ({"min_length": 3}, [(0, "too_short")]),
        ({"max_length": 4}, [(3, "too_long")]),
        ({"min_length": 2, "max_length": 5}, []),
        ({"multiple_of": 2}, [(1, "not_multiple"), (3, "not_multiple")]),
        (
            {"min_length": 3, "max_length": 3, "multiple_of": 2},
            [(0, "too_short"), (1, "not_multiple"), (2, "too_long"), (3, "too_long")],
        ),
        ({"max_length": 4, "extra": 1}, []),
        ({"max_length": 3, "extra": 1}, [(3, "too_long")]),
        ({"min_length": 2, "extra": 1}, [(0, "too_short")]),
        ({"multiple_of": 2, "extra": 1}, [(0, "not_multiple"), (2, "not_multiple")]),
    ],
)
def test_the_limits_themselves_hold(arguments: dict[str, int], unexpected: list[tuple[int, str]]):
    result = judged(LENGTHS, ROWS, **arguments)
    assert found(result) == unexpected
    assert result.success == (not unexpected)


def test_tells_the_stored_length():
    result = judged(LENGTHS, ROWS, max_length=3, extra=1)
    assert result.findings[0].value == 5


def test_padding_counts_as_it_is_stored():
    rows = {"input_ids": [[5, 0, 0]], "attention_mask": [[1, 0, 0]]}
    assert reasons(judged(LENGTHS, rows, max_length=2)) == {"too_long": 1}


def test_null_and_empty_rows_are_missing_and_others_are_not():
    rows = {"input_ids": [None, [], [0, 0], [5, 6], [5]], "attention_mask": [[1], [], [0, 0], [1], [1]]}
    result = judged(LENGTHS, rows, vocabulary={"size": 100, "pad": 0}, min_length=2)
    assert found(result) == [(4, "too_short")]
    assert (result.element_count, result.missing_count) == (5, 2)


def test_nothing_asked_for_cannot_be_judged():
    result = judged(LENGTHS, ROWS)
    assert not result.success
    assert result.unjudged is not None


@pytest.mark.parametrize(("mostly", "success"), [(0.75, True), (0.7500001, False)])
def test_mostly_at_its_limit(mostly: float, success: bool):
    assert judged(LENGTHS, ROWS, max_length=4, mostly=mostly).success is success


def test_by_source_gives_a_source_its_own_limits():
    rows: dict[str, Any] = {**ROWS, "source": ["web", "code", "web", "code"]}
    result = judged(LENGTHS, rows, max_length=2, by_source={"code": {"max_length": 4}})
    assert found(result) == [(2, "too_long"), (3, "too_long")]
    assert result.details["by_source"] == {"code": 1, "web": 1}


def test_a_source_that_is_not_there_is_noted():
    result = judged(LENGTHS, ROWS, max_length=9, by_source={"cod": {"max_length": 4}})
    assert result.success
    assert any("cod" in note for note in result.details["notes"])


def test_the_judged_column_may_be_another():
    rows = {"input_ids": [[1]], "prompt_ids": [[1, 2, 3]]}
    result = judged(LENGTHS, rows, column="prompt_ids", max_length=2)
    assert [(each.column, each.reason) for each in result.findings] == [("prompt_ids", "too_long")]
