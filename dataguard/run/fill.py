"""Fill the metric table of a run: from the store where numbers are known, by scanning where they are not."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from dataguard.engines import threads
from dataguard.errors import ShardFault
from dataguard.expectations.context import ShardFacts
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths
from dataguard.run.dataset import Dataset, source_of_rows
from dataguard.run.plan import Plan
from dataguard.run.record import RecordedShard
from dataguard.run.request import Request
from dataguard.run.scan import Scanned, Task, keys_of, scan
from dataguard.run.store import MetricStore, Stored, digest_of, digest_of_stretch
from dataguard.run.table import RunTable
from dataguard.run.warm import warm
from dataguard.shards.files import FileState


def fill(
    dataset: Dataset,
    shards: Sequence[ShardFacts],
    plan: Plan,
    table: RunTable,
    *,
    store: MetricStore | None,
    request: Request,
) -> list[ShardFacts]:
    """Put every planned number of every intact shard into the table.

    Returns:
        The shards with their tokens, and the faults that only reading brought to light.
    """
    filling = _Filling(dataset, shards, plan, store, request)
    request.watch.start(sum(shard.rows for shard in shards))
    try:
        for scanned in threads.run(scan, filling.tasks(), request.jobs):
            filling.take(scanned, table)
    finally:
        request.watch.stop()
    return filling.facts()


@dataclass
class _Known:
    """A shard on its way through: what stands for its content, and what has come of its units.

    Args:
        path, state: Of the file; None where only a record of an earlier run is at hand, which has the digest.
        digest: Of the content, where it is known.
        seen_ns: When the state of the file was taken.
    """

    path: Path | None
    state: FileState | None
    digest: str | None
    seen_ns: int
    units: int
    stretches: dict[int, bytes] = field(default_factory=dict)
    fresh: list[tuple[int, int, dict[str, pl.DataFrame]]] = field(default_factory=list)

    @property
    def key(self) -> str:
        """What its numbers are stored under: the digest, or what stands for it until all of the file has been read."""
        return self.digest or f"unread {self.state}"

    def stretch(self, number: int) -> tuple[Path, FileState, int, int] | None:
        """Return the stretch of the file whose digest is wanted with a unit; None where the file's is known."""
        if self.digest is not None or self.path is None or self.state is None:
            return None
        return self.path, self.state, number, self.units


