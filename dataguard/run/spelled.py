"""A result as plain values, and a result of such values again, which is told in the same words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from dataguard.reports.json_report import plain
from dataguard.result import ExpectationResult, Finding, Result, Unjudged


def spelled(result: Result) -> dict[str, Any]:
    """Return what `result_of` makes the result of: all but its rows, as JSON has it."""
    told = {name: getattr(result, name) for name in ("suite_name", "suite_parameters", "meta", "fail_on")}
    spelled_out: dict[str, Any] = plain({**told, "results": [_spelled(each) for each in result.results]})
    return spelled_out


def _spelled(result: ExpectationResult) -> dict[str, Any]:
    told = {each.name: getattr(result, each.name) for each in fields(result)}
    unjudged = None if result.unjudged is None else vars(result.unjudged)
    return {**told, "unjudged": unjudged, "findings": [vars(finding) for finding in result.findings]}


def result_of(told: Mapping[str, Any]) -> Result:
    """Return a result that was spelled out.

    Raises:
        TypeError, KeyError: It is none.
    """
    return Result(**{**told, "results": tuple(_result_of(each) for each in told["results"])})


def _result_of(told: Mapping[str, Any]) -> ExpectationResult:
    unjudged = None if told["unjudged"] is None else Unjudged(**told["unjudged"])
    findings = tuple(Finding(**finding) for finding in told["findings"])
    return ExpectationResult(**{**told, "unjudged": unjudged, "findings": findings})
