"""`dataguard locate`: the rows that each rank saw at a step, with their numbers and what is wrong with them, the worst first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from dataguard.errors import DataError, ShardFault, SuiteError, UsageError
from dataguard.expectations.base import RowExpectation
from dataguard.expectations.context import Context
from dataguard.expectations.observation import Places
from dataguard.expectations.rows_unique import ExpectRowsToBeUnique
from dataguard.metrics.named import NUMBERS, Tokens
from dataguard.reports.json_report import plain
from dataguard.reports.text import counted
from dataguard.result import SEVERITIES, Severity
from dataguard.run.dataset import Dataset, paths_of
from dataguard.run.fill import fill
from dataguard.run.outputs import prepare
from dataguard.run.plan import make_plan
from dataguard.run.ready import Ready, get_ready
from dataguard.run.request import Nobody, Request
from dataguard.run.run import run
from dataguard.run.table import RunTable
from dataguard.sampler.observation import read_observation
from dataguard.sampler.settings import Settings
from dataguard.sampler.steps import Steps, computed_steps, narrowed, observed_steps, robust_deviation
from dataguard.shards.memory import open_table
from dataguard.shards.model import OpenShard

MOST_ROWS = 20_000
"""Rows that are read and judged at most; the window shrinks to that."""
LOCATED = "located.json"
TELLING = (
    "tokens",
    "content_tokens",
    "repeats",
    "symbol_fraction",
    "digit_run",
    "unknown_fraction",
    "characters_per_token",
    "supervised_tokens",
    "highest_id",
)
"""Numbers by which a row stands out; those that the data and the vocabulary give."""
UNUSUAL = 3.0
"""Robust standard deviations from which on a number is told as unusual."""


@dataclass(frozen=True)
class Located:
    """The rows around a step.

    Args:
        epoch, step, steps: The step's place in its epoch, which has so many.
        window: Steps before and behind it that were looked at.
        rows: Each with step, rank, sample, shard, row, source, numbers, findings and unusual numbers; the worst first, those
            of the step itself before others that are as bad.
        notes: What else there is to say.
    """

    epoch: int
    step: int
    steps: int
    window: int
    rows: Sequence[Mapping[str, Any]]
    notes: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        found: dict[str, Any] = plain(
            {
                "epoch": self.epoch,
                "step_in_epoch": self.step,
                "steps_in_epoch": self.steps,
                "window": self.window,
                "notes": self.notes,
                "rows": self.rows,
            }
        )
        return found


def locate(
    request: Request,
    settings: Settings,
    *,
    step: int,
    epoch: int | None = None,
    window: int = 50,
    observed: str | Path | None = None,
    out: str | Path | None = None,
) -> Located:
    """Return the rows that each rank took at a step and around it.

    Args:
        request: DATA, and by which suite rows are judged; without one the shipped suite that fits.
        settings: Of the sampler; of an observed order only `grad_accum` is taken.
        step: Of the optimizer, from 0: in `epoch`, or over all epochs where that is not told.
        window: Steps before and behind it to look at, too.
        observed: An observation of the order, instead of computing it.
        out: Folder for located.json.

    Raises:
        UsageError: DATA, the suite or the observation is unusable, or there is no such step.
    """
    ready = get_ready(request)
    starts = np.zeros(len(ready.context.shards) + 1, np.int64)
    np.cumsum([0 if each.fault is not None else each.rows for each in ready.context.shards], out=starts[1:])
    samples = int(starts[-1])
    if observed is None:
        steps = computed_steps(samples, settings, step, epoch, window)
    else:
        seen = read_observation(Path(observed))
        if seen.samples != samples:
            why = f"DATA has {samples:,} rows, the observed run had {seen.samples:,} samples"
            raise UsageError("the observation is of other data", where=str(observed), why=why, fix="give its DATA")
        steps = observed_steps(seen, settings.grad_accum, step, epoch, window)
    steps, reach = narrowed(steps, MOST_ROWS)
    notes = (
        [] if reach is None else [f"only {reach} steps around it were looked at: they hold {len(steps.samples):,} rows"]
    )
    faulty = sum(each.fault is not None for each in ready.context.shards)
    if faulty:
        notes.append(f"{counted(faulty, 'shard')} not intact: rows of such are taken to be no samples")
    if epoch is None and steps.epoch:
        notes.append(
            f"an epoch has {counted(steps.steps, 'step')}: step {step:,} of the run is in epoch {steps.epoch:,}"
        )
    rows, unjudged = _rows(steps, Places([each.name for each in ready.context.shards], starts), ready, request)
    notes += unjudged
    found = Located(steps.epoch, steps.step, steps.steps, window if reach is None else reach, rows, notes)
    if out is not None:
        with prepare(Path(out), paths_of(request.data)) as outputs:
            outputs.write_text(LOCATED, json.dumps(found.to_dict(), ensure_ascii=False, indent=2) + "\n")
            outputs.commit(whole=False)
    return found


def _rows(steps: Steps, places: Places, ready: Ready, request: Request) -> tuple[list[dict[str, Any]], list[str]]:
    """Return what there is to say of each sample that was taken, the worst first, and what could not be judged."""
    wanted = np.unique(steps.samples)
    shard_of = np.searchsorted(places.starts, wanted, side="right") - 1
    chosen = {place: wanted[shard_of == place] - int(places.starts[place]) for place in np.unique(shard_of).tolist()}
    small = _small(chosen, ready)
    quiet = replace(request, store=None, watch=Nobody(), head=None)
    numbers, sources = _numbers(small, quiet)
    faults, unjudged = _faults(small, quiet)
    deviations = {name: robust_deviation(values) for name, values in numbers.items()}
    of_sample: dict[int, dict[str, Any]] = {}
    for place, sample in enumerate(wanted.tolist()):
        shard, row = places.of(sample)
        unusual = {name: each[place] for name, each in deviations.items() if each[place] >= UNUSUAL}
        of_sample[sample] = {
            "sample": sample,
            "shard": shard,
            "row": row,
            "source": sources[place],
            "numbers": {name: values[place] for name, values in numbers.items() if values[place] is not None},
            "findings": faults.get(place, []),
            "unusual": {name: round(float(each), 1) for name, each in sorted(unusual.items(), key=lambda one: -one[1])},
        }
    found = [
        {"step": int(at), "offset": int(at) - steps.step, "rank": int(rank), **of_sample[int(sample)]}
        for at, rank, sample in zip(steps.at, steps.ranks, steps.samples, strict=True)
    ]
    return sorted(found, key=_badness), unjudged


def _badness(row: Mapping[str, Any]) -> tuple[Any, ...]:
    worst = max(row["unusual"].values(), default=0.0)
    found = [each["severity"] for each in row["findings"]]
    return *(-found.count(each) for each in SEVERITIES), -worst, abs(row["offset"]), row["step"], row["rank"]


def _small(chosen: Mapping[int, np.ndarray[Any, Any]], ready: Ready) -> Ready:
    """Return the chosen rows alone, shard by shard, as a data set in memory."""
    shards, opened, facts = [], [], []
    for place, rows in chosen.items():
        shard, source = ready.dataset.shards[place], ready.dataset.opened[place]
        try:
            table = _taken(source, rows) if source is not None else None
        except ShardFault as fault:
            why = f"{fault.reason}: {fault.detail}"
            raise DataError(
                "the shard is not intact", where=shard.name, why=why, fix="copy or write it again"
            ) from fault
        if table is None:
            continue
        shards.append(shard)
        opened.append(open_table(table))
        facts.append(replace(ready.context.shards[place], rows=len(rows)))
    dataset = Dataset(tuple(shards), tuple(opened), {})
    return replace(ready, dataset=dataset, context=replace(ready.context, shards=facts, manifests=()))


def _taken(opened: OpenShard, rows: np.ndarray[Any, Any]) -> pa.Table:
    """Return rows of a shard, rising numbers, as a table."""
    parts = []
    for unit in opened.units:
        inside = rows[(rows >= unit.first_row) & (rows < unit.first_row + unit.rows)]
        if not len(inside):
            continue
        for first, batch in opened.read(unit):
            here = inside[(inside >= first) & (inside < first + batch.num_rows)]
            if len(here):
                parts.append(batch.take(pa.array(here - first)))
            if first + batch.num_rows > inside[-1]:
                break
    table = pa.Table.from_batches(parts, opened.schema)
    if table.num_rows != len(rows):
        raise ShardFault("unreadable", "its rows are not where the file says that they are")
    return table


def _numbers(small: Ready, request: Request) -> tuple[dict[str, list[Any]], list[str | None]]:
    """Return numbers of each row by name, as far as the data gives them, and each row's source."""
    context = small.context
    column = make_plan(small.suite, context).tokens
    tokens = Tokens(context.attention(column), context.vocabulary)
    known = [name for name in TELLING if all(context.absent(need, {}) is None for need in NUMBERS[name].needs)]
    metrics = tuple(dict.fromkeys(each for name in known for each in NUMBERS[name].metrics(tokens)))
    filled = RunTable(metrics)
    plan = replace(make_plan(small.suite, context), metrics=metrics, wanted_by={})
    fill(small.dataset, context.shards, plan, filled, store=None, request=request)
    values = [NUMBERS[name].value(tokens).round(6).alias(name) for name in known]
    table = filled.frame().select(pl.col("source"), *values).collect(engine="streaming")
    names: Sequence[str] = filled.sources
    sources = [None if each is None else names[each] for each in table["source"].to_list()]
    return {name: table[name].to_list() for name in known}, sources


