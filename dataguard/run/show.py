"""Rows as people read them: found by number, by what they fail, or by chance."""

from __future__ import annotations

import random as dice
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from dataguard.errors import DataError, ShardFault, SuiteError, UsageError, nearest
from dataguard.expectations import EXPECTATIONS
from dataguard.expectations.base import RowExpectation
from dataguard.reports.rows import Mark, ShownRow, rows_json
from dataguard.run.dataset import Dataset, paths_of
from dataguard.run.outputs import REJECTED, prepare
from dataguard.run.ready import Ready, get_ready
from dataguard.run.request import Nobody, Request, Watch, with_max_length
from dataguard.run.run import run
from dataguard.run.shown import shown_row
from dataguard.shards.memory import open_table
from dataguard.shards.model import OpenShard
from dataguard.suite.model import Configured

ROWS = "rows.json"
LIMIT = 3
"""Rows that are shown unless told otherwise."""


@dataclass(frozen=True)
class Pick:
    """A row to show: the place of its shard, its number, and what is known to be wrong with it."""

    shard: int
    row: int
    marks: tuple[Mark, ...] = ()


def show(
    data: Any,
    *,
    rows: Sequence[str] = (),
    unexpected: str | None = None,
    earlier: str | Path | None = None,
    random: int | None = None,
    seed: int = 0,
    limit: int = LIMIT,
    suite: str | Path | Mapping[str, Any] | None = None,
    tokenizer: str | Path | None = None,
    model: str | Path | None = None,
    vocab_size: int | None = None,
    max_length: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    out: str | Path | None = None,
    watch: Watch | None = None,
) -> list[ShownRow]:
    """Return rows of a data set, with their tokens' text and what the suite finds wrong with them.

    Args:
        data: As in `validate`.
        rows: Rows by name, `SHARD:ROW`; of a shard's name its end is enough where that is one shard's alone.
        unexpected: The first rows that this expectation finds, as the suite asks for it.
        earlier: The output folder of a run: its rejected rows, or of these the ones that fail `unexpected`.
        random: So many rows, drawn from all that can be read. Without anything else to go by, `limit` of them.
        seed: Of the draw.
        limit: Rows to show of those that are unexpected.
        suite, tokenizer, model, vocab_size, max_length, parameters, columns: As in `validate`.
        out: Folder for rows.json; None writes nothing.
        watch: Is told how a scan gets on.

    Raises:
        UsageError: There is no such row, or it cannot be read; or as in `validate`.
    """
    if sum([bool(rows), unexpected is not None or earlier is not None, random is not None]) > 1:
        why = "rows are chosen by number, by what they fail, or by chance"
        raise UsageError("too many ways to choose rows", why=why, fix="give one of --row, --unexpected and --random")
    request = Request(
        data=data,
        suite=suite,
        tokenizer=tokenizer,
        model=model,
        vocab_size=vocab_size,
        parameters=with_max_length(parameters, max_length),
        columns=columns or {},
        watch=watch or Nobody(),
    )
    ready = get_ready(request)
    if rows:
        picks = [_named(each, ready.dataset) for each in rows]
    elif earlier is not None:
        picks = _rejected(Path(earlier), unexpected, limit, ready.dataset)
    elif unexpected is not None:
        picks = _unexpected(unexpected, limit, request, ready)
    else:
        picks = _drawn(limit if random is None else random, seed, ready.dataset)
    shown = [_shown(pick, batch, request, ready) for pick, batch in _read(picks, ready.dataset)]
    if out is not None:
        with prepare(Path(out), paths_of(data)) as outputs:
            outputs.write_text(ROWS, rows_json(shown))
            outputs.commit(whole=False)
    return shown


