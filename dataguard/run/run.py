"""Judge a data set: open, plan, scan, judge, tell. The order of things, each done by the room that knows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from dataguard.errors import SuiteError
from dataguard.expectations.context import Context, MetricTable, ShardFacts
from dataguard.expectations.shards_intact import ExpectShardsToBeIntact
from dataguard.result import Result
from dataguard.run.columns import demand_columns, refuse_unknown_roles
from dataguard.run.dataset import Dataset, open_dataset, paths_of, source_of_rows
from dataguard.run.describe import (
    account,
    describe_columns,
    describe_shards,
    describe_skipped,
    describe_sources,
    describe_vocabulary,
)
from dataguard.run.fill import fill
from dataguard.run.head import describe_head, first_rows
from dataguard.run.judge import judge
from dataguard.run.plan import make_plan
from dataguard.run.record import read_record
from dataguard.run.request import Request
from dataguard.run.rows import Rows
from dataguard.run.store import opened_store
from dataguard.run.table import RunTable
from dataguard.suite.loading import load_suite
from dataguard.suite.model import Suite
from dataguard.suite.plugins import Known
from dataguard.suite.shipped import choose
from dataguard.vocabulary.beside import beside_data
from dataguard.vocabulary.loading import load_vocabulary
from dataguard.vocabulary.tokenizer_files import has_tokenizer


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


def run(request: Request) -> Judged:
    """Judge a data set, and write nothing.

    Raises:
        UsageError: The suite, the vocabulary or DATA is unusable, or nothing could be judged.
    """
    refuse_unknown_roles(request.columns)
    known = Known(request.plugins)
    suite = None if request.suite is None else load_suite(request.suite, request.parameters, known)
    if request.record is None:
        dataset = open_dataset(request.data, _tolerated(suite), request.jobs)
    else:
        dataset = read_record(request.record)
    if request.head is not None:
        dataset = first_rows(dataset, request.head)
    taken = [*request.taken, *(f"{name} of {package}" for name, package in known.installed.items())]
    if suite is None:
        suite = _fitting(dataset, request)
        taken.append(f"suite {suite.name}, by the columns")
    mapped = {**suite.columns, **request.columns}
    shards = dataset.facts(mapped)
    demand_columns(shards, suite, request)
    tokenizer = request.tokenizer
    if tokenizer is None and not (request.model is not None and has_tokenizer(Path(request.model))):
        tokenizer = beside_data(paths_of(request.data))
        taken += [] if tokenizer is None else [f"{tokenizer.name}, beside the data"]
    vocabulary = load_vocabulary(
        tokenizer=tokenizer,
        model=request.model,
        given=suite.vocabulary,
        over=request.vocabulary,
        vocab_size=request.vocab_size,
    )
    context = Context(
        vocabulary,
        shards,
        _likely_sources(dataset, shards, request),
        suite.parameters,
        dataset.ignored,
        dataset.manifests,
    )
    plan = make_plan(suite, context)
    filled = RunTable(plan.metrics)
    with opened_store(request) as store:
        shards = fill(dataset, shards, plan, filled, store=store, request=request)
    context = replace(context, shards=shards, sources=filled.sources)
    table = MetricTable(filled.frame())
    verdicts = judge(suite, table, context)
    if not verdicts.results:
        why = "; ".join(sorted({str(absent) for _, absent in verdicts.skipped}))
        raise SuiteError("nothing was judged: every expectation was skipped", file=suite.origin, why=why)
    rows = Rows(filled, verdicts, suite, context)
    columns = describe_columns(context)
    taken += [f"column {', '.join(found)} as {role}" for role, found in columns.items() if role not in mapped]
    meta = {
        "suite": {"name": suite.name, "origin": suite.origin, "chosen": request.suite is None},
        "fail_on": request.fail_on,
        **describe_head(dataset, request.head),
        "shards": describe_shards(context),
        "rows": sum(shard.rows for shard in context.intact),
        "tokens": sum(shard.tokens for shard in context.intact),
        "columns": columns,
        "taken": taken,
        "vocabulary": describe_vocabulary(vocabulary),
        "sources": describe_sources(table, context, plan.tokens),
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
    return Judged(result, dataset, rows, context, tokenizer)


def _count(rows: pl.LazyFrame) -> int:
    return int(rows.select(pl.len()).collect(engine="streaming").item())


def _tolerated(suite: Suite | None) -> set[str]:
    expectations = () if suite is None else (each.expectation for each in suite.expectations)
    return {reason for each in expectations if isinstance(each, ExpectShardsToBeIntact) for reason in each.allow}


def _fitting(dataset: Dataset, request: Request) -> Suite:
    """Return the shipped suite that fits the columns."""
    present = {role for shard in dataset.facts(request.columns) for role in shard.roles}
    return load_suite(choose(present), request.parameters)


def _likely_sources(dataset: Dataset, shards: Sequence[ShardFacts], request: Request) -> tuple[str, ...]:
    """Return a stand-in for the names of the sources, which only the scan knows; none where no row can have one."""
    pairs = [source_of_rows(*each, request.source_from) for each in zip(dataset.shards, shards, strict=True)]
    return ("",) if any(name or column for name, column in pairs) else ()


def _broken_rows(dataset: Dataset, context: Context) -> list[int | None]:
    """Return the rows of each shard that is not intact: as announced where it could be opened, else None."""
    broken = [place for place, shard in enumerate(context.shards) if shard.fault is not None]
    return [None if (opened := dataset.opened[place]) is None else opened.rows for place in broken]
