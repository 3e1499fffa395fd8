"""`dataguard catalogue` tells what the table of expectations holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from dataguard.cli import app, run
from dataguard.expectations import EXPECTATIONS
from dataguard.metrics.named import NUMBERS


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


def test_lists_every_metric_with_its_meaning_and_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalogue", "--metrics"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert [line.split()[0] for line in lines if line and not line.startswith(" ")] == list(NUMBERS)
    assert "(needs characters)" in next(line for line in lines if line.startswith("digit_run "))


def test_tells_of_one_metric_and_refuses_one_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalogue", "unknown_fraction", "--metrics", "--json"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert (one["metric"], one["needs"]) == ("unknown_fraction", ["unk"])
    assert run(["catalogue", "unknown_fractions", "--metrics"]) == 2
    assert "did you mean unknown_fraction" in capsys.readouterr().err


def test_metrics_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    run(["catalogue", "--metrics", "--json"])
    assert [each["metric"] for each in json.loads(capsys.readouterr().out)] == list(NUMBERS)


def test_a_file_holds_what_json_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place, arguments in enumerate((["expect_rows_to_be_unique"], ["--metrics"], [])):
        file = tmp_path / f"{place}.json"
        assert run(["catalogue", *arguments, "--quiet", "--out", str(file)]) == 0
        assert capsys.readouterr().out == ""
        run(["catalogue", *arguments, "--json"])
        assert file.read_text(encoding="utf-8") == capsys.readouterr().out


def test_every_command_takes_out_json_and_quiet() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # it is a group
    for name, command in commands.items():
        options = {option for parameter in command.params for option in parameter.opts}
        assert options >= {"--out", "--json", "--quiet"}, name
