"""Expectations as the cases of a report that machines read: each has a name of its own, the same from run to run."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from dataguard.reports.blocks import block, status_of, total
from dataguard.reports.json_report import plain
from dataguard.reports.page import Page
from dataguard.reports.reasons import in_words
from dataguard.reports.text import clipped, number, printable
from dataguard.result import ExpectationResult, Result, Unjudged

MOST_NAMED = 200
"""Characters of a name or a value that are told; the middle of a longer one gives way."""
MOST_SAID = 2_000
"""Characters of a sentence."""
MOST_TEXT = 20_000
"""Characters of all that is said of an expectation."""
WIDTH = 100


@dataclass(frozen=True)
class Case:
    """An expectation of the suite.

    Args:
        name: Unique in the report: the type, and where that occurs several times what tells them apart.
        result: Its verdict; None where it was skipped.
        status: pass, fail, warn (too mild to fail the run), unjudged or skip.
        skipped: What is missing, where it was skipped.
    """

    name: str
    type: str
    status: str
    result: ExpectationResult | None = None
    skipped: Unjudged | None = None


def cases_of(result: Result) -> list[Case]:
    """Return a case for each expectation, in the order of the suite, and behind them those that were skipped."""
    skipped = [each for each in result.meta.get("skipped") or () if isinstance(each, Mapping)]
    arguments = [{"column": "input_ids", **each.kwargs} for each in result.results]
    arguments += [{"column": each.get("column") or "input_ids"} for each in skipped]
    types = [each.type for each in result.results] + [str(each.get("type")) for each in skipped]
    names = named(types, arguments)
    cases = [
        Case(name, clipped(printable(each.type), MOST_NAMED), status_of(each, result), each)
        for name, each in zip(names, result.results, strict=False)
    ]
    for name, each in zip(names[len(cases) :], skipped, strict=True):
        wanting = Unjudged(str(each.get("missing") or ""), str(each.get("fix") or ""))
        kind = clipped(printable(each.get("type")), MOST_NAMED)
        cases.append(Case(name, kind, "skip", skipped=wanting))
    return cases


def named(types: list[str], arguments: list[dict[str, Any]]) -> list[str]:
    """Return a name for each expectation: the type alone where it occurs once, else with the arguments that differ."""
    together: dict[str, list[dict[str, Any]]] = {}
    for kind, given in zip(types, arguments, strict=True):
        together.setdefault(kind, []).append(given)
    seen: Counter[str] = Counter()
    names = []
    for kind, given in zip(types, arguments, strict=True):
        name = clipped(printable(kind), MOST_NAMED)
        if len(together[kind]) > 1 and (told := ", ".join(_differing(given, together[kind]))):
            name += f"[{told}]"
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names


def _differing(given: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for key, value in given.items():
        if any(other.get(key) != value for other in others):
            text = value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False, sort_keys=True)
            yield f"{printable(key)}={clipped(printable(text), MOST_NAMED)}"


def in_one_line(each: ExpectationResult) -> str:
    """Return what is wrong with an expectation in one line: how many of what, and why."""
    if each.unjudged is not None:
        return clipped(f"not judged: {printable(each.unjudged.missing)}", MOST_SAID)
    reasons = sorted((each.details.get("reasons") or {}).items(), key=lambda item: (-item[1], item[0]))
    told = [f"{number(count)} {printable(reason)}" for reason, count in reasons]
    parts = [total(each), ", ".join(told)]
    return clipped(": ".join(filter(None, parts)) or "it does not hold", MOST_SAID)


def at_length(each: ExpectationResult, result: Result) -> str:
    """Return all that there is to say of an expectation, as on a terminal: what, where, why, and how to mend it."""
    file = io.StringIO()
    page = Page(Console(file=file, width=WIDTH, color_system=None, highlight=False))
    block([each], result, page)
    return clipped(file.getvalue(), MOST_TEXT)


def reason_told(reason: str) -> str:
    """Return a reason's code, and what it means."""
    words = in_words(reason)
    return clipped(printable(reason), MOST_NAMED) + (f": {words}" if words else "")
