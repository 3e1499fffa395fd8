"""The console report: golden files at two widths, and what they cannot show.

`DATAGUARD_GOLDEN=1` writes the golden files anew; read the difference.
"""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dataguard.expectations import EXPECTATIONS
from dataguard.reports.blocks import status_of
from dataguard.reports.console import print_report
from dataguard.reports.reasons import in_words
from dataguard.result import ExpectationResult, Finding, Result, Unjudged

GOLDEN = Path(__file__).parent / "golden"


def printed(result: Result, width: int = 80, out: str | None = "dataguard-out", **options: Any) -> str:
    file, verbose = options.pop("file", io.StringIO()), options.pop("verbose", True)
    console = Console(file=file, width=width, **options)
    print_report(result, console, None if out is None else Path(out), verbose=verbose)
    return str(file.getvalue())


def one(**changes: Any) -> Result:
    """Return a result with one expectation, failed unless told otherwise."""
    given = {"type": "expect_x", "kwargs": {}, "severity": "critical", "success": False, **changes}
    return Result("s", {}, (ExpectationResult(**given),), {})


@pytest.mark.parametrize(
    ("kind", "width"), [("", 60), ("", 80), ("", 120), ("", 200), ("verbose-", 80), ("verbose-", 120)]
)
@pytest.mark.parametrize("name", ["failed", "passed"])
def test_reads_like_the_golden_file(name: str, kind: str, width: int, request: pytest.FixtureRequest) -> None:
    text = printed(request.getfixturevalue(name), width, verbose=bool(kind))
    golden = GOLDEN / f"{name}-{kind}{width}.txt"
    if os.environ.get("DATAGUARD_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_in_brief_every_fault_and_what_to_do_about_it_is_told(failed: Result) -> None:
    text = printed(failed, verbose=False)
    for each in failed.results:
        if not each.success:
            assert each.type in text
            assert each.unjudged is not None or each.fix.split()[0] in text
    assert "expect_columns_to_exist" not in text
    assert "pass  2 expectations (--verbose names them)" in text
    assert len(text.splitlines()) < len(printed(failed).splitlines())


def test_in_brief_the_most_urgent_come_first_and_the_others_are_counted() -> None:
    severities = ("info", "warning", "critical") * 4
    results = tuple(
        ExpectationResult(f"expect_{place}", {}, severity, success=False, fix="mend it")
        for place, severity in enumerate(severities)
    )
    text = printed(Result("s", {}, results, {}, fail_on="info"), verbose=False)
    told = [line.split()[2] for line in text.splitlines() if line.startswith("fail  expect_")]
    assert told == ["critical"] * 4 + ["warning"]
    assert "more  7 expectations that the table names: --verbose tells of all" in text


def test_a_text_of_any_length_takes_some_lines() -> None:
    finding = Finding("bad", shard="x" * 1_000_000, row=1, value="y" * 1_000_000, detail="z" * 1_000_000)
    text = printed(one(findings=(finding,), unexpected_count=1, element_count=1), 80, verbose=False)
    assert len(text) < 10_000


def test_begins_with_the_verdict(failed: Result, passed: Result) -> None:
    verdict = "FAIL  suite sft: 3 of 9 expectations failed, 2 could not be judged, 1 warning; "
    assert printed(failed, 120).startswith(verdict + "12,345 rows")
    assert printed(passed).startswith("PASS  suite pretrain: 3 of 3 expectations hold; 5 rows, 20 tokens, 1 shard\n")


def test_a_pipe_gets_no_escape_sequences_and_no_padding(failed: Result) -> None:
    lines = printed(failed).split("\n")
    assert not any("\x1b" in line or line != line.rstrip() for line in lines)


def test_a_terminal_gets_the_same_words_in_colour(failed: Result) -> None:
    coloured = printed(failed, force_terminal=True, color_system="standard")
    assert "\x1b[1;31mFAIL" in coloured
    assert "\x1b[31m" not in coloured.replace(r"\x1b[31m", "").replace("\x1b[1;31m", "")


def test_only_paths_are_wider_than_the_terminal(failed: Result) -> None:
    body, _, _ = printed(failed, 80).partition("\nout ")
    assert max(map(len, body.split("\n"))) <= 80


def test_names_from_data_are_shown_not_obeyed() -> None:
    shard = "[red]\x1b[2J:smile:\n\u202e.arrow"
    result = one(findings=(Finding("bad[/]", shard=shard, row=1, value="\x07[link=x]"),), unexpected_count=1)
    text = printed(result, 120, force_terminal=True, color_system="standard")
    assert r"[red]\x1b[2J:smile:\n\u202e.arrow row 1: \x07[link=x] (bad[/])" in text
    assert "\x1b[2J" not in text


def test_a_terminal_that_knows_only_ascii_is_spared(failed: Result) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii", newline="\n")
    print_report(failed, Console(file=file, width=80), Path("ö"))
    file.flush()
    assert rb"\xf6/report.json" in raw.getvalue()
    assert b"..." in raw.getvalue()


def test_the_first_of_many_are_not_told_as_all() -> None:
    findings = tuple(Finding("bad", shard=f"{shard}.arrow", row=row) for shard in "abcde" for row in range(40))
    text = printed(one(findings=findings, unexpected_count=9_000, element_count=9_000), 200)
    assert "9,000 of 9,000 (100 %): a.arrow rows 0, 1, 2, 3, 4, 5, …; " in text.replace(" rows (", " (")
    assert "; more shards" in text


def test_a_verdict_too_mild_to_fail_the_run_is_a_warning() -> None:
    mild = one(severity="warning")
    assert status_of(mild.results[0], mild) == "warn"
    strict = replace(mild, fail_on="warning")
    assert status_of(strict.results[0], strict) == "fail"


def test_fails_exactly_what_decides_the_exit_status(failed: Result) -> None:
    for fail_on in ("critical", "warning", "info"):
        strict = replace(failed, fail_on=fail_on)
        told = [each for each in strict.results if status_of(each, strict) in ("fail", "unjudged")]
        assert told == strict.failures()


def test_what_could_not_be_judged_fails_and_says_what_it_lacks(failed: Result) -> None:
    text = printed(failed)
    assert "unjudged expect_labels_to_align_with_input_ids on chosen_input_ids," in text
    assert "why     not judged: no shard has a column chosen_labels" in text


def test_what_could_not_be_judged_is_not_said_to_have_failed() -> None:
    lacking = one(unjudged=Unjudged("no pad", "give pad"))
    assert printed(lacking).startswith("FAIL  suite s: 0 of 1 expectation hold, 1 could not be judged\n")
    held = ExpectationResult("expect_y", {}, "critical", success=True)
    both = replace(lacking, results=(*lacking.results, held, replace(held, success=False)))
    assert printed(both).startswith("FAIL  suite s: 1 of 3 expectations failed, 1 could not be judged\n")


def test_one_cause_is_told_once_for_all_that_it_keeps_from_being_judged() -> None:
    first = ExpectationResult("expect_x", {}, "critical", success=False, unjudged=Unjudged("no pad", "give pad"))
    second = replace(first, type="expect_y", kwargs={"column": "labels"})
    other = replace(first, type="expect_z", unjudged=Unjudged("no eos", "give eos"))
    text = printed(Result("s", {}, (first, other, second), {}))
    assert (
        """
unjudged expect_x, expect_y on labels
      why     not judged: no pad
      fix     give pad

unjudged expect_z  critical
"""
        in text
    )
    assert text.count("no pad") == 1


def test_what_some_of_them_found_all_the_same_stands_below_the_cause() -> None:
    first = ExpectationResult("expect_x", {}, "critical", success=False, unjudged=Unjudged("no pad", "give pad"))
    findings = (Finding("bad", shard="a", row=3),)
    second = replace(first, type="expect_y", findings=findings, unexpected_count=1, element_count=5)
    third = replace(first, type="expect_z", severity="info", details={"notes": ["so it is"]})
    assert """
unjudged expect_x, expect_y, expect_z
      why     not judged: no pad
      fix     give pad

unjudged expect_y  critical
      what    1 of 5 rows
      where   a row 3 (bad)

unjudged expect_z  info
      note    so it is
""" in printed(Result("s", {}, (first, second, third), {}))


def test_what_was_found_of_a_verdict_in_part_is_told_too() -> None:
    findings = (Finding("negative", shard="a", row=3, position=0, value=-1),)
    partly = one(unjudged=Unjudged("no size", "give it"), findings=findings, unexpected_count=1, element_count=5)
    text = printed(partly)
    assert "not judged: no size" in text
    assert "where   a row 3, position 0: -1 (negative)" in text


def test_rows_that_mostly_tolerates_are_named_in_brief_behind_what_failed(failed: Result) -> None:
    text = printed(failed)
    assert (
        """
pass  expect_rows_not_to_be_periodic  critical
      what    3 of 12,333 rows (0.0243 %), tolerated by mostly 0.999:
              web/train-00000.arrow rows 7, 70, 700
      why     3 periodic: one short pattern repeats over and over: such rows
              cause loss spikes
      note    white space was left out

skip"""
        in text
    )
    single = one(
        success=True,
        kwargs={"mostly": 0.5},
        unexpected_count=1,
        element_count=9,
        findings=(Finding("bad", shard="a", row=4, value=1),),
    )
    assert "what    1 of 9 rows, tolerated by mostly 0.5: a row 4\n" in printed(single)


def test_a_note_of_what_holds_stands_in_a_block_of_its_own() -> None:
    text = printed(one(success=True, details={"notes": ["by_source names no source of this data: code"]}))
    assert "\npass  expect_x  critical\n      note    by_source names no source of this data: code\n" in text


def test_a_number_is_said_what_it_is() -> None:
    finding = Finding("bad", shard="a", row=0, position=7, value=312)
    assert "where   a row 0, position 7: pads 312 (bad)" in printed(one(findings=(finding,), value_name="pads"))
    by_reason = {"bad": "digits", "worse": "share of digits"}
    findings = (finding, replace(finding, reason="worse", value=0.5), replace(finding, reason="other"))
    text = printed(one(findings=findings, value_name=by_reason))
    assert [told in text for told in ("digits 312 (bad)", "share of digits 0.5 (worse)", "7: 312 (other)")] == [
        True
    ] * 3


def test_records_are_a_table_where_it_fits_and_words_where_not() -> None:
    records = [
        {"source": "文字", "rows": 5, "cap": None, "side": "left"},
        {"source": "b", "cap": 1024, "side": "right"},
    ]
    assert """
      found   source  cap   side
              文字    -     left
              b       1024  right
""" in printed(one(observed_value=records))
    wide = [{"source": "a" * 30, "first": "b" * 30, "second": "c" * 30}]
    assert f"      found   source {'a' * 30}, first" in printed(one(observed_value=wide))


def test_little_is_needed() -> None:
    assert printed(Result("s", {}, (), {})).startswith("PASS  suite s: 0 of 0 expectations hold")
    assert "expect_x" in printed(one())


@pytest.mark.parametrize(
    ("meta", "told", "untold"),
    [
        ({"rejected": 0}, "rejected.parquet  no rows", "quarantine"),
        ({"rejected": 3}, "quarantine  the rejected rows; opens with datasets.load_from_disk", "first"),
        ({"rejected": 3, "quarantine": None}, "rejected.parquet  all rejected rows", "quarantine"),
        (
            {"rejected": 3, "quarantine": {"written": False, "rows": 0, "complete": False}},
            "rejected.parquet",
            "load_from",
        ),
    ],
)
def test_says_where_things_lie(passed: Result, meta: dict[str, Any], told: str, untold: str) -> None:
    accounting = {**passed.meta["accounting"], "rejected": meta.pop("rejected")}
    text = printed(replace(passed, meta={**passed.meta, "accounting": accounting, **meta}))
    assert told in text
    assert untold not in text


def test_says_nothing_of_files_where_none_were_written(passed: Result) -> None:
    assert "report.json" not in printed(passed, out=None)


@pytest.mark.parametrize("expectation", EXPECTATIONS.values(), ids=list(EXPECTATIONS))
def test_every_reason_is_told_in_words(expectation: Any) -> None:
    assert [reason for reason in expectation.reasons if in_words(reason) is None] == []


def test_a_reason_of_somebody_elses_expectation_stands_as_it_is() -> None:
    assert in_words("never_heard_of") is None
    assert in_words("position_ids_length") == "position_ids is of another length than input_ids"
