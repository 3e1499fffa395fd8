"""`dataguard profile`: look at a data set, propose a suite that it holds to, and tell where it does not hold."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from dataguard.errors import DataError, OutputError
from dataguard.expectations import EXPECTATIONS
from dataguard.expectations.base import Expectation
from dataguard.expectations.columns_exist import ExpectColumnsToExist
from dataguard.expectations.context import MetricTable
from dataguard.expectations.distributions import USUAL, metrics_of, wanting
from dataguard.expectations.distributions_match import ExpectDistributionsToMatchBaseline
from dataguard.expectations.dtypes_fit import ExpectDtypesToFit
from dataguard.reports.json_report import report_json
from dataguard.reports.text import counted
from dataguard.result import ExpectationResult, Result
from dataguard.run.dataset import paths_of
from dataguard.run.outputs import REPORT, prepare
from dataguard.run.plan import Plan, make_plan
from dataguard.run.propose import NUMBERS_READ, RULES
from dataguard.run.ready import Ready, get_ready
from dataguard.run.request import Request
from dataguard.run.rule import Fitted, Rule
from dataguard.run.rules_rows import columns_wanted
from dataguard.run.run import Measured, judged, measure
from dataguard.run.seen import Seen, token_columns
from dataguard.run.suite_text import Line, Proposed
from dataguard.shards.roles import INPUT_IDS
from dataguard.suite.loading import load_suite
from dataguard.suite.model import Configured, Suite
from dataguard.version import __version__

SUITE = "suite.yaml"
MATCH = ExpectDistributionsToMatchBaseline.type()


@dataclass(frozen=True)
class Profiled:
    """A proposed suite, and what it says of the data that it came from.

    Args:
        result: The verdict; what fails are faults of the data, which the suite has not learned.
    """

    proposed: Proposed
    result: Result


def profile(request: Request, out: str | Path | None = None) -> Profiled:
    """Return a suite that fits a data set.

    Args:
        request: DATA, and what is known of its vocabulary and columns; a suite in it is not looked at.
        out: Folder for suite.yaml, and for report.json: the baseline that the suite then names.

    Raises:
        UsageError: DATA, the vocabulary or the folder is unusable, or there is no row to look at.
    """
    if out is None:
        return _profile(request)
    if (Path(out) / SUITE).exists():
        why, fix = "it may have been edited, and would be overwritten", "move it away, or give another --out"
        raise OutputError(f"there is a {SUITE} already", where=str(Path(out) / SUITE), why=why, fix=fix)
    with prepare(Path(out), paths_of(request.data)) as outputs:
        profiled = _profile(request)
        kept = replace(profiled.proposed, lines=(*profiled.proposed.lines, *_drift(profiled.result)))
        outputs.write_text(SUITE, kept.yaml())
        outputs.write_text(REPORT, report_json(profiled.result))
        outputs.commit(whole=False)
    return Profiled(kept, profiled.result)


def _profile(request: Request) -> Profiled:
    request = replace(request, suite=None, sampler=None)
    with request.timings.steps("open"):
        ready = get_ready(request)
        ready = replace(ready, taken=[each for each in ready.taken if not each.startswith("suite ")])
    if not any(shard.rows for shard in ready.context.intact):
        why = "no shard is intact, or none has a row"
        raise DataError("there is no row to look at", why=why, fix="see what dataguard validate says of it")
    measured = measure(ready, _plan(ready), request)
    seen = _seen(measured)
    fitted, left_out = _fitted(seen)
    draft = Proposed([_line(seen.of(column), rule, each) for column, rule, each in fitted], settings=_settings(request))
    suite = load_suite(draft.document())
    result = judged(suite, measured, ready, replace(request, suite=draft.document())).result
    told = zip(draft.lines, result.results, strict=True)
    lines = [replace(line, reason=" ".join(filter(None, (f"{line.reason}.", _verdict(each))))) for line, each in told]
    return Profiled(replace(draft, lines=lines, head=_head(result), left_out=left_out), result)


def _line(seen: Seen, rule: Rule, fitted: Fitted) -> Line:
    kwargs = {**({} if rule.whole else seen.named), **fitted.kwargs}
    read = {kwargs.get("column", seen.column), *seen.own(rule.needs)}
    section = next(section for section, rules in RULES.items() if rule in rules)
    return Line(rule.type, kwargs, fitted.why, fitted.severity, [each for each in seen.scarce if each in read], section)


def _fitted(seen: Seen) -> tuple[list[tuple[str, Rule, Fitted]], list[tuple[str, str]]]:
    """Return what every rule makes of the data, by token column; and the rules that make nothing of it, with the reason."""
    found: list[tuple[str, Rule, Fitted]] = []
    left_out: list[tuple[str, str]] = []
    for rule, column in _asked(seen):
        own = seen.of(column)
        fits = own.missing(rule.needs) or rule.fit(own)
        if isinstance(fits, str):
            left_out.append((rule.type if column == INPUT_IDS else f"{rule.type} on {column}", fits))
        else:
            found += [(column, rule, each) for each in fits]
    return found, left_out


def _asked(seen: Seen) -> Iterator[tuple[Rule, str]]:
    """Yield every rule with each token column that it is for."""
    columns = token_columns(seen.context)
    for rule in itertools.chain.from_iterable(RULES.values()):
        yield from ((rule, column) for column in (columns[:1] if rule.whole else columns))


def _plan(ready: Ready) -> Plan:
    """Return every metric that a rule may look at, or that a later run may be compared by."""
    context = ready.context
    seen = Seen(MetricTable(pl.LazyFrame()), context)
    candidates = [
        Configured(each, "critical")
        for rule, column in _asked(seen)
        if seen.of(column).missing(rule.needs) is None
        for each in _variants(rule, seen.of(column))
    ]
    plan = make_plan(Suite("candidates", tuple(candidates)), context)
    numbers = [
        metric
        for column in token_columns(context)
        for name in (*NUMBERS_READ, *USUAL)
        if wanting(name, context, column) is None
        for metric in metrics_of(name, context, column)
    ]
    return replace(plan, metrics=tuple(dict.fromkeys((*plan.metrics, *numbers))))


def _variants(rule: Rule, seen: Seen) -> Iterator[Expectation]:
    """Yield a rule's expectation with every choice of arguments on which its metrics depend."""
    own = {} if rule.whole else seen.named
    return (EXPECTATIONS[rule.type].model_validate({**own, **kwargs}) for kwargs in rule.variants(seen))


