"""`dataguard catalogue` tells what the table of expectations holds."""

from __future__ import annotations

import json

import pytest

from dataguard.cli import run
from dataguard.expectations import EXPECTATIONS


def test_lists_every_expectation(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalogue"]) == 0
    text = capsys.readouterr().out
    assert [line.split()[0] for line in text.split("\n") if line.startswith("expect_")] == list(EXPECTATIONS)
    assert "\x1b" not in text


def test_tells_all_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalogue", "expect_token_ids_to_be_in_vocabulary"]) == 0
    text = capsys.readouterr().out
    for told in ("row, critical", "limit", "sentinels", "beyond_limit", "fix"):
        assert told in text


def test_json_can_be_read_by_programs(capsys: pytest.CaptureFixture[str]) -> None:
    run(["catalogue", "--json"])
    assert [each["type"] for each in json.loads(capsys.readouterr().out)] == list(EXPECTATIONS)
    run(["catalogue", "expect_row_count_to_be_between", "--json"])
    one = json.loads(capsys.readouterr().out)
    assert one["arguments"] == {"column": "input_ids", "min_value": 1, "max_value": None}
    assert one["reasons"] == ["too_few_rows", "too_many_rows"]
