"""Fill the metric table of a run: from the store where numbers are known, by scanning where they are not."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from dataguard.engines import threads
from dataguard.errors import ShardFault
from dataguard.expectations.context import ShardFacts
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths
from dataguard.run.dataset import Dataset, source_of_rows
from dataguard.run.digests import content_of_stretch, digest_of
from dataguard.run.plan import Plan
from dataguard.run.record import RecordedShard
from dataguard.run.request import Request
from dataguard.run.scan import Piece, Scanned, Task, keys_of, scan
from dataguard.run.store import MetricStore, UnitKey
from dataguard.run.stored import Stored
from dataguard.run.table import RunTable
from dataguard.run.warm import is_seen, warm
from dataguard.shards.files import FileState
from dataguard.shards.ipc_blocks import stretches_of
from dataguard.shards.pieces import Stretch


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
        for outcomes in threads.run(scan, filling.tasks(), request.jobs):
            request.timings.scan.add(outcomes[0].task.watch.seconds())
            for scanned in outcomes:
                filling.take(scanned, table)
    finally:
        request.watch.stop()
    return filling.facts()


MOST_TOGETHER = 4 << 20
"""Bytes of small shards that are scanned as one: each of them then costs little beside its tokens."""
MOST_PIECES, MOST_ROWS = 256, 1 << 16
_WINDOW = 256
"""Shards that are looked up in the store at once."""


@dataclass(slots=True)
class _Known:
    """A shard on its way through: what stands for its content, and what has come of its units.

    Args:
        path, state: Of the file; None where only a record of an earlier run is at hand, which has the digest.
        digest: Of the content, where it is known.
        seen_ns: When the state of the file was taken.
        parts: The stretch of the file that goes with each unit.
    """

    path: Path | None
    state: FileState | None
    digest: str | None
    seen_ns: int
    parts: Sequence[Stretch] = ()
    totals: dict[int, int] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What its numbers are stored under: the digest, or what stands for it until all of the file has been read."""
        return self.digest or f"unread {self.state}"

    def stretch(self, number: int) -> tuple[Path, FileState, int, Stretch] | None:
        """Return the stretch of the file whose digest is wanted with a unit; None where the file's is known."""
        if self.digest is not None or self.path is None or self.state is None:
            return None
        return self.path, self.state, number, self.parts[number]


@dataclass(frozen=True)
class _Alike:
    """What is the same for all shards of the same columns.

    Args:
        wanted: The keys alone.
        types: {role: Arrow type} of the columns that kernels read.
    """

    metrics: list[Metric]
    keys: dict[str, Metric | None]
    wanted: frozenset[str]
    roles: Mapping[str, str]
    types: Mapping[str, pa.DataType]
    source_column: str | None


@dataclass(frozen=True, slots=True)
class _Ready:
    """A piece that waits for others to be scanned with.

    Args:
        missing: The keys of which nothing is stored.
        is_whole: Whether it is all of its shard.
    """

    piece: Piece
    alike: _Alike
    missing: frozenset[str]
    is_whole: bool

    @property
    def is_read(self) -> bool:
        """Whether the shard's file is read for it."""
        return bool(self.missing) or self.piece.stretch is not None

    @property
    def is_joinable(self) -> bool:
        """Whether it may be scanned with others; parts of large shards are stored one by one, as they are read."""
        return self.is_whole or not self.is_read


