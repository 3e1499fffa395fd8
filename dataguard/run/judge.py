"""Judge the metric table by a suite: one verdict for each expectation, and the rows that are set aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from dataguard.expectations import ExpectShardsToBeIntact
from dataguard.expectations.base import CannotJudge, Expectation, Outcome
from dataguard.expectations.context import Context, MetricTable, ShardFacts
from dataguard.result import ExpectationResult, Unjudged
from dataguard.run.plan import lacking, metrics_of, skipped
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

    def rejected(self, suite: Suite) -> pl.LazyFrame:
        """Return every row that is set aside: shard, row, expectations, reasons (lists, in the order of the suite)."""
        parts = [
            frame.select("shard", "row", pl.lit(result.type).alias("expectations"), pl.col("reason").alias("reasons"))
            for result, frame in zip(self.results, self.unexpected, strict=True)
            if frame is not None and result.severity in suite.quarantine
        ]
        if not parts:
            texts = pl.List(pl.String)
            return pl.LazyFrame(schema={"shard": pl.UInt32, "row": pl.Int64, "expectations": texts, "reasons": texts})
        rows = pl.concat(parts).group_by("shard", "row", maintain_order=True)
        once = (pl.col(name).unique(maintain_order=True) for name in ("expectations", "reasons"))
        return rows.agg(*once).sort("shard", "row")


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
        outcome = _outcome(each.expectation, table, context)
        results.append(_result(each, outcome))
        unexpected.append(outcome.unexpected)
    return Verdicts(tuple(results), tuple(left_out), tuple(unexpected))


def _with_integrity(suite: Suite, context: Context) -> Sequence[Configured]:
    asked = any(isinstance(each.expectation, ExpectShardsToBeIntact) for each in suite.expectations)
    if asked or all(shard.fault is None for shard in context.shards):
        return suite.expectations
    meta = {"dataguard": {"added": "the suite does not ask for intact shards, but some are not"}}
    return (Configured(ExpectShardsToBeIntact(), "critical", meta=meta), *suite.expectations)


def _outcome(expectation: Expectation, table: MetricTable, context: Context) -> Outcome:
    """Judge, as far as the shards have what the expectation reads."""
    absent = lacking(expectation, context)
    if absent is not None:
        return Outcome(success=False, unjudged=absent)
    problem, unreadable = None, []
    if expectation.columns_read(context):
        if not context.intact:
            return Outcome(success=False, unjudged=Unjudged("no shard is intact", "see expect_shards_to_be_intact"))
        problem, unreadable = _unreadable(expectation, context)
        if unreadable:
            table = MetricTable(table.frame.filter(~pl.col("shard").is_in(unreadable)))
    try:
        outcome = expectation.judge(table, context)
    except CannotJudge as error:
        return Outcome(success=False, unjudged=error.unjudged)
    unjudged = problem or outcome.unjudged
    if unjudged is None:
        return outcome
    return Outcome(
        success=False,
        element_count=outcome.element_count,
        unexpected_count=outcome.unexpected_count,
        missing_count=outcome.missing_count,
        observed_value=outcome.observed_value,
        findings=outcome.findings,
        details=outcome.details,
        unexpected=outcome.unexpected,
        unjudged=unjudged,
    )


def _unreadable(expectation: Expectation, context: Context) -> tuple[Unjudged | None, list[int]]:
    """Return the shards whose rows cannot be judged for want of a column, or because of its type, and how to mend it."""
    roles = {role for metric in metrics_of(expectation, context) for role in (*metric.reads(), *metric.may_read())}
    found: dict[int, str] = {}
    for place, shard in enumerate(context.shards):
        if shard.fault is None and shard.rows:
            fault = _column_fault(shard, expectation.columns_read(context), roles)
            if fault is not None:
                found[place] = fault
    if not found:
        return None, []
    named = [f"{context.shards[place].name} ({fault})" for place, fault in list(found.items())[:MOST_NAMED]]
    more = f" and {len(found) - MOST_NAMED:,} more" if len(found) > MOST_NAMED else ""
    missing = f"{len(found):,} of {len(context.intact):,} shards cannot be judged: {', '.join(named)}{more}"
    fix = "write the column as lists of integers, or name the right one with --column ROLE=NAME"
    return Unjudged(missing, fix), list(found)


def _column_fault(shard: ShardFacts, required: Sequence[str], read: set[str]) -> str | None:
    for role in required:
        if role not in shard.roles:
            return f"no column {role}"
    for role in sorted({*required, *read} & set(shard.roles)):
        if not shard.can_read(role):
            return f"column {shard.roles[role]} is {shard.type_of(role)}"
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
    )
