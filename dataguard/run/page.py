"""What report.html shows beside the result: what expectations mean, pictures, and rows that fail, read again."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from dataguard.errors import ShardFault
from dataguard.expectations import EXPECTATIONS
from dataguard.expectations.context import MetricTable
from dataguard.reports.html.beside import Beside, CutRow
from dataguard.reports.html.charts import demand_library
from dataguard.reports.rows import Mark
from dataguard.result import Result
from dataguard.run.drawn import Drawing, with_pictures
from dataguard.run.plan import make_plan
from dataguard.run.rejects import batches_with
from dataguard.run.run import Judged
from dataguard.run.shown import shown_row
from dataguard.run.taking import take_rows
from dataguard.shards.model import OpenShard
from dataguard.shards.roles import is_list

MOST_ROWS, MOST_EACH = 36, 3
"""Rows that are shown, of all expectations and of each."""
MOST_TOKENS = 4096
"""Of a longer row a stretch of so many is read."""


def check_page() -> None:
    """Refuse a page whose charts cannot be drawn, before any long work.

    Raises:
        UsageError: What draws them is not installed.
    """
    demand_library()


def beside(result: Result, judged: Judged, *, pictures: bool) -> Beside:
    """Return what the page shows beside a result.

    Args:
        pictures: Whether the run measured what the page draws (`Request.pictures`); else the suite's own numbers must do.
    """
    plan = make_plan(judged.rows.suite, judged.context)
    plan = with_pictures(plan, judged.context) if pictures else plan
    table = MetricTable(judged.rows.store.frame(), judged.rows.scratch)
    drawn = Drawing(table, judged.context, plan, judged.rows.suite)
    rows, unread = _rows(result, judged)
    return Beside(
        meanings=_meanings(judged),
        sources=drawn.sources(result),
        shares=drawn.shares(),
        ids=drawn.ids(),
        repeats=drawn.repeats(),
        rows=rows,
        unread=unread,
    )


def _meanings(judged: Judged) -> dict[str, str]:
    """Return what each expectation asks for: the first line that its class says of itself."""
    kinds = {
        **EXPECTATIONS,
        **{each.expectation.type(): type(each.expectation) for each in judged.rows.suite.expectations},
    }
    return {name: (inspect.getdoc(kind) or "").partition("\n")[0] for name, kind in kinds.items()}


@dataclass(frozen=True)
class _Wanted:
    """A row to show, by the place of its shard."""

    shard: int
    row: int
    marks: tuple[Mark, ...]


def _rows(result: Result, judged: Judged) -> tuple[list[CutRow], int]:
    """Return some of the rows that fail, in the order of the data, and how many could not be read again."""
    wanted = _wanted(result, judged)
    found = [cut for shard in dict.fromkeys(each.shard for each in wanted) for cut in _of_shard(shard, wanted, judged)]
    return found, len(wanted) - len(found)


def _wanted(result: Result, judged: Judged) -> list[_Wanted]:
    """Choose the first rows of each expectation that failed, then of those that hold; each with all that is known of it."""
    chosen: set[tuple[str, int]] = set()
    failing = sorted(result.results, key=lambda each: each.success)
    for each in failing:
        own = dict.fromkeys((at.shard, at.row) for at in each.findings if at.shard is not None and at.row is not None)
        chosen |= set(list(own)[: max(0, min(MOST_EACH, MOST_ROWS - len(chosen)))])
    marks: dict[tuple[str, int], list[Mark]] = {}
    for each in failing:
        for at in each.findings:
            if (at.shard, at.row) in chosen:
                assert at.shard is not None  # or it would not be among them
                assert at.row is not None
                mark = Mark(each.type, at.column, at.reason, at.position, at.value)
                marks.setdefault((at.shard, at.row), []).append(mark)
    places = {shard.name: place for place, shard in enumerate(judged.context.shards)}
    return sorted(
        (_Wanted(places[name], row, tuple(each)) for (name, row), each in marks.items()),
        key=lambda each: (each.shard, each.row),
    )


def _of_shard(shard: int, wanted: Sequence[_Wanted], judged: Judged) -> Iterator[CutRow]:
    """Yield the rows that are wanted of a shard, as far as they can be read."""
    opened = judged.dataset.opened[shard]
    if opened is None:
        return
    own = {each.row: each for each in wanted if each.shard == shard}
    try:
        for row, batch in _read(opened, sorted(own)):
            yield _cut(own[row], batch, judged)
    except ShardFault:  # it was read a moment ago: whoever changed it, the verdict is on what was there
        return


def _read(opened: OpenShard, rows: Sequence[int]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield rows by number, each as a batch of its own."""
    left = np.array(rows, np.int64)
    for unit in opened.units:
        own = left[(left >= unit.first_row) & (left < unit.first_row + unit.rows)]
        for first, batch in batches_with(opened, unit, own) if own.size else ():
            for row in own[(own >= first) & (own < first + batch.num_rows)].tolist():
                yield row, take_rows(batch, [row - first])


def _cut(wanted: _Wanted, batch: pa.RecordBatch, judged: Judged) -> CutRow:
    """Return a row as it is shown; of a long one the stretch around its first fault."""
    facts, shard = judged.context.shards[wanted.shard], judged.dataset.shards[wanted.shard]
    longest = max(map(_length, batch.columns), default=0)
    first, shown = 0, batch
    if longest > MOST_TOKENS:
        position = next((mark.position for mark in wanted.marks if mark.position is not None), 0)
        first = max(0, min(position - MOST_TOKENS // 2, longest - MOST_TOKENS))
        shown = _shortened(batch, first)
    marks = [replace(mark, position=_inside(mark.position, first)) for mark in wanted.marks]
    row = shown_row(shard, facts, wanted.row, shown, marks=marks, vocabulary=judged.context.vocabulary)
    tokens = _length(batch.column(row.tokens[0].name)) if row.tokens else 0
    return CutRow(replace(row, marks=wanted.marks), first, tokens)


def _inside(position: int | None, first: int) -> int | None:
    """Return a position of a row as one of its stretch from `first` on; None where that does not hold it."""
    return position - first if position is not None and 0 <= position - first < MOST_TOKENS else None


def _length(column: pa.Array) -> int:
    """Return how many values the one list of a column holds; 0 where it holds none, or is no list."""
    if not is_list(column.type) or not column[0].is_valid:
        return 0
    return len(column[0].values)


def _shortened(batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
    """Return a row with at most MOST_TOKENS values of each list, from `first` on."""
    columns: dict[str, Any] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if _length(column) > MOST_TOKENS:
            values = column[0].values.slice(first, MOST_TOKENS)
            column = pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values)  # noqa: PLW2901
        columns[name] = column
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
