"""Workflow commands by which GitHub Actions annotates a run, in its own escaping.

It shows ten annotations of a type and step: the tenth tells of the rest where there are more.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from dataguard.reports.blocks import where
from dataguard.reports.cases import MOST_NAMED, Case, cases_of, in_one_line, reason_told
from dataguard.reports.text import clipped, counted, printable
from dataguard.result import ExpectationResult, Result

MOST_SHOWN = 10
SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable that names the file of the step's summary."""
MOST_SUMMARY = 1 << 20
"""Bytes that GitHub takes of a step's summary: more is refused whole."""
COMMANDS = {"fail": "error", "unjudged": "error", "warn": "warning"}


def workflow_commands(result: Result, before: str = "") -> str:
    """Return workflow commands, one a line: an error for what fails the run, a warning for what is too mild to.

    Args:
        before: What stands before the names of shards so that they are paths from the repository's root; ends with `/`.
    """
    lines = []
    for command in ("error", "warning"):
        told = [case for case in cases_of(result) if COMMANDS.get(case.status) == command]
        shown = told if len(told) <= MOST_SHOWN else told[: MOST_SHOWN - 1]
        lines += [_command(command, case, before) for case in shown]
        if left := [case.name for case in told[len(shown) :]]:
            text = f"and {counted(len(left), 'more expectation')}: {', '.join(left)}"
            lines.append(f"::{command} title=dataguard::{_data(clipped(text, MOST_NAMED * 10))}")
    return "".join(f"{line}\n" for line in lines)


def fenced(text: str) -> str:
    """Return text in which GitHub looks for no commands: names of data in it, wrapped, might begin a line."""
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}\n{text}::{token}::\n"


def _command(command: str, case: Case, before: str) -> str:
    each = case.result
    assert each is not None  # what was skipped has no command
    shard = next((found.shard for found in each.findings if found.shard is not None), None)
    properties = {} if shard is None else {"file": before + printable(shard)}
    properties["title"] = f"dataguard: {case.name}"
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{command} {told}::{_data(chr(10).join(_message(each)))}"


def _message(each: ExpectationResult) -> Iterator[str]:
    """Yield the lines of an annotation: how many, where the first stands, why, and how to mend it."""
    yield in_one_line(each)
    if each.findings:
        found = each.findings[0]
        yield f"first: {clipped(where(found, each.name_of_value(found.reason)), MOST_NAMED * 2)}"
        yield f"why: {reason_told(found.reason)}"
    fix = each.fix if each.unjudged is None else each.unjudged.fix
    if fix:
        yield f"fix: {clipped(printable(fix), MOST_NAMED * 5)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(clipped(text, MOST_NAMED * 5)).replace(":", "%3A").replace(",", "%2C")