def _faults(small: Ready, request: Request) -> tuple[dict[int, list[dict[str, Any]]], list[str]]:
    """Return what the suite finds in each row by itself, by the row's place among all chosen ones, and what it cannot judge."""
    alone = [
        each
        for each in small.suite.expectations
        if isinstance(each.expectation, RowExpectation) and not isinstance(each.expectation, ExpectRowsToBeUnique)
    ]
    if not alone:
        return {}, ["the suite has no expectation that judges rows by themselves"]
    try:
        judged = run(request, replace(small, suite=replace(small.suite, expectations=tuple(alone))))
    except SuiteError as error:
        return {}, [f"no row was judged: {error.why}"]
    starts = dict(zip(*_starts(judged.context), strict=True))
    found: dict[int, list[dict[str, Any]]] = {}
    severities: dict[str, Severity] = {}
    for result in judged.result.results:  # of a type that stands twice, the more severe
        severities[result.type] = min(severities.get(result.type, "info"), result.severity, key=SEVERITIES.index)
    for kind, severity in severities.items():
        for line in judged.rows.unexpected(kind).iter_rows(named=True):
            entry = {key: line[key] for key in ("column", "reason", "position", "value") if line[key] is not None}
            finding = {"expectation": kind, "severity": severity, **entry}
            found.setdefault(starts[line["shard"]] + line["row"], []).append(finding)
    absent: dict[str, list[str]] = {}
    for result in judged.result.results:
        if result.unjudged is not None:
            absent.setdefault(str(result.unjudged), []).append(result.type)
    return found, [f"not judged: {', '.join(types)} ({why})" for why, types in absent.items()]


def _starts(context: Context) -> tuple[list[str], list[int]]:
    sizes = [each.rows for each in context.shards]
    return [each.name for each in context.shards], [sum(sizes[:place]) for place in range(len(sizes))]
