"""Judge a data set: open, plan, scan, judge, tell. The order of things, each done by the room that knows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from dataguard.engines import threads
from dataguard.errors import ShardFault, UsageError
from dataguard.expectations import ExpectShardsToBeIntact
from dataguard.expectations.context import Context, MetricTable, ShardFacts
from dataguard.result import SEVERITIES, Result, Severity
from dataguard.run.dataset import (
    Dataset,
    SourceFrom,
    demand_token_column,
    open_dataset,
    paths_of,
    source_of_rows,
)
from dataguard.run.describe import account, describe_columns, describe_shards, describe_sources, describe_vocabulary
from dataguard.run.judge import Verdicts, judge
from dataguard.run.plan import Plan, make_plan
from dataguard.run.scan import Task, scan
from dataguard.run.store import MOST_SOURCES, RunStore
from dataguard.run.warm import warm
from dataguard.shards.roles import INPUT_IDS
from dataguard.suite.loading import load_suite
from dataguard.suite.model import Suite
from dataguard.suite.shipped import choose
from dataguard.vocabulary.beside import beside_data
from dataguard.vocabulary.loading import load_vocabulary
from dataguard.vocabulary.model import Vocabulary


class Watch(Protocol):
    """Somebody who is told how a run gets on."""

    def note(self, text: str) -> None:
        """Take a line for people."""

    def start(self, rows: int | None) -> None:
        """Take that scanning begins, of so many rows as far as is known."""

    def advance(self, rows: int, tokens: int) -> None:
        """Take that so many more rows and tokens have been scanned."""

    def stop(self) -> None:
        """Take that scanning has ended."""


class _Nobody:
    def note(self, text: str) -> None:
        pass

    def start(self, rows: int | None) -> None:
        pass

    def advance(self, rows: int, tokens: int) -> None:
        pass

    def stop(self) -> None:
        pass


@dataclass(frozen=True)
class Judged:
    """A data set that has been judged, with what is needed to write about it."""

    result: Result
    dataset: Dataset
    verdicts: Verdicts
    suite: Suite
    context: Context


def judge_data(
    data: Any,
    *,
    suite: str | Path | Mapping[str, Any] | None = None,
    tokenizer: str | Path | None = None,
    model: str | Path | None = None,
    vocab_size: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    source_from: SourceFrom | None = None,
    jobs: int | None = None,
    fail_on: Severity = "critical",
    watch: Watch | None = None,
) -> Judged:
    """Judge a data set, and write nothing. The arguments are those of `validate`."""
    watch, jobs = watch or _Nobody(), jobs or threads.default_jobs()
    understood = None if suite is None else load_suite(suite, parameters)
    dataset = open_dataset(data, _tolerated(understood), jobs)
    taken: list[str] = []
    if understood is None:
        understood, why = _fitting(dataset, columns or {}, parameters)
        taken.append(why)
    mapped = {**understood.columns, **(columns or {})}
    shards = dataset.facts(mapped)
    demand_token_column(shards, [each.expectation.column for each in understood.expectations])
    vocabulary = _vocabulary(data, tokenizer, model, vocab_size, understood, taken)
    context = _before_the_scan(dataset, shards, vocabulary, understood, source_from)
    plan = make_plan(understood, context)
    store = RunStore(plan.metrics)
    shards = _scan(dataset, shards, plan, store, source_from, jobs, watch)
    context = replace(context, shards=shards, sources=store.sources)
    table = MetricTable(store.frame())
    verdicts = judge(understood, table, context)
    rejected = verdicts.rejected(understood)
    count = int(rejected.select(pl.len()).collect(engine="streaming").item())
    notes = list(dataset.notes)
    if store.too_many_sources:
        notes.append(f"more than {MOST_SOURCES:,} sources: the rows are taken to have none")
    taken += [f"column {', '.join(found)} as {role}" for role, found in describe_columns(context).items() if role not in mapped]
    meta = {
        "suite": {"name": understood.name, "origin": understood.origin, "chosen": suite is None},
        "fail_on": fail_on,
        "shards": describe_shards(context),
        "rows": sum(shard.rows for shard in context.intact),
        "tokens": sum(shard.tokens for shard in context.intact),
        "columns": describe_columns(context),
        "taken": taken,
        "vocabulary": describe_vocabulary(vocabulary),
        "sources": describe_sources(table, context, plan.tokens),
        "skipped": [
            {"type": each.expectation.type(), "column": each.expectation.column, "missing": why.missing, "fix": why.fix}
            for each, why in verdicts.skipped
        ],
        "accounting": account(context, count, _broken_rows(dataset, context)),
        "notes": notes,
    }
    if not verdicts.results:
        why = "; ".join(sorted({absent.missing for _, absent in verdicts.skipped}))
        raise UsageError("nothing was judged: every expectation was skipped", why=why, fix="give what is missing")
    result = Result(
        suite_name=understood.name,
        suite_parameters=understood.parameters,
        results=verdicts.results,
        meta=meta,
        fail_on=fail_on,
        rejected=lambda: _named(rejected, context).collect(engine="streaming"),
        unexpected_rows=lambda kind: _unexpected(verdicts, kind, context),
    )
    return Judged(result, dataset, verdicts, understood, context)


def _tolerated(suite: Suite | None) -> set[str]:
    expectations = () if suite is None else (each.expectation for each in suite.expectations)
    return {reason for each in expectations if isinstance(each, ExpectShardsToBeIntact) for reason in each.allow}


def _fitting(dataset: Dataset, columns: Mapping[str, str], parameters: Mapping[str, Any] | None) -> tuple[Suite, str]:
    """Return the shipped suite that fits the columns, and what was chosen in words."""
    present = {role for shard in dataset.facts(columns) for role in shard.roles}
    name = choose(present)
    return load_suite(name, parameters), f"suite {name}, by the columns"


def _vocabulary(
    data: Any,
    tokenizer: str | Path | None,
    model: str | Path | None,
    vocab_size: int | None,
    suite: Suite,
    taken: list[str],
) -> Vocabulary:
    if tokenizer is None and model is None:
        tokenizer = beside_data(paths_of(data))
        if tokenizer is not None:
            taken.append(f"tokenizer {Path(tokenizer).name}, beside the data")
    return load_vocabulary(tokenizer=tokenizer, model=model, given=suite.vocabulary, vocab_size=vocab_size)


def _before_the_scan(
    dataset: Dataset,
    shards: Sequence[ShardFacts],
    vocabulary: Vocabulary,
    suite: Suite,
    source_from: SourceFrom | None,
) -> Context:
    """Return the context to plan by: rows have sources if any shard may give them one."""
    pairs = [source_of_rows(*each, source_from) for each in zip(dataset.shards, shards, strict=True)]
    sources = ("",) if any(name or column for name, column in pairs) else ()
    return Context(vocabulary, shards, sources, suite.parameters, dataset.ignored)


def _tasks(
    dataset: Dataset, shards: Sequence[ShardFacts], plan: Plan, source_from: SourceFrom | None
) -> Iterable[Task]:
    for place, (shard, opened, facts) in enumerate(zip(dataset.shards, dataset.opened, shards, strict=True)):
        if opened is None:
            continue
        source, column = source_of_rows(shard, facts, source_from)
        metrics = plan.of_shard(facts.roles, facts)
        for unit in opened.units:
            yield Task(place, opened, unit, facts.roles, metrics, plan.tokens, source, column)


def _scan(
    dataset: Dataset,
    shards: Sequence[ShardFacts],
    plan: Plan,
    store: RunStore,
    source_from: SourceFrom | None,
    jobs: int,
    watch: Watch,
) -> list[ShardFacts]:
    """Fill the store; return the shards with their tokens, and the faults that only reading brought to light."""
    readable = [{role: kind for role in each.roles if each.can_read(role) and (kind := each.type_of(role))} for each in shards]
    warm(plan.metrics, [types for types in readable if types], watch.note)
    known: dict[int, int] = {}
    faults: dict[int, ShardFault] = {}
    watch.start(sum(shard.rows for shard in shards))
    try:
        for scanned in threads.run(scan, _tasks(dataset, shards, plan, source_from), jobs):
            place = scanned.task.shard
            if scanned.fault is not None:
                faults.setdefault(place, scanned.fault)
                store.drop(place)
                continue
            store.append(scanned)
            known[place] = known.get(place, 0) + scanned.tokens
            watch.advance(scanned.task.unit.rows, scanned.tokens)
    finally:
        watch.stop()
    return [
        replace(facts, fault=(fault.reason, fault.detail), rows=0)
        if (fault := faults.get(place)) is not None
        else replace(facts, tokens=known.get(place, 0))
        for place, facts in enumerate(shards)
    ]


def _broken_rows(dataset: Dataset, context: Context) -> list[int | None]:
    """Return the rows of each shard that is not intact: as announced where it could be opened, else None."""
    broken = [place for place, shard in enumerate(context.shards) if shard.fault is not None]
    return [None if (opened := dataset.opened[place]) is None else opened.rows for place in broken]


def _named(rows: pl.LazyFrame, context: Context) -> pl.LazyFrame:
    """Replace the place of each shard by its name."""
    names = pl.LazyFrame({"place": range(len(context.shards)), "name": [shard.name for shard in context.shards]})
    names = names.with_columns(pl.col("place").cast(pl.UInt32))
    joined = rows.join(names, left_on="shard", right_on="place", how="left", maintain_order="left")
    return joined.with_columns(pl.col("name").alias("shard")).drop("name")


def _unexpected(verdicts: Verdicts, kind: str, context: Context) -> pl.DataFrame:
    frames = [
        _named(frame, context).select(
            "shard", "row", pl.lit(result.column).alias("column"), "reason", "position", pl.col("value").cast(pl.Float64)
        )
        for result, frame in zip(verdicts.results, verdicts.unexpected, strict=True)
        if result.type == kind and frame is not None
    ]
    return pl.concat(frames).collect(engine="streaming") if frames else pl.DataFrame()
