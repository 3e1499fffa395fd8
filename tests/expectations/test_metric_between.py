"""expect_metric_to_be_between."""

from __future__ import annotations

from typing import Any

import pytest

from dataguard.errors import SuiteError
from dataguard.metrics.named import NUMBERS
from tests.builders import byte_tokenizer, found, ids_of, judged

METRIC = "expect_metric_to_be_between"
ROWS = {"input_ids": [[5], [5, 6], [5, 6, 7], []]}


def test_below_and_above_and_the_bounds_hold():
    result = judged(METRIC, ROWS, metric="tokens", min_value=2, max_value=2)
    assert found(result) == [(0, "below"), (2, "above")]
    assert [each.value for each in result.findings] == [1, 3]
    assert result.missing_count == 1


def test_one_bound_is_enough():
    assert found(judged(METRIC, ROWS, metric="attended_tokens", max_value=2.5)) == [(2, "above")]
    assert found(judged(METRIC, ROWS, metric="attended_tokens", min_value=1.5)) == [(0, "below")]


def test_shares_are_told_with_six_decimals():
    texts = {"input_ids": [ids_of("a++"), ids_of("abc"), ids_of(" ")]}
    result = judged(METRIC, texts, tokenizer=byte_tokenizer(), metric="symbol_fraction", max_value=0.5)
    assert (found(result), result.findings[0].value) == ([(0, "above")], 0.666667)
    assert result.missing_count == 1


def test_no_bound_cannot_be_judged():
    result = judged(METRIC, ROWS, metric="tokens")
    assert not result.success
    assert result.unjudged is not None


def test_an_unknown_metric_is_refused_with_the_nearest():
    with pytest.raises(SuiteError, match="symbol_fraction"):
        judged(METRIC, ROWS, metric="symbol_fractions", max_value=1)
    with pytest.raises(SuiteError, match="needs the argument metric"):
        judged(METRIC, ROWS, max_value=1)
    with pytest.raises(SuiteError, match="above"):
        judged(METRIC, ROWS, metric="tokens", min_value=3, max_value=2)


@pytest.mark.parametrize(
    ("metric", "missing"),
    [("symbol_fraction", "text"), ("unknown_tokens", "unk"), ("targets", "labels")],
)
def test_what_a_metric_needs_is_said(metric: str, missing: str):
    result = judged(METRIC, ROWS, metric=metric, max_value=1)
    assert not result.success
    assert result.unjudged is not None
    assert missing in result.unjudged.missing


def test_labels_go_with_their_column():
    rows: dict[str, Any] = {"chosen_input_ids": [[5, 6]], "chosen_labels": [[5, 6]], "input_ids": [[5]]}
    result = judged(METRIC, rows, metric="targets", column="chosen_input_ids", min_value=2)
    assert found(result) == [(0, "below")]


def test_a_source_may_have_bounds_or_a_number_of_its_own():
    rows = {**ROWS, "source": ["web", "code", "code", "web"]}
    own = {"code": {"max_value": 3}}
    assert judged(METRIC, rows, metric="tokens", max_value=1, by_source=own).success
    own = {"code": {"metric": "highest_id", "max_value": 6}}
    assert found(judged(METRIC, rows, metric="tokens", max_value=1, by_source=own)) == [(2, "above")]


@pytest.mark.parametrize("metric", list(NUMBERS))
def test_every_number_can_be_bounded(metric: str):
    rows = {"input_ids": [ids_of("a+ 1"), ids_of("b")], "labels": [[-100, 7, 7, 7], [7]]}
    result = judged(METRIC, rows, tokenizer=byte_tokenizer(), metric=metric, min_value=0, max_value=10**6)
    assert result.success
    assert (result.element_count, result.missing_count) == (2, 0)
