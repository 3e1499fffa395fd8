"""expect_row_token_share_to_be_below."""

from __future__ import annotations

from tests.builders import found, judged

SHARE = "expect_row_token_share_to_be_below"


def test_names_a_row_of_most_of_all_tokens():
    result = judged(SHARE, {"input_ids": [*[[5]] * 20, [5] * 21]})
    assert found(result) == [(20, "huge_row")]
    assert (result.findings[0].value, result.findings[0].detail) == (round(21 / 41, 6), "21 of 41 tokens")
    assert result.severity == "warning"


def test_the_share_itself_holds():
    assert judged(SHARE, {"input_ids": [*[[5]] * 20, [5] * 20]}).success


def test_few_rows_hold():
    assert judged(SHARE, {"input_ids": [*[[5]] * 18, [5] * 99]}).success
    assert found(judged(SHARE, {"input_ids": [[5] * 9, [5]]}, min_rows=2)) == [(0, "huge_row")]


def test_padding_is_no_token():
    rows = {"input_ids": [[5] * 9, [5, 5]], "attention_mask": [[1, 1, *[0] * 7], [1, 1]]}
    assert judged(SHARE, rows, min_rows=2).success


def test_empty_rows_are_left_out():
    result = judged(SHARE, {"input_ids": [[], None, [5], [5, 5]]}, min_rows=2, max_share=0.6)
    assert (found(result), result.missing_count) == ([(3, "huge_row")], 2)
    assert judged(SHARE, {"input_ids": [[], None]}, min_rows=1).success