def _seen(measured: Measured) -> Seen:
    """Return what the rules look at, with what they leave to those that name whole shards."""
    seen = Seen(measured.table, measured.context)
    wanted = columns_wanted(seen)
    roles = [role for column in token_columns(measured.context) for role in seen.of(column).roles]
    owners = [ExpectColumnsToExist(columns=tuple(wanted))] if wanted else []
    typed = [ExpectDtypesToFit(column=role) for role in roles]
    return replace(seen, owners=(*owners, *typed), scarce=tuple(role for role in roles if role not in wanted))


def _settings(request: Request) -> dict[str, Any]:
    """Return what options told of columns and vocabulary, so that the suite needs them no more."""
    size = {} if request.vocab_size is None else {"size": request.vocab_size}
    told = {"columns": dict(request.columns), "vocabulary": {**request.vocabulary, **size}}
    return {key: value for key, value in told.items() if value}


def _head(result: Result) -> list[str]:
    """Return remarks on the whole suite."""
    meta = result.meta
    shards = counted(meta["shards"]["intact"], "intact shard")
    part = f" (the first {counted(meta['head'], 'row')} of each)" if meta["partial"] else ""
    lines = [
        f"Proposed by dataguard profile {__version__} from {shards}{part}, {meta['rows']:,} rows and {meta['tokens']:,} tokens.",
        "Keep the lines that you would stop a run for; correct what you know better. Above each stands what it came from.",
    ]
    origins = sorted(set((meta["vocabulary"].get("origin") or {}).values()))
    if origins:
        lines.append(f"What is known of the ids came from: {', '.join(origins)}. Judge with the same.")
    if failed := sum(not each.success for each in result.results):
        lines.append(f"{counted(failed, 'line')} failed on this very data (FAILS): a fault is not learned as normal.")
    return lines


def _verdict(each: ExpectationResult) -> str:
    """Return what a proposed expectation says of the data, in a sentence; nothing where it plainly holds."""
    if each.unjudged is not None:
        return f"NOT JUDGED here: {each.unjudged}."
    judged_count, unexpected = each.judged_count or 0, each.unexpected_count or 0
    if not each.success:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in each.details.get("reasons", {}).items())
        return f"FAILS here{f': {reasons}' if reasons else ''}."
    return f"It sets {unexpected:,} of {counted(judged_count, 'row')} aside here." if unexpected else ""


def _drift(result: Result) -> list[Line]:
    """Return a line for each token column that compares later data with this one."""
    why = "report.json beside this file holds the distributions of this data: later data that drifts from them is told."
    columns = result.meta["distributions"]
    named = ({} if column == INPUT_IDS else {"column": column} for column in columns)
    return [Line(MATCH, {**own, "baseline": REPORT, "max_psi": 0.2}, why) for own in named]