def _content_or_none(asked: tuple[Path, FileState, int, Stretch]) -> int | None:
    path, state, _, stretch = asked
    try:
        return content_of_stretch(path, state, stretch)
    except ShardFault:
        return None


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
        self._alike: dict[tuple[object, ...], _Alike] = {}
        self._shared: dict[tuple[object, ...], _Alike] = {}

    def tasks(self) -> Iterator[Task]:
        """Yield tasks for all units, in the order of the data set, with what is stored of each.

        Small shards that lie next to each other, have the same columns and lack the same numbers make one task; so do units
        of which everything is stored.
        """
        together: list[_Ready] = []
        size = rows = 0
        for ready in self._pieces():
            to_read, unit = ready.piece.unit.size if ready.is_read else 0, ready.piece.unit
            fits = size + to_read <= MOST_TOGETHER and rows + unit.rows <= MOST_ROWS and len(together) < MOST_PIECES
            if together and not (fits and self._go_together(together[-1], ready)):
                yield self._task(together)
                together, size, rows = [], 0, 0
            together.append(ready)
            size, rows = size + to_read, rows + unit.rows
        if together:
            yield self._task(together)

    @staticmethod
    def _go_together(one: _Ready, other: _Ready) -> bool:
        alike = one.alike is other.alike and one.missing == other.missing
        return alike and one.is_joinable and other.is_joinable

    def _task(self, together: Sequence[_Ready]) -> Task:
        first = together[0]
        alike = first.alike
        if first.missing:
            self._compile_for(alike)
        pieces = [ready.piece for ready in together]
        return Task(pieces, alike.roles, alike.metrics, self._plan.tokens, alike.source_column, alike.keys)

    def _pieces(self) -> Iterator[_Ready]:
        """Yield every unit of every intact shard, with what is stored of it."""
        intact = (
            place
            for place, (opened, facts) in enumerate(zip(self._dataset.opened, self._shards, strict=True))
            if opened is not None and facts.fault is None
        )
        while window := list(islice(intact, _WINDOW)):
            self._look_up(window)
            alike = {place: self._wanted(place) for place in window}
            stored = self._find(alike)
            for place in window:
                yield from self._of_shard(place, alike[place], stored)

    def _of_shard(self, place: int, alike: _Alike, stored: Mapping[UnitKey, Sequence[Stored]]) -> Iterator[_Ready]:
        opened, known = self._dataset.opened[place], self._known.get(place)
        assert opened is not None  # it is intact
        for number, unit in enumerate(opened.units):
            found = () if known is None else stored.get((known.key, unit.start, unit.stop), ())
            missing = alike.wanted.difference({key for each in found for key in each.places})
            if missing and isinstance(opened, RecordedShard):
                metrics = [metric for key in missing if (metric := alike.keys[key]) is not None]
                opened.refuse({kind for metric in metrics for kind in self._plan.wanted_by.get(metric, ())})
            stretch = None if known is None else known.stretch(number)
            piece = Piece(place, opened, unit, self._source(place)[0], found, stretch)
            yield _Ready(piece, alike, missing, is_whole=len(opened.units) == 1)

    def _source(self, place: int) -> tuple[str | None, str | None]:
        return source_of_rows(self._dataset.shards[place], self._shards[place], self._request.source_from)

    def _wanted(self, place: int) -> _Alike:
        """Return what a shard's columns can give, and its keys; the same for all shards of the same columns."""
        facts, (_, column) = self._shards[place], self._source(place)
        seen = (id(facts.schema), id(facts.roles), column)  # all of them live as long as this
        if seen not in self._shared:
            types = tuple((field.name, field.type) for field in facts.schema or ())
            key = (types, tuple(sorted(facts.roles.items())), column)
            if key not in self._alike:
                metrics = self._plan.of_shard(facts)
                keys = keys_of(metrics, facts.roles, column)
                read = {role: kind for role in facts.roles if (kind := facts.type_of(role)) and is_seen(role, kind)}
                self._alike[key] = _Alike(metrics, keys, frozenset(keys), facts.roles, read, column)
            self._shared[seen] = self._alike[key]
        return self._shared[seen]

    def _look_up(self, window: Sequence[int]) -> None:
        """Take note of what is known of some shards' files; nothing can be stored of those of which nothing is."""
        files: list[_Known] = []
        for place in window:
            opened = self._dataset.opened[place]
            if isinstance(opened, RecordedShard):
                if opened.digest is not None:
                    self._known[place] = _Known(None, None, opened.digest, 0)
                continue
            state, path = getattr(opened, "state", None), getattr(opened, "path", None)
            if self._store is not None and opened is not None and state is not None and path is not None:
                parts = stretches_of(opened, state)
                self._known[place] = _Known(path, state, None, self._dataset.opened_ns, parts)
                files.append(self._known[place])
        with self._trouble():
            if self._store is not None:
                self._digest_of(files, self._store)

    def _digest_of(self, files: Sequence[_Known], store: MetricStore) -> None:
        """Find the digests of files that are unchanged, or may be copies of some that are known.

        Where all are to be verified, none passes for unchanged: those that have the size of a known one are read.
        """
        states = [known.state for known in files if known.state is not None]
        digests = {} if self._request.verify else store.digests(states)
        sizes = store.seen_sizes(
            known.state for known in files if known.state not in digests and known.state is not None
        )
        to_read: list[tuple[_Known, FileState]] = []
        for known in files:
            if known.state is not None and known.path is not None:
                known.digest = digests.get(known.state)
                if known.digest is None and known.state.size in sizes:
                    to_read.append((known, known.state))
        stretches = [
            stretch for known, _ in to_read for number in range(len(known.parts)) if (stretch := known.stretch(number))
        ]
        with closing(threads.run(_content_or_none, stretches, self._request.jobs)) as digested:
            for known, state in to_read:
                whole = [total for total in islice(digested, len(known.parts)) if total is not None]
                if len(whole) == len(known.parts):  # else its fault is told when the unit is read
                    known.digest = digest_of(whole, state)
                    store.remember(state, known.digest, known.seen_ns)

    def _find(self, alike: Mapping[int, _Alike]) -> Mapping[UnitKey, Sequence[Stored]]:
        """Return what is stored of some shards."""
        wanted: dict[UnitKey, AbstractSet[str]] = {}
        for place, each in alike.items():
            opened, known = self._dataset.opened[place], self._known.get(place)
            if opened is not None and known is not None:
                wanted |= {(known.key, unit.start, unit.stop): each.wanted for unit in opened.units}
        with self._trouble():
            if self._store is not None:
                return self._store.find(wanted)
        return {}

    def _compile_for(self, alike: _Alike) -> None:
        """Compile the kernels before the first unit that needs them, in this thread alone."""
        types = alike.types
        seen = tuple(sorted((role, str(kind)) for role, kind in types.items()))
        if types and seen not in self._warm:
            self._warm.add(seen)
            warm(self._plan.metrics, [types], self._request.watch.note)

    def take(self, scanned: Scanned, table: RunTable) -> None:
        """Put the numbers of some pieces into the table, and into the store what is new."""
        if scanned.fault is not None:
            for piece in scanned.pieces:
                self._faults.setdefault(piece.shard, scanned.fault)
                self._known.pop(piece.shard, None)
                table.drop(piece.shard)
            return
        table.append(scanned)
        tokens = self._count(scanned)
        with self._request.timings.scan("store"):
            self._keep(scanned)
        self._request.watch.advance(scanned.rows, tokens)

    def _count(self, scanned: Scanned) -> int:
        """Add up the tokens of each shard; return those of all."""
        lengths = Lengths(self._plan.tokens)
        numbers = next((scanned.frames[key] for key, metric in scanned.task.keys.items() if metric == lengths), None)
        if numbers is None:
            return 0
        seen = np.concatenate(([0], np.cumsum(numbers["length"].to_numpy(), dtype=np.int64)))
        ends = np.cumsum([piece.unit.rows for piece in scanned.pieces])
        for piece, tokens in zip(scanned.pieces, np.diff(seen[ends], prepend=0).tolist(), strict=True):
            self._tokens[piece.shard] = self._tokens.get(piece.shard, 0) + tokens
        return int(seen[-1])

    def _keep(self, scanned: Scanned) -> None:
        """Store what is new of some pieces."""
        settled: list[tuple[str, _Known]] = []
        for piece, digest in zip(scanned.pieces, scanned.digests, strict=True):
            known = self._known.get(piece.shard)
            if known is None:
                continue
            if digest is not None and piece.stretch is not None:
                known.totals[piece.stretch[2]] = digest
            if known.digest is None and known.state is not None and len(known.totals) == len(known.parts):
                settled.append((known.key, known))
                known.digest = digest_of(known.totals.values(), known.state)
        units = [(self._unit_key(piece), piece.unit.rows) for piece in scanned.pieces]
        with self._trouble():
            if self._store is None or not (settled or scanned.fresh):
                return
            with self._store.at_once():
                for provisional, known in settled:
                    if known.digest is not None and known.state is not None:
                        self._store.settle(provisional, known.digest, known.state, known.seen_ns)
                if scanned.fresh and any(unit for unit, _ in units):
                    self._store.add(units, {key: scanned.frames[key] for key in scanned.fresh})

    def _unit_key(self, piece: Piece) -> UnitKey | None:
        known = self._known.get(piece.shard)
        return None if known is None else (known.key, piece.unit.start, piece.unit.stop)

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
