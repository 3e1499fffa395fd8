"""report.junit.xml: the verdicts as the test cases that CI systems show. What fails the run fails there, and nothing else.

No times are told: an expectation has none of its own, and the same input gives the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from dataguard.reports.cases import MOST_NAMED, MOST_SAID, Case, at_length, cases_of, in_one_line
from dataguard.reports.text import clipped, printable
from dataguard.result import Result
from dataguard.version import __version__

COUNTED = {"failures": "fail", "errors": "unjudged", "skipped": "skip"}


def junit_report(result: Result) -> str:
    """Return the report: a suite of test cases, one an expectation.

    What could not be judged is an error, what was skipped is skipped; a failure too mild to fail the run passes, and its test
    case says so.
    """
    cases = cases_of(result)
    seen = Counter(case.status for case in cases)
    counts = {"tests": len(cases), **{name: seen[status] for name, status in COUNTED.items()}}
    told = "".join(f' {name}="{count}"' for name, count in counts.items())
    suite = _attribute(result.suite_name)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="dataguard"{told}>',
        f"  <testsuite name={suite}{told}>",
        "    <properties>",
        *(f'      <property name="{name}" value={_attribute(value)}/>' for name, value in _properties(result)),
        "    </properties>",
    ]
    for case in cases:
        inside = [*_inside(case, result)]
        head = f"    <testcase classname={suite} name={quoteattr(case.name)}"
        lines += [f"{head}>", *inside, "    </testcase>"] if inside else [f"{head}/>"]
    return "\n".join([*lines, "  </testsuite>", "</testsuites>", ""])


def _properties(result: Result) -> Iterator[tuple[str, object]]:
    yield "dataguard.version", __version__
    yield "dataguard.fail_on", result.fail_on
    for name in ("rows", "tokens"):
        if result.meta.get(name) is not None:
            yield name, result.meta[name]


def _inside(case: Case, result: Result) -> Iterator[str]:
    """Yield what stands in a test case."""
    if case.skipped is not None:
        yield f"      <skipped message={_attribute(case.skipped, MOST_SAID)}/>"
    if case.result is None or case.status == "pass":
        return
    text = escape(at_length(case.result, result))
    if case.status == "warn":
        yield f"      <system-out>{text}</system-out>"
        return
    element = "error" if case.status == "unjudged" else "failure"
    about = f"type={_attribute(case.result.severity)} message={quoteattr(in_one_line(case.result))}"
    yield f"      <{element} {about}>{text}</{element}>"


def _attribute(value: object, most: int = MOST_NAMED) -> str:
    """Return a value in quotes; what XML 1.0 cannot hold is spelled out before it is escaped."""
    return quoteattr(clipped(printable(value), most))
