"""Judge a data set: open, plan, scan, judge, tell. The order of things, each done by the room that knows it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import polars as pl

from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.divided import Scratch
from dataguard.result import Result
from dataguard.run.dataset import Dataset
from dataguard.run.describe import (
    account,
    describe_columns,
    describe_distributions,
    describe_shards,
    describe_skipped,
    describe_sources,
    describe_vocabulary,
)
from dataguard.run.drawn import with_pictures
from dataguard.run.fill import fill
from dataguard.run.head import describe_head
from dataguard.run.judge import judge
from dataguard.run.plan import Plan, make_plan
from dataguard.run.ready import Ready, get_ready
from dataguard.run.request import Request
from dataguard.run.rows import Rows
from dataguard.run.samples import with_sampler
from dataguard.run.scratch import scratch_folder, scratch_writing
from dataguard.run.store import opened_store
from dataguard.run.table import RunTable
from dataguard.suite.model import Suite


@dataclass(frozen=True)
class Judged:
    """A data set that has been judged, with what is needed to set rows aside.

    Args:
        tokenizer: The one that was used, asked for or found.
    """

    result: Result
    dataset: Dataset
    rows: Rows
    context: Context
    tokenizer: str | Path | None


def run(request: Request, ready: Ready | None = None) -> Judged:
    """Judge a data set, and write nothing.

    Args:
        request: What is asked for.
        ready: What is known already; None for nothing.

    Raises:
        UsageError: The suite, the vocabulary or DATA is unusable, or nothing could be judged.
    """
    with request.timings.steps("open"):
        ready = ready or get_ready(request)
    plan = make_plan(ready.suite, ready.context)
    measured = measure(ready, with_pictures(plan, ready.context) if request.pictures else plan, request)
    return judged(ready.suite, replace(measured, plan=plan), ready, request)


@dataclass(frozen=True)
class Measured:
    """The numbers of a data set.

    Args:
        context: As far as only the rows tell: tokens, sources, shards that are not intact after all.
    """

    plan: Plan
    filled: RunTable
    table: MetricTable
    context: Context


def measure(ready: Ready, plan: Plan, request: Request) -> Measured:
    """Scan what a plan asks for, as far as it is not stored."""
    filled = RunTable(plan.metrics)
    with request.timings.steps("scan"), opened_store(request) as store:
        shards = fill(ready.dataset, ready.context.shards, plan, filled, store=store, request=request)
    context = replace(ready.context, shards=shards, sources=filled.sources)
    scratch = Scratch(partial(scratch_folder, filled), scratch_writing)
    return Measured(plan, filled, MetricTable(filled.frame(), scratch), context)


def judged(suite: Suite, measured: Measured, ready: Ready, request: Request) -> Judged:
    """Judge the numbers of a data set by a suite.

    Raises:
        SuiteError: Nothing could be judged.
    """
    plan, filled, table, context = measured.plan, measured.filled, measured.table, measured.context
    dataset = ready.dataset
    if request.sampler is not None:
        suite, context = with_sampler(suite, context, dataset, filled, plan.tokens, request)
    with request.timings.steps("judge"):
        verdicts = judge(suite, table, context)
    verdicts.demand_some(suite)
    rows = Rows(filled, verdicts, suite, context, table.scratch)
    columns = describe_columns(context)
    named = [f"column {', '.join(found)} as {role}" for role, found in columns.items() if role not in ready.mapped]
    meta = {
        "suite": {"name": suite.name, "origin": suite.origin, "chosen": request.suite is None},
        "fail_on": request.fail_on,
        **describe_head(dataset, request.head),
        "shards": describe_shards(context),
        "rows": sum(shard.rows for shard in context.intact),
        "tokens": sum(shard.tokens for shard in context.intact),
        "columns": columns,
        "taken": [*ready.taken, *named],
        "vocabulary": describe_vocabulary(context.vocabulary),
        "sources": describe_sources(table, context, plan.tokens),
        "distributions": describe_distributions(table, context, suite, plan.metrics),
        **({} if request.sampler is None else {"sampler": asdict(request.sampler)}),
        "skipped": describe_skipped(verdicts),
        "accounting": account(context, _count(rows.rejected()), _broken_rows(dataset, context)),
        "notes": [*dataset.notes, *filled.notes()],
    }
    result = Result(
        suite_name=suite.name,
        suite_parameters=suite.parameters,
        results=verdicts.results,
        meta=meta,
        fail_on=request.fail_on,
        rejected=rows.collect_rejected,
        unexpected_rows=rows.unexpected,
    )
    return Judged(result, dataset, rows, context, ready.tokenizer)


def _count(rows: pl.LazyFrame) -> int:
    return int(rows.select(pl.len()).collect(engine="streaming").item())


def _broken_rows(dataset: Dataset, context: Context) -> list[int | None]:
    """Return the rows of each shard that is not intact: as announced where it could be opened, else None."""
    broken = [place for place, shard in enumerate(context.shards) if shard.fault is not None]
    return [None if (opened := dataset.opened[place]) is None else opened.rows for place in broken]