class _Filling:
    def __init__(
        self,
        dataset: Dataset,
        shards: Sequence[ShardFacts],
        plan: Plan,
        store: MetricStore | None,
        request: Request,
    ) -> None:
        self._dataset, self._shards, self._plan, self._store, self._request = dataset, shards, plan, store, request
        self._known: dict[int, _Known] = {}
        self._tokens: dict[int, int] = {}
        self._faults: dict[int, ShardFault] = {}
        self._warm: set[tuple[object, ...]] = set()
        self._alike: dict[tuple[object, ...], tuple[list[Metric], dict[str, Metric | None]]] = {}

    def tasks(self) -> Iterator[Task]:
        """Yield a task for each unit, with what is stored of it."""
        for place, (shard, opened, facts) in enumerate(
            zip(self._dataset.shards, self._dataset.opened, self._shards, strict=True)
        ):
            if opened is None or facts.fault is not None:
                continue
            source, column = source_of_rows(shard, facts, self._request.source_from)
            metrics, keys = self._wanted(facts, column)
            known = self._look_up(place)
            for number, unit in enumerate(opened.units):
                task = Task(place, opened, unit, facts.roles, metrics, self._plan.tokens, source, column, keys)
                if known is not None:
                    task = replace(task, stored=self._find(known, task), stretch=known.stretch(number))
                missing = task.keys.keys() - {key for stored in task.stored for key in stored.places}
                if missing and isinstance(opened, RecordedShard):
                    metrics_missing = [metric for key in missing if (metric := task.keys[key]) is not None]
                    opened.refuse({kind for metric in metrics_missing for kind in self._plan.wanted_by.get(metric, ())})
                if missing:
                    self._compile_for(facts)
                yield task

    def _wanted(self, facts: ShardFacts, column: str | None) -> tuple[list[Metric], dict[str, Metric | None]]:
        """Return what a shard's columns can give, and its keys; the same for all shards of the same columns."""
        types = tuple((field.name, field.type) for field in facts.schema or ())
        alike = (types, tuple(sorted(facts.roles.items())), column)
        if alike not in self._alike:
            metrics = self._plan.of_shard(facts)
            self._alike[alike] = metrics, keys_of(metrics, facts.roles, column)
        return self._alike[alike]

    def _look_up(self, place: int) -> _Known | None:
        """Return what is known of a shard's file; None where nothing can be stored of it."""
        opened = self._dataset.opened[place]
        if isinstance(opened, RecordedShard):
            if opened.digest is None:
                return None
            self._known[place] = _Known(None, None, opened.digest, 0, len(opened.units))
            return self._known[place]
        state, path = getattr(opened, "state", None), getattr(opened, "path", None)
        if self._store is None or opened is None or state is None or path is None:
            return None
        known = _Known(path, state, None, self._dataset.opened_ns, len(opened.units))
        with self._trouble():
            known.digest = self._store.digest(state)
            if known.digest is None and self._store.may_know(state):
                with suppress(ShardFault):  # told when the unit is read
                    stretches = [digest_of_stretch(path, state, number, known.units) for number in range(known.units)]
                    known.digest = digest_of(stretches, state)
                    self._store.remember(state, known.digest, known.seen_ns)
        self._known[place] = known
        return known

    def _find(self, known: _Known, task: Task) -> list[Stored]:
        with self._trouble():
            if self._store is not None:
                return self._store.find(known.key, task.unit.start, task.unit.stop, task.keys)
        return []

    def _compile_for(self, facts: ShardFacts) -> None:
        """Compile the kernels before the first unit that needs them, in this thread alone."""
        types = {role: kind for role in facts.roles if facts.can_read(role) and (kind := facts.type_of(role))}
        seen = tuple(sorted((role, str(kind)) for role, kind in types.items()))
        if types and seen not in self._warm:
            self._warm.add(seen)
            warm(self._plan.metrics, [types], self._request.watch.note)

    def take(self, scanned: Scanned, table: RunTable) -> None:
        """Put a unit's numbers into the table, and into the store what is new."""
        task = scanned.task
        self._request.timings.scan.add(scanned.seconds)
        if scanned.fault is not None:
            self._faults.setdefault(task.shard, scanned.fault)
            self._known.pop(task.shard, None)
            table.drop(task.shard)
            return
        table.append(scanned)
        tokens = self._count(scanned)
        self._tokens[task.shard] = self._tokens.get(task.shard, 0) + tokens
        if task.shard in self._known:
            with self._trouble(), self._request.timings.scan("store"):
                self._keep(self._known[task.shard], scanned)
        self._request.watch.advance(task.unit.rows, tokens)

    def _count(self, scanned: Scanned) -> int:
        lengths = Lengths(self._plan.tokens)
        frame = next((scanned.frames[key] for key, metric in scanned.task.keys.items() if metric == lengths), None)
        return 0 if frame is None else int(frame["length"].cast(pl.Int64).sum())

    def _keep(self, known: _Known, scanned: Scanned) -> None:
        """Store what is new of a unit; a small shard's at once when it is whole, a large one's unit by unit."""
        if self._store is None:
            return
        unit = scanned.task.unit
        if scanned.digest is not None and scanned.task.stretch is not None:
            known.stretches[scanned.task.stretch[2]] = scanned.digest
        if scanned.fresh:
            known.fresh.append((unit.start, unit.stop, {key: scanned.frames[key] for key in scanned.fresh}))
        whole = known.digest is not None or len(known.stretches) == known.units
        if whole and known.digest is None and known.state is not None:
            provisional = known.key
            known.digest = digest_of([known.stretches[number] for number in range(known.units)], known.state)
            self._store.settle(provisional, known.digest, known.state, known.seen_ns)
        if known.fresh and (whole or known.units > 1):
            self._store.add(known.key, known.fresh)
            known.fresh = []

    def facts(self) -> list[ShardFacts]:
        """Return the shards as they are known now."""
        return [
            replace(facts, fault=(fault.reason, fault.detail), rows=0)
            if (fault := self._faults.get(place)) is not None
            else replace(facts, tokens=self._tokens.get(place, 0), digest=self._digest(place))
            for place, facts in enumerate(self._shards)
        ]

    def _digest(self, place: int) -> str | None:
        known = self._known.get(place)
        return None if known is None else known.digest

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        """Go on without a store that is full, locked or damaged: it must never stop a run."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            self._store = None
            self._request.watch.note(f"the store is left alone from here on: {error}")
