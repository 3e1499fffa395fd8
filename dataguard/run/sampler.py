"""`dataguard sampler`: judge what was seen of a sampler, by a suite, as shards are judged."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import polars as pl

from dataguard.engines import threads
from dataguard.errors import UsageError
from dataguard.expectations.base import ObservationExpectation
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.observation import Observation
from dataguard.expectations.ranks_equally_long import ExpectRanksToBeEquallyLong
from dataguard.reports.files import files_of
from dataguard.result import Result, Severity, Unjudged
from dataguard.run.dataset import paths_of
from dataguard.run.describe import describe_columns, describe_shards, describe_skipped
from dataguard.run.host import host_facts
from dataguard.run.judge import judge
from dataguard.run.outputs import RUN, prepare
from dataguard.run.request import Nobody, Request, SourceFrom, Watch
from dataguard.run.samples import announced, read_samples, wanted_seeds
from dataguard.run.telling import check_reports, stage_reports
from dataguard.sampler.content import Content
from dataguard.sampler.observation import read_observation
from dataguard.sampler.ranks import TIMEOUT, collect
from dataguard.sampler.settings import Settings
from dataguard.sampler.shards import deal_shards
from dataguard.sampler.simulate import digest_of, simulate
from dataguard.suite.loading import load_suite
from dataguard.suite.model import Configured, Suite
from dataguard.suite.plugins import Known
from dataguard.vocabulary.model import Vocabulary

SUITE = "sampler"
"""The shipped suite that judges a sampler where none is named."""
NO_ROWS = {"shard": pl.UInt32, "row": pl.Int64, "source": pl.Int32}
OF_SHARDS = Unjudged("it judges shards, and a sampler was observed", "run dataguard validate with this suite")


def judge_observed(
    file: str | Path,
    *,
    suite: str | Path | Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    plugins: Sequence[str] = (),
    fail_on: Severity = "critical",
    out: str | Path | None = None,
    reports: Sequence[str] = (),
) -> Result:
    """Judge the observation that a file holds; no DATA is needed.

    Args:
        file: JSON or Parquet, as in docs/sampler.md.
        suite: Name of a shipped suite, a file or a dict; None takes the shipped suite `sampler`.
        parameters: Values of the suite's parameters; `shuffle` of the shipped suite is that of the observation.
        plugins: Modules that give further expectations; they are imported.
        fail_on: The least severity whose failures make `success` false.
        out: Folder for report.json and run.json; None writes nothing.
        reports: As in `dataguard.validate`.

    Raises:
        UsageError: The file, the suite or the output folder is unusable, or nothing could be judged.
    """
    started = time.time()
    check_reports(reports, placed=out is not None)
    seen = read_observation(Path(file))
    known = Known(plugins)
    chosen = load_suite(*_named(suite, parameters or {}, shuffle=seen.shuffle), known)
    taken = [f"{name} of {package}" for name, package in known.installed.items()]
    judged = Judging(chosen, seen, fail_on, taken).result(chosen=suite is None)
    facts = {"observed": str(Path(file).absolute())}
    return write_sampled(judged, out, [Path(file)], started, facts, reports=reports)


def judge_sampler(
    data: Any,
    settings: Settings,
    *,
    backend: str = "auto",
    loader: str | None = None,
    samples: int | None = None,
    timeout: float = TIMEOUT,
    deal: str = "rows",
    suite: str | Path | Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    source_from: SourceFrom | None = None,
    store: str | Path | None = "auto",
    jobs: int | None = None,
    plugins: Sequence[str] = (),
    fail_on: Severity = "critical",
    out: str | Path | None = None,
    reports: Sequence[str] = (),
    watch: Watch | None = None,
) -> Result:
    """Judge what a sampler deals of a data set: torch's DistributedSampler, or a user's loader.

    Args:
        data: A path or several, or rows in memory, as in `dataguard.validate`; all intact rows are the samples, in order. None
            where a loader reads a dataset of its own, of so many `samples`.
        settings: What a training run tells its sampler and loader.
        backend: simulate computes the orders; gloo and nccl start real ranks; auto starts them for a loader alone.
        loader: A user's factory (module:factory), which is imported, in each rank.
        samples: Length of the loader's dataset, where it is not DATA.
        timeout: Seconds without a batch after which a rank has stalled.
        deal: `shards` for an iterable dataset whose shards are dealt to the ranks: by the numbers of their rows alone, it is
            foreseen which rank runs out first. No row is read.
        suite, parameters, plugins, fail_on, out, reports: As in `judge_observed`.
        columns, source_from, store, jobs, watch: As in `dataguard.validate`.

    Raises:
        UsageError: DATA, the suite, the loader or the output folder is unusable, nothing could be judged, or torch is not
            installed.
    """
    started = time.time()
    check_reports(reports, placed=out is not None)
    if deal == "shards" and (loader is not None or backend in {"gloo", "nccl"}):
        option = "--backend" if loader is None else "--loader"
        why = "whole shards are dealt by the numbers of their rows alone, and nothing is run"
        raise UsageError(f"--deal shards and {option} are two ways to see what is dealt", why=why, fix="leave one out")
    known = Known(plugins)
    named, parameters = _named(suite, parameters or {}, shuffle=settings.shuffle)
    taken = [f"{name} of {package}" for name, package in known.installed.items()]
    collecting = Collecting(settings, backend, loader, timeout)
    if data is None:
        if loader is None or samples is None:
            raise UsageError("there is nothing to judge", fix="give DATA, or --loader MODULE:FACTORY with --samples N")
        seen, told = collecting.observe(samples)
        judging = Judging(load_suite(named, parameters, known), seen, fail_on, taken, None, told)
    else:
        request = Request(
            data=data,
            suite=named,
            parameters=parameters,
            columns=columns or {},
            source_from=source_from,
            jobs=jobs or threads.default_jobs(),
            plugins=plugins,
            store=store,
            fail_on=fail_on,
            watch=watch or Nobody(),
        )
        if deal == "shards":
            judged, dealt = _judge_shards(request, settings, chosen=suite is None)
            return write_sampled(judged, out, paths_of(data), started, dealt, reports=reports)
        rows = read_samples(request)
        if samples not in {None, len(rows.content)}:
            why = f"it has {len(rows.content):,} rows"
            raise UsageError(f"DATA has not {samples:,} samples", where="--samples", why=why, fix="leave it out")
        collecting = replace(collecting, seeds=wanted_seeds(rows.suite))
        seen, told = collecting.observe(len(rows.content), rows.content)
        judging = Judging(rows.suite, rows.described(seen), fail_on, [*rows.taken, *taken], rows.context, told)
    facts = {"sampler": asdict(settings), "torch": _version("torch"), **told}
    return write_sampled(judging.result(chosen=suite is None), out, paths_of(data), started, facts, reports=reports)


def _judge_shards(request: Request, settings: Settings, *, chosen: bool) -> tuple[Result, dict[str, Any]]:
    """Judge what an iterable dataset deals whose shards are dealt to the ranks; return also what run.json says of it."""
    if isinstance(request.suite, str) and request.suite == SUITE:
        request = replace(request, parameters={**request.parameters, "shuffle": False})
    rows, sizes = announced(request)
    intact = [size for size, shard in zip(sizes, rows.context.shards, strict=True) if shard.fault is None]
    seen = replace(deal_shards(intact, settings), places=rows.content.places)
    told = {"backend": "simulate", "deal": "shards", "batches": _extremes(seen)}
    judging = Judging(rows.suite, seen, request.fail_on, rows.taken, rows.context, told)
    return judging.result(chosen=chosen), {"sampler": asdict(settings), "deal": "shards"}


def _extremes(seen: Observation) -> dict[str, int]:
    batches = seen.epochs[0].batches or (0,)
    return {"min": min(batches), "max": max(batches)}


@dataclass(frozen=True)
class Collecting:
    """How the orders of a sampler are collected (`judge_sampler`)."""

    settings: Settings
    backend: str
    loader: str | None
    timeout: float
    seeds: Sequence[int] | None = None

    def observe(self, samples: int, content: Content | None = None) -> tuple[Observation, Mapping[str, Any]]:
        """Return what a sampler deals, and how that was found."""
        settings = self.settings
        if self.backend == "simulate" and self.loader is not None:
            why, fix = "nobody knows what a loader deals without running it", "give --backend gloo"
            raise UsageError("a loader cannot be simulated", where="--backend simulate", why=why, fix=fix)
        facts: Mapping[str, Any] = {"backend": "simulate"}
        if self.loader is None and self.backend in {"auto", "simulate"}:
            first = None if content is None else content.first_batches
            seen = simulate(samples, settings, seeds=self.seeds, first_batch=first)
        else:
            collected = collect(
                samples, settings, backend=self.backend, content=content, loader=self.loader, timeout=self.timeout
            )
            seen, facts = collected.seen, collected.facts
            if self.loader is None and not seen.stalls:
                computed = simulate(samples, replace(settings, num_workers=0), seeds=self.seeds)
                note = "resumes and other seeds are computed, as torch's DistributedSampler deals them"
                seen = replace(seen, resumes=computed.resumes, seeds=computed.seeds, told=(*seen.told, note))
        orders = [{"epoch": each.epoch, "digest": digest_of(each)} for each in seen.epochs]
        return seen, {**facts, "orders": orders}


def _version(package: str) -> str | None:
    """Return the version of a package that may not be installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _named(
    named: str | Path | Mapping[str, Any] | None, parameters: Mapping[str, Any], *, shuffle: bool
) -> tuple[str | Path | Mapping[str, Any], Mapping[str, Any]]:
    """Return the suite's name and its parameters; the shipped one expects shuffling of a sampler that shuffles."""
    if named is None or named == SUITE:
        return SUITE, {"shuffle": shuffle, **parameters}
    return named, parameters


