"""Bounds that nothing lies between are refused before any shard is opened, with the line that they stand on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dataguard.errors import SuiteError
from dataguard.suite.loading import load_suite

COUNT = "expect_row_count_to_be_between"
LENGTHS = "expect_sequence_lengths_to_be_between"
TARGETS = "expect_supervised_tokens_to_be_between"


def load(kind: str, **kwargs: Any) -> None:
    load_suite({"expectations": [{"type": kind, "kwargs": kwargs}]})


@pytest.mark.parametrize(
    ("kind", "kwargs", "why"),
    [
        (COUNT, {"min_value": 5, "max_value": 4}, "min_value (5) is above max_value (4)"),
        (COUNT, {"max_value": 0}, "min_value (1) is above max_value (0)"),
        (LENGTHS, {"min_length": 9, "max_length": 8}, "min_length (9) is above max_length (8)"),
        (TARGETS, {"min_value": 3, "max_value": 2}, "min_value (3) is above max_value (2)"),
        (
            LENGTHS,
            {"max_length": 8, "by_source": {"web": {"min_length": 9}}},
            "min_length (9) is above max_length (8)",
        ),
    ],
)
def test_crossed_bounds_are_refused(kind: str, kwargs: dict[str, Any], why: str) -> None:
    with pytest.raises(SuiteError) as caught:
        load(kind, **kwargs)
    assert caught.value.why == why
    assert caught.value.what == f"the arguments of {kind} do not fit together"


@pytest.mark.parametrize(
    ("kind", "kwargs"),
    [
        (COUNT, {"min_value": 4, "max_value": 4}),
        (COUNT, {"min_value": None, "max_value": 0}),
        (LENGTHS, {"min_length": 8, "max_length": 8}),
        (LENGTHS, {"min_length": 8}),
        (TARGETS, {"min_value": 0, "max_value": 0}),
        (TARGETS, {"min_value": 4, "max_length": 3}),
    ],
)
def test_bounds_that_meet_or_are_open_hold(kind: str, kwargs: dict[str, Any]) -> None:
    load(kind, **kwargs)


def test_the_line_is_told(tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(f"expectations:\n  - type: {COUNT}\n    kwargs:\n      min_value: 5\n      max_value: 4\n")
    with pytest.raises(SuiteError) as caught:
        load_suite(file)
    assert caught.value.line == 3
