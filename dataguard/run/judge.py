"""Judge the metric table by a suite: one verdict for each expectation, and the rows that are set aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from dataguard.errors import SuiteError
from dataguard.expectations.base import CannotJudge, Outcome
from dataguard.expectations.columns_exist import ExpectColumnsToExist
from dataguard.expectations.context import Context, MetricTable, ShardFacts, columns_meant
from dataguard.expectations.dtypes_fit import ExpectDtypesToFit
from dataguard.expectations.shards_intact import ExpectShardsToBeIntact
from dataguard.metrics.base import Metric
from dataguard.result import ExpectationResult, Unjudged
from dataguard.run.plan import lacking, metrics_of, skipped
from dataguard.shards.roles import PROMPT_LENGTH, TARGET_SPANS, TEXT
from dataguard.suite.model import Configured, Suite

MOST_NAMED = 3


@dataclass(frozen=True)
class Verdicts:
    """What a suite says of a data set.

    Args:
        results: One for each expectation that was not skipped, in the order of the suite.
        skipped: The expectations that were, with what is missing.
        unexpected: Every unexpected row of each row-level result, in the same order: shard, row, source, reason, position,
            value; None for the others.
    """

    results: tuple[ExpectationResult, ...]
    skipped: tuple[tuple[Configured, Unjudged], ...]
    unexpected: tuple[pl.LazyFrame | None, ...]

    def demand_some(self, suite: Suite) -> None:
        """Refuse to speak of a suite all of whose expectations were skipped: that is no pass.

        Raises:
            SuiteError: Nothing was judged.
        """
        if not self.results:
            why = "; ".join(sorted({str(absent) for _, absent in self.skipped}))
            raise SuiteError("nothing was judged: every expectation was skipped", file=suite.origin, why=why)


def judge(suite: Suite, table: MetricTable, context: Context) -> Verdicts:
    """Return the verdict of every expectation of a suite.

    A shard that is not intact is a finding whether the suite asks or not: where it does not, the verdict on the shards is
    added, or rows would be left out in silence.
    """
    results, left_out, unexpected = [], [], []
    for each in _with_integrity(suite, context):
        absent = skipped(each, context)
        if absent is not None:
            left_out.append((each, absent))
            continue
        outcome = _outcome(each, table, context, suite)
        if outcome.idle is not None and outcome.idle[0] in each.when:
            left_out.append((each, outcome.idle[1]))
            continue
        results.append(_result(each, outcome))
        unexpected.append(outcome.unexpected)
    return Verdicts(tuple(results), tuple(left_out), tuple(unexpected))


def _with_integrity(suite: Suite, context: Context) -> Sequence[Configured]:
    asked = any(isinstance(each.expectation, ExpectShardsToBeIntact) for each in suite.expectations)
    if asked or all(shard.fault is None for shard in context.shards):
        return suite.expectations
    meta = {"dataguard": {"added": "the suite does not ask for intact shards, but some are not"}}
    return (Configured(ExpectShardsToBeIntact(), "critical", meta=meta), *suite.expectations)


def _outcome(configured: Configured, table: MetricTable, context: Context, suite: Suite) -> Outcome:
    """Judge, as far as the shards have what the expectation reads."""
    expectation = configured.expectation
    absent = lacking(expectation, context)
    if absent is not None:
        return Outcome(success=False, unjudged=absent)
    left_out = LeftOut()
    if expectation.columns_read(context):
        if not context.intact:
            return Outcome(success=False, unjudged=Unjudged("no shard is intact", "see expect_shards_to_be_intact"))
        left_out = _left_out(configured, context, suite)
        if left_out.shards:
            table = replace(table, frame=table.frame.filter(~pl.col("shard").is_in(left_out.shards)))
    try:
        outcome = expectation.judge(table, context)
    except CannotJudge as error:
        return Outcome(success=False, unjudged=error.unjudged)
    if left_out.notes:
        notes = [*outcome.details.get("notes", ()), *left_out.notes]
        outcome = replace(outcome, details={**outcome.details, "notes": notes})
    unjudged = left_out.unjudged or outcome.unjudged
    return outcome if unjudged is None else replace(outcome, success=False, unjudged=unjudged)


@dataclass(frozen=True)
class LeftOut:
    """Shards whose rows an expectation cannot judge.

    Args:
        shards: Their places.
        notes: On those that are skipped by declaration, or are another expectation's finding.
        unjudged: What is missing in the others: then the verdict is no pass.
    """

    shards: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    unjudged: Unjudged | None = None


def _left_out(configured: Configured, context: Context, suite: Suite) -> LeftOut:
    """Return the shards that lack a column, or have it in a type that holds no whole numbers.

    One fault has one owner: where the suite also asks that the column exists, or that its type fits, that verdict names
    the shard. A column that `when` names may be absent in some shards as well as in all.
    """
    expectation = configured.expectation
    metrics = metrics_of(expectation, context)
    found: dict[int, str] = {}
    faults: list[str] = []
    role = ""
    required, one_of = expectation.columns_read(context), expectation.one_column_of(context)
    known: dict[tuple[int, int], ColumnFault | None] = {}
    for place, shard in enumerate(context.shards):
        if shard.fault is not None or not shard.rows:
            continue
        columns = id(shard.schema), id(shard.roles)  # the same objects for all shards of the same columns
        if columns not in known:
            known[columns] = _column_fault(shard, required, one_of, metrics)
        fault = known[columns]
        if fault is not None:
            found[place], role = fault.text, role or fault.role
            declared = fault.absent and fault.role in configured.when
            if not declared and not _has_owner(fault, suite, context):
                faults.append(f"{shard.name} ({fault.text})")
    if not found:
        return LeftOut()
    if not faults and len(found) == sum(shard.rows > 0 for shard in context.intact):
        faults = [f"{context.shards[place].name} ({text})" for place, text in found.items()]
    if not faults:
        named = "; ".join(sorted(set(found.values())))
        return LeftOut(tuple(found), (f"{len(found):,} of {len(context.intact):,} shards are left out: {named}",))
    more = f" and {len(faults) - MOST_NAMED:,} more" if len(faults) > MOST_NAMED else ""
    named = ", ".join(faults[:MOST_NAMED])
    missing = f"{len(faults):,} of {len(context.intact):,} shards cannot be judged: {named}{more}"
    fix = f"write the column as {_held_by(role)}, or name the right one with --column ROLE=NAME"
    return LeftOut(tuple(found), unjudged=Unjudged(missing, fix))


def _held_by(role: str) -> str:
    """Return, in words, what the column of a role holds."""
    kinds = {TEXT: "strings", PROMPT_LENGTH: "whole numbers", TARGET_SPANS: "lists of [start, end) pairs"}
    return next((kind for name, kind in kinds.items() if role.endswith(name)), "lists of integers")


@dataclass(frozen=True)
class ColumnFault:
    """A column that a shard lacks, or has in a type that cannot be read.

    Args:
        role: Of the column, or the name of several of which one is enough.
        text: The fault in words.
    """

    role: str
    text: str
    absent: bool


def _has_owner(fault: ColumnFault, suite: Suite, context: Context) -> bool:
    """Whether another verdict of the suite names the shard for this column."""
    judged = [each.expectation for each in suite.expectations if skipped(each, context) is None]
    if fault.absent:
        return any(isinstance(each, ExpectColumnsToExist) and fault.role in each.columns for each in judged)
    return any(isinstance(each, ExpectDtypesToFit) and each.column == fault.role for each in judged)


def _column_fault(
    shard: ShardFacts, required: Sequence[str], one_of: str | None, metrics: Sequence[Metric]
) -> ColumnFault | None:
    """Return the first column that a shard lacks, or has in a type that its metrics cannot read.

    Args:
        required: Roles that it must have.
        one_of: The name of roles of which it must have one.
    """
    readers: dict[str, list[Metric]] = {}
    for metric in metrics:
        for role in (*metric.reads(), *metric.may_read()):
            readers.setdefault(role, []).append(metric)
    for role in required:
        if role not in shard.roles:
            return ColumnFault(role, f"no column {role}", absent=True)
    if one_of is not None and not any(role in shard.roles for role in columns_meant(one_of)):
        return ColumnFault(one_of, f"no column {' or '.join(columns_meant(one_of))}", absent=True)
    for role in sorted({*required, *readers} & set(shard.roles)):
        kind = shard.type_of(role)
        accepted = [metric.accepts(role, kind) for metric in readers.get(role, ()) if kind is not None]
        if not (all(accepted) if accepted else shard.can_read(role)):
            return ColumnFault(role, f"column {shard.roles[role]} is {kind}", absent=False)
    return None


def _result(configured: Configured, outcome: Outcome) -> ExpectationResult:
    return ExpectationResult(
        type=configured.expectation.type(),
        kwargs=configured.kwargs,
        severity=configured.severity,
        success=outcome.success,
        meta=configured.meta,
        id=configured.id,
        unjudged=outcome.unjudged,
        element_count=outcome.element_count,
        unexpected_count=outcome.unexpected_count,
        missing_count=outcome.missing_count,
        observed_value=outcome.observed_value,
        findings=outcome.findings,
        details=outcome.details,
        fix=configured.expectation.fix,
        value_name=configured.expectation.value_name,
    )
