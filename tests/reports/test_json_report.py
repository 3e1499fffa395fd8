"""report.json can be read by anybody, and is the same for the same result."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.reports.json_report import plain, report_json
from dataguard.result import Result


class Colour(IntEnum):
    RED = 1


def test_says_what_the_result_says(failed: Result) -> None:
    text = report_json(failed)
    assert text.endswith("}\n")
    report = json.loads(text)
    assert list(report) == ["success", "suite_name", "suite_parameters", "statistics", "meta", "results"]
    assert report["success"] is False
    assert report["meta"]["dataguard"]["rows"] == 12_345
    first = report["results"][2]["result"]["partial_unexpected_index_list"][0]
    assert first == {
        "shard": "web/train-00000.arrow",
        "row": 4,
        "column": "input_ids",
        "reason": "beyond_limit",
        "position": 512,
        "value": 50_304.0,
    }


def test_is_the_same_byte_for_byte(failed: Result) -> None:
    assert report_json(failed) == report_json(replace(failed))


def test_what_is_no_number_becomes_null(passed: Result) -> None:
    strange = replace(passed, suite_parameters={"a": float("nan"), "b": [float("inf"), np.float32("nan"), 1.5]})
    text = report_json(strange)
    assert json.loads(text)["suite_parameters"] == {"a": None, "b": [None, None, 1.5]}
    assert "NaN" not in text
    assert "Infinity" not in text


def test_what_is_no_text_can_be_written_and_is_spelled_out(passed: Result) -> None:
    strange = replace(passed, suite_name="\udcff.arrow", suite_parameters={"\ud800": b"\xffx", "文字": "é"})
    text = report_json(strange)
    report = json.loads(text.encode("utf-8"))
    assert report["suite_name"] == r"\udcff.arrow"
    assert report["suite_parameters"] == {r"\ud800": r"\xffx", "文字": "é"}
    assert "文字" in text


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.int64(3), 3),
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),
        (np.arange(3), [0, 1, 2]),
        (pl.Series([1, None]), [1, None]),
        (pl.DataFrame({"a": [1]}), [{"a": 1}]),
        (pa.scalar(7), 7),
        (pa.array([1, None]), [1, None]),
        ((1, (2, 3)), [1, [2, 3]]),
        (frozenset({3, 1, 2}), [1, 2, 3]),
        ({1: 2}, {"1": 2}),
        (Colour.RED, 1),
        (Path("a/b"), "a/b"),
        (dt.date(2024, 1, 2), "2024-01-02"),
        (2**70, 2**70),
    ],
)
def test_values_of_other_packages_become_plain(value: Any, told: Any) -> None:
    assert plain(value) == told
    assert type(plain(value)) is type(told)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values)
def test_whatever_a_result_holds_becomes_strict_json(value: Any) -> None:
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    assert plain(json.loads(text.encode("utf-8"))) == plain(value)