def _named(text: str, dataset: Dataset) -> Pick:
    name, colon, number = text.rpartition(":")
    names = [shard.name for shard in dataset.shards]
    if not colon and len(names) == 1:
        name = names[0]
    if not name or not number.isdecimal():
        raise UsageError(f"{text!r} names no row", where="--row", fix=f"give SHARD:ROW, such as {names[0]}:0")
    found = [place for place, each in enumerate(names) if each == name]
    found = found or [place for place, each in enumerate(names) if each.endswith(f"/{name}")]
    if len(found) != 1:
        what = f"several shards are called {name}" if found else f"there is no shard {name}"
        near = nearest(name, names) if not found else f"give one of {', '.join(names[place] for place in found[:3])}"
        raise UsageError(what, where="--row", fix=near if len(near) < 300 else f"give one such as {names[0]}")
    place, row = found[0], int(number)
    opened = _opened(place, dataset)
    if row >= opened.rows:
        there = f"its rows are 0 to {opened.rows - 1:,}" if opened.rows else "it has no rows"
        raise UsageError(f"there is no row {row}", where=names[place], why=there, fix="rows are counted from 0")
    return Pick(place, row)


def _opened(place: int, dataset: Dataset) -> OpenShard:
    opened, fault = dataset.opened[place], dataset.faults.get(place)
    if opened is None:
        raise _unreadable(dataset.shards[place].name, fault)
    return opened


def _unreadable(name: str, fault: ShardFault | None) -> DataError:
    why = None if fault is None else f"{fault.reason}: {fault.detail}"
    return DataError("the shard is not intact", where=name, why=why, fix="copy or write it again")


def _drawn(count: int, seed: int, dataset: Dataset) -> list[Pick]:
    """Return rows of all shards that can be opened, each with the same chance, in the order of DATA."""
    ends = list(accumulate(0 if opened is None else opened.rows for opened in dataset.opened))
    total = ends[-1] if ends else 0
    picks = []
    for number in sorted(dice.Random(seed).sample(range(total), min(count, total))):  # noqa: S311 -- no secret
        place = bisect_right(ends, number)
        picks.append(Pick(place, number - (ends[place - 1] if place else 0)))
    return picks


def _unexpected(kind: str, limit: int, request: Request, ready: Ready) -> list[Pick]:
    """Judge one expectation over all rows, and return the first that it finds."""
    asked = tuple(each for each in ready.suite.expectations if each.expectation.type() == kind)
    alone = replace(ready.suite, expectations=asked or (_default(kind, ready),))
    if not isinstance(alone.expectations[0].expectation, RowExpectation):
        level = alone.expectations[0].expectation.level
        fix = "run dataguard validate: its report names what this finds"
        raise UsageError(f"{kind} finds no rows", where="--unexpected", why=f"it judges by the {level}", fix=fix)
    judged = run(request, replace(ready, suite=alone))
    for result in judged.result.results:
        if result.type == kind and result.unjudged is not None:
            why, fix = result.unjudged.missing, result.unjudged.fix
            raise UsageError(f"{kind} cannot be judged", where="--unexpected", why=why, fix=fix)
    found: dict[tuple[str, int], list[Mark]] = {}
    for line in judged.rows.unexpected(kind).iter_rows(named=True):
        key = (line["shard"], line["row"])
        if key in found or len(found) < limit:
            found.setdefault(key, []).append(_mark(kind, line))
    places = {shard.name: place for place, shard in enumerate(ready.dataset.shards)}
    return [Pick(places[name], row, tuple(marks)) for (name, row), marks in found.items()]


def _default(kind: str, ready: Ready) -> Configured:
    """Return an expectation that the suite does not hold, with its own defaults."""
    if kind not in EXPECTATIONS:
        held = {each.expectation.type() for each in ready.suite.expectations}
        raise UsageError(
            f"no expectation is called {kind}", where="--unexpected", fix=nearest(kind, {*EXPECTATIONS, *held})
        )
    try:
        return Configured(EXPECTATIONS[kind](), EXPECTATIONS[kind].default_severity)
    except ValueError as error:
        why = f"suite {ready.suite.name} does not ask for it, and it has arguments that must be given"
        raise UsageError(
            f"{kind} cannot be judged", where="--unexpected", why=why, fix="name a suite that does"
        ) from error


def _mark(kind: str, line: Mapping[str, Any]) -> Mark:
    return Mark(kind, line["column"], line["reason"], line["position"], line["value"])


