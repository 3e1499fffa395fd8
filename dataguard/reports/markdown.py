"""report.md: the verdict for a pull request or a step's summary, in GitHub's Markdown.

Whatever is not written here stands in code spans, where nothing is markup, HTML, a mention, a link or a sign of another kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dataguard.reports.blocks import where
from dataguard.reports.cases import MOST_NAMED, Case, cases_of, in_one_line
from dataguard.reports.console import amounts_of, unexpected
from dataguard.reports.reasons import in_words
from dataguard.reports.text import clipped, counted, number, printable
from dataguard.result import Result

MARK = "<!-- dataguard -->"
MOST_BYTES = 60_000
"""GitHub refuses comments of more than 65,536 characters."""
MOST_ROWS, MOST_REASONS = 5, 3
SIGNS = {"pass": "✅ pass", "fail": "❌ fail", "warn": "⚠️ warn", "unjudged": "❔ unjudged"}
ORDER = ("fail", "unjudged", "warn")


def markdown_report(result: Result, most_bytes: int = MOST_BYTES) -> str:
    """Return the report: the verdict, a table of what does not hold, and the first failing rows of each.

    Args:
        most_bytes: Of the report as UTF-8; what finds no room is left out, and the report says so.
    """
    cases = cases_of(result)
    loud = sorted((case for case in cases if case.status in ORDER), key=lambda case: ORDER.index(case.status))
    parts = [[*_head(result)], *([line] for line in _table(loud)), [*_others(cases)]]
    parts += [[*_told(case)] for case in loud]
    return _fitted(parts, most_bytes)


def _fitted(parts: list[list[str]], most_bytes: int) -> str:
    """Return as many parts as there is room for; the first one always, which is small."""
    left_out = "\n_The rest finds no room here; report.json has all of it._\n"
    room = most_bytes - len(left_out.encode())
    text = ""
    for part in parts:
        more = "".join(f"{line}\n" for line in part)
        if text and len(text.encode()) + len(more.encode()) > room:
            return text + left_out
        text += more
    return text


def _head(result: Result) -> Iterator[str]:
    yield MARK
    yield f"## {'✅ PASS' if result.success else '❌ FAIL'}: {result.verdict()}"
    yield ""
    facts = [f"suite {code(result.suite_name)}", *amounts_of(result.meta)]
    if result.meta.get("partial"):
        facts.append(f"**only the first {counted(result.meta['head'], 'row')} of each shard**")
    yield f"dataguard, {', '.join(facts)}"
    yield ""


def _table(loud: list[Case]) -> Iterator[str]:
    if not loud:
        return
    yield "| | severity | unexpected | expectation |"
    yield "|---|---|---:|---|"
    for case in loud:
        assert case.result is not None  # what is skipped is not loud
        yield f"| {SIGNS[case.status]} | {case.result.severity} | {unexpected(case.result)} | {in_cell(case.name)} |"


def _others(cases: list[Case]) -> Iterator[str]:
    """Yield, folded, what holds and what was skipped."""
    for status, told in (("pass", "hold"), ("skip", "skipped")):
        names = [case.name for case in cases if case.status == status]
        if names:
            yield ""
            yield f"<details><summary>{counted(len(names), 'expectation')} {told}</summary>"
            yield ""
            shown = names[:MOST_NAMED]
            yield from (f"- {code(name)}" for name in shown)
            if len(names) > len(shown):
                yield f"- and {number(len(names) - len(shown))} more"
            yield ""
            yield "</details>"
    yield ""


def _told(case: Case) -> Iterator[str]:
    """Yield what there is to say of an expectation that does not hold."""
    each = case.result
    assert each is not None  # what is skipped is not loud
    yield f"### {SIGNS[case.status]}: {code(case.name)}"
    yield ""
    yield f"{each.severity}; {code(in_one_line(each))}"
    yield ""
    for found in each.findings[:MOST_ROWS]:
        yield f"- {code(where(found, each.name_of_value(found.reason)))}"
    left = (each.unexpected_count or 0) - MOST_ROWS
    if len(each.findings) > MOST_ROWS and left > 0:
        yield f"- and {number(left)} more"
    yield ""
    reasons = sorted((each.details.get("reasons") or {}).items(), key=lambda item: (-item[1], item[0]))
    for reason, _ in reasons[:MOST_REASONS]:
        if words := in_words(reason):
            yield f"**why** {code(reason)}: {prose(words)}  "
    fix = each.unjudged.fix if each.unjudged is not None else each.fix
    if fix:
        yield f"**fix** {prose(fix) if each.unjudged is None else code(fix)}"
    yield ""


def code(text: object) -> str:
    """Return text as a code span, of which nothing is markup: with more backticks around it than there are inside."""
    shown = clipped(printable(text), MOST_NAMED) or " "
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown.strip() and (shown[0] in "` " or shown[-1] in "` ") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def in_cell(text: object) -> str:
    r"""Return text as a code span for a table: a `|` in it ends no cell.

    It needs a backslash of its own: behind an odd number of them it would be taken for one that is escaped already.
    """
    return re.sub(r"(\\*)\|", lambda found: found[1] + "\\" * (1 + len(found[1]) % 2) + "|", code(text))


def prose(text: str) -> str:
    """Return a sentence of an expectation's author with whatever could be markup or a mention taken for itself."""
    shown = clipped(printable(text), MOST_NAMED * 5)
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&])", r"\\\1", shown).replace("@", "`@`")
