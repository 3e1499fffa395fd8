"""Open the shards of a data set, and say which column plays which role in each."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dataguard.engines import threads
from dataguard.errors import DataError, ShardFault
from dataguard.expectations.context import ShardFacts
from dataguard.run.request import SourceFrom
from dataguard.shards.discovery import Discovery, discover
from dataguard.shards.hf import is_indices
from dataguard.shards.manifest import Manifest
from dataguard.shards.memory import shards_of
from dataguard.shards.model import OpenShard, Shard
from dataguard.shards.opening import misnamed, open_shard
from dataguard.shards.roles import resolve

NO_ROWS = "it holds the numbers of rows, as datasets caches a selection"


@dataclass(frozen=True)
class Dataset:
    """The shards of a data set, opened.

    Args:
        shards: In the order of DATA, each folder's by name.
        opened: Each of them, None where it is not intact.
        faults: The fault of each that is not.
        ignored: Files that are no shards, with the reason.
        notes: What discovery noticed.
        opened_ns: When the first of them was opened, in nanoseconds since the epoch.
        manifests: What the files beside the shards say of them.
    """

    shards: tuple[Shard, ...]
    opened: tuple[OpenShard | None, ...]
    faults: Mapping[int, ShardFault]
    ignored: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    opened_ns: int = 0
    manifests: tuple[Manifest, ...] = ()

    def facts(self, mapped: Mapping[str, str]) -> list[ShardFacts]:
        """Return what is known of each shard before it is scanned.

        Args:
            mapped: {role: column} of the options and the suite.
        """
        return [self._facts(place, mapped) for place in range(len(self.shards))]

    def _facts(self, place: int, mapped: Mapping[str, str]) -> ShardFacts:
        shard, opened, fault = self.shards[place], self.opened[place], self.faults.get(place)
        if opened is None:
            return ShardFacts(shard.name, fault=None if fault is None else (fault.reason, fault.detail))
        facts = ShardFacts(
            shard.name,
            layout=opened.layout,
            schema=opened.schema,
            roles=resolve(opened.schema, mapped),
            rows=opened.rows,
            misnamed=misnamed(shard, opened.layout),
        )
        return facts if fault is None else replace(facts, fault=(fault.reason, fault.detail))


def is_paths(data: Any) -> bool:
    """Whether DATA is given as one path or several."""
    if isinstance(data, (str, Path)):
        return True
    return isinstance(data, Sequence) and bool(data) and all(isinstance(each, (str, Path)) for each in data)


def paths_of(data: Any) -> list[Path]:
    """Return DATA as paths; none where it is in memory."""
    if not is_paths(data):
        return []
    return [Path(each) for each in ([data] if isinstance(data, (str, Path)) else data)]


def open_dataset(data: Any, allow: Iterable[str], jobs: int) -> Dataset:
    """Find the shards of DATA and prove their outer structure.

    Args:
        data: A path, several, or a table (`shards.memory`).
        allow: Reasons of `expect_shards_to_be_intact` to tolerate.
        jobs: Shards opened at once.

    Raises:
        DataError: There is nothing to judge.
    """
    if is_paths(data):
        found = discover(paths_of(data))
    else:
        tables = shards_of(data)
        if tables is None:
            why = f"a {type(data).__module__}.{type(data).__qualname__} is neither"
            raise DataError("DATA must be a path, several paths or a table", why=why, fix="give a folder of shards")
        found = Discovery(tuple(tables))
    tolerated = frozenset(allow)

    def opening(shard: Shard) -> OpenShard | ShardFault:
        try:
            return open_shard(shard, tolerated)
        except ShardFault as fault:
            return fault

    opened_ns = time.time_ns()
    outcomes = list(zip(found.shards, threads.run(opening, found.shards, jobs), strict=True))
    left_out = [(shard.name, NO_ROWS) for shard, each in outcomes if _is_no_shard(shard, each)]
    if len(left_out) == len(outcomes):
        left_out = []  # then the message says which columns there are
    kept = [each for each in outcomes if not left_out or not _is_no_shard(*each)]
    return Dataset(
        shards=tuple(shard for shard, _ in kept),
        opened=tuple(None if isinstance(each, ShardFault) else each for _, each in kept),
        faults={place: each for place, (_, each) in enumerate(kept) if isinstance(each, ShardFault)},
        ignored=(*found.ignored, *left_out),
        notes=found.notes,
        opened_ns=opened_ns,
        manifests=found.manifests,
    )


def _is_no_shard(shard: Shard, opened: OpenShard | ShardFault) -> bool:
    return not shard.is_named and not isinstance(opened, ShardFault) and is_indices(opened.schema)


def source_of_rows(shard: Shard, facts: ShardFacts, source_from: SourceFrom | None) -> tuple[str | None, str | None]:
    """Return where the source of a shard's rows comes from: (its name for all of them, the column that says it)."""
    if source_from not in {"path", "none"} and "source" in facts.roles:
        return None, facts.roles["source"]
    if source_from in {"column", "none"}:
        return None, None
    return shard.folder or shard.split, None