def _rejected(earlier: Path, kind: str | None, limit: int, dataset: Dataset) -> list[Pick]:
    """Return the first rows that an earlier run set aside."""
    place, fix = earlier / REJECTED, "name the output folder of a run of dataguard validate"
    if not place.is_file():
        raise DataError("there is no earlier run to show rows of", where=str(earlier), why=f"no {REJECTED}", fix=fix)
    try:
        table = pl.scan_parquet(place)
        if kind is not None:
            table = table.filter(pl.col("types").list.contains(kind))
        lines = (
            table.select("shard", "row", "types", "reasons").head(limit).collect(engine="streaming").rows(named=True)
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(
            "the rows of an earlier run cannot be read", where=str(place), why=str(error), fix=fix
        ) from error
    places = {shard.name: number for number, shard in enumerate(dataset.shards)}
    picks = []
    for line in lines:
        opened = None if line["shard"] not in places else dataset.opened[places[line["shard"]]]
        if opened is None or not 0 <= line["row"] < opened.rows:
            why = f"row {line['row']:,} of {line['shard']} is not in DATA"
            raise DataError("the earlier run was over other data", where=str(place), why=why, fix="name its data")
        faults = zip(line["types"], line["reasons"], strict=True)
        marks = tuple(Mark(each, None, reason, None, None) for each, reason in faults if kind in {None, each})
        picks.append(Pick(places[line["shard"]], line["row"], marks))
    return picks


def _read(picks: Iterable[Pick], dataset: Dataset) -> Iterator[tuple[Pick, pa.RecordBatch]]:
    """Yield each row as a batch of its own."""
    for pick in picks:
        opened, name = _opened(pick.shard, dataset), dataset.shards[pick.shard].name
        try:
            yield pick, _row(opened, pick.row)
        except ShardFault as fault:
            raise _unreadable(name, fault) from fault


def _row(opened: OpenShard, row: int) -> pa.RecordBatch:
    unit = next(unit for unit in opened.units if unit.first_row <= row < unit.first_row + unit.rows)
    for first, batch in opened.read(unit):
        if first <= row < first + batch.num_rows:
            return batch.slice(row - first, 1)
    raise ShardFault("unreadable", f"row {row:,} is not where the file says that it is")


def _shown(pick: Pick, batch: pa.RecordBatch, request: Request, ready: Ready) -> ShownRow:
    """Return a row with what is wrong with it, as far as one row can tell."""
    facts = replace(ready.context.shards[pick.shard], rows=1)
    own = _judged(pick, batch, request, ready) if not pick.marks or pick.marks[0].position is None else ()
    known = {mark.type for mark in own}
    marks = (*own, *(mark for mark in pick.marks if mark.type not in known))
    wanted = {mark.type for mark in pick.marks}
    marks = tuple(mark for mark in marks if not wanted or mark.type in wanted)
    shard, vocabulary = ready.dataset.shards[pick.shard], ready.context.vocabulary
    return shown_row(shard, facts, pick.row, batch, marks=marks, vocabulary=vocabulary)


class _NotesAlone(Nobody):
    """Passes on what is told, and not how a scan of one row gets on."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def note(self, text: str) -> None:
        self._watch.note(text)


def _judged(pick: Pick, batch: pa.RecordBatch, request: Request, ready: Ready) -> list[Mark]:
    """Judge a row by itself."""
    shard = ready.dataset.shards[pick.shard]
    dataset = Dataset((shard,), (open_table(pa.Table.from_batches([batch])),), {})
    facts = replace(ready.context.shards[pick.shard], rows=1)
    alone = replace(ready, dataset=dataset, context=replace(ready.context, shards=[facts], manifests=()))
    try:
        judged = run(replace(request, store=None, jobs=1, watch=_NotesAlone(request.watch)), alone)
    except SuiteError:  # nothing can be judged of it
        return []
    kinds = dict.fromkeys(result.type for result in judged.result.results)
    return [_mark(kind, line) for kind in kinds for line in judged.rows.unexpected(kind).iter_rows(named=True)]