@dataclass(frozen=True)
class Judging:
    """An observation and what it is judged by.

    Args:
        context: What else is known, where DATA is; its observation is `seen`.
        told: What the report says of how the observation was made.
    """

    suite: Suite
    seen: Observation
    fail_on: Severity
    taken: Sequence[str] = ()
    context: Context | None = None
    told: Mapping[str, Any] | None = None

    def result(self, *, chosen: bool) -> Result:
        """Return the verdict.

        Args:
            chosen: Nobody named the suite.

        Raises:
            SuiteError: Every expectation was skipped.
        """
        context = self.context or Context(Vocabulary(), (), parameters=self.suite.parameters)
        context = replace(context, observation=self.seen)
        ours, others = _parted(self.suite)
        ours = _with_stalls(ours, self.seen)
        verdicts = judge(replace(self.suite, expectations=ours), MetricTable(pl.LazyFrame(schema=NO_ROWS)), context)
        verdicts = replace(verdicts, skipped=(*verdicts.skipped, *((each, OF_SHARDS) for each in others)))
        verdicts.demand_some(self.suite)
        seen = self.seen
        meta = {
            "suite": {"name": self.suite.name, "origin": self.suite.origin, "chosen": chosen},
            "fail_on": self.fail_on,
            **(_described(self.context, seen) if self.context is not None else {}),
            "samples": seen.samples,
            "ranks": seen.world_size,
            "sampler": {
                "batch_size": seen.batch_size,
                "drop_last": seen.drop_last,
                "shuffle": seen.shuffle,
                "seed": seen.seed,
                "epochs": [epoch.epoch for epoch in seen.epochs],
                **(self.told or {}),
            },
            "taken": [*self.taken, *([f"suite {self.suite.name}"] if chosen else [])],
            "skipped": describe_skipped(verdicts),
            "notes": list(seen.told),
        }
        return Result(
            suite_name=self.suite.name,
            suite_parameters=self.suite.parameters,
            results=verdicts.results,
            meta=meta,
            fail_on=self.fail_on,
        )


