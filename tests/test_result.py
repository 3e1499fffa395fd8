"""What a result says of itself where somebody prints it; all of it is in report.json."""

from __future__ import annotations

from dataclasses import replace

from dataguard.result import ExpectationResult, Finding, Result, Unjudged

FAILED = ExpectationResult(
    "expect_x",
    {"column": "labels"},
    "warning",
    success=False,
    element_count=1_200,
    unexpected_count=1_000,
    missing_count=100,
    findings=tuple(Finding("bad", shard="a.arrow", row=row) for row in range(200)),
)
HELD = ExpectationResult("expect_y", {}, "critical", success=True)
UNKNOWN = replace(HELD, success=False, unjudged=Unjudged("no pad", "give it"))


def test_a_verdict_is_printed_in_one_line() -> None:
    assert repr(FAILED) == "<ExpectationResult expect_x on labels, failed (warning), 1,000 of 1,100 unexpected>"
    assert str(HELD) == "<ExpectationResult expect_y, holds>"
    assert str(UNKNOWN) == "<ExpectationResult expect_y, could not be judged: no pad>"


def test_a_result_is_printed_in_one_line() -> None:
    result = Result("sft", {"n": 1}, (FAILED, HELD), {"rows": 1_200, "tokens": 9, "sources": [{"rows": 3}] * 500})
    assert str(result) == "<Result pass, suite sft: 1 of 2 expectations holds, 1 warning; 1,200 rows; 9 tokens>"
    strict = replace(result, fail_on="warning", meta={})
    assert repr(strict) == "<Result fail, suite sft: 1 of 2 expectations failed>"
    unknown = replace(strict, results=(UNKNOWN, HELD, HELD))
    assert repr(unknown) == "<Result fail, suite sft: 2 of 3 expectations hold, 1 could not be judged>"


def test_what_a_value_is_may_depend_on_the_reason_and_is_no_part_of_the_report() -> None:
    assert replace(HELD, value_name="pads").name_of_value("any") == "pads"
    named = replace(HELD, value_name={"long": "digits"})
    assert (named.name_of_value("long"), named.name_of_value("other")) == ("digits", "")
    assert named.to_dict() == HELD.to_dict()