def _with_stalls(asked: tuple[Configured, ...], seen: Observation) -> tuple[Configured, ...]:
    """Return the expectations; a rank that hung is a finding whether the suite asks or not."""
    if not seen.stalls or any(isinstance(each.expectation, ExpectRanksToBeEquallyLong) for each in asked):
        return asked
    meta = {"dataguard": {"added": "the suite does not ask for ranks of equal length, but one hung"}}
    return (Configured(ExpectRanksToBeEquallyLong(), "critical", meta=meta), *asked)


def _described(context: Context, seen: Observation) -> dict[str, Any]:
    """Return what the report says of DATA; where no row was read, nobody knows how many tokens there are."""
    return {
        "shards": describe_shards(context),
        "rows": sum(shard.rows for shard in context.intact),
        "tokens": None if seen.lengths is None else sum(shard.tokens for shard in context.intact),
        "columns": describe_columns(context),
    }


def _parted(suite: Suite) -> tuple[tuple[Configured, ...], tuple[Configured, ...]]:
    """Return the expectations that judge a sampler, and the others."""
    ours = [each for each in suite.expectations if isinstance(each.expectation, ObservationExpectation)]
    others = [each for each in suite.expectations if not isinstance(each.expectation, ObservationExpectation)]
    return tuple(ours), tuple(others)


def write_sampled(
    result: Result,
    out: str | Path | None,
    data: Sequence[Path],
    started: float,
    settings: Mapping[str, Any],
    *,
    reports: Sequence[str] = (),
) -> Result:
    """Write run.json and the reports that are files, where there is a place for them; return the result.

    Args:
        data: What was judged, which must not be overwritten.
        started: When it began, in seconds since the epoch.
        settings: How the observation was made, for run.json.
        reports: Names of reports.

    Raises:
        OutputError: The folder cannot be written.
    """
    if out is None:
        return result
    facts = host_facts(started, settings=dict(settings))
    with prepare(Path(out), data, files_of(reports)) as outputs:
        stage_reports(outputs, result, reports)
        outputs.write_text(RUN, json.dumps(facts, indent=2, default=str) + "\n")
        outputs.commit()
    return result
