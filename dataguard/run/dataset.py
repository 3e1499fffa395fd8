"""Open the shards of a data set, and say which column plays which role in each."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dataguard.engines import threads
from dataguard.errors import DataError, ShardFault
from dataguard.expectations.context import ShardFacts
from dataguard.run.request import SourceFrom
from dataguard.shards.discovery import Discovery, discover
from dataguard.shards.hf import is_indices, tokenizer_of, tokenizer_of_folder
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
        shared = _Shared(mapped)
        return [self._facts(place, shared) for place in range(len(self.shards))]

    def _facts(self, place: int, shared: _Shared) -> ShardFacts:
        shard, opened, fault = self.shards[place], self.opened[place], self.faults.get(place)
        told = None if fault is None else (fault.reason, fault.detail)
        if opened is None:
            return ShardFacts(shard.name, fault=told)
        schema, roles = shared.of(opened.schema)
        return ShardFacts(
            shard.name,
            fault=told,
            layout=opened.layout,
            schema=schema,
            roles=roles,
            rows=opened.rows,
            misnamed=misnamed(shard, opened.layout),
            tokenizer=shared.tokenizer(schema, shard.path),
        )


class _Shared:
    """Schemas and roles that shards have in common, as one object each: what is asked of ten thousand is asked of one."""

    def __init__(self, mapped: Mapping[str, str]) -> None:
        self._mapped = mapped
        self._by_object: dict[int, tuple[pa.Schema, dict[str, str]]] = {}
        self._by_content: dict[bytes, tuple[pa.Schema, dict[str, str]]] = {}
        self._tokenizers: dict[Path, str | None] = {}

    def of(self, schema: pa.Schema) -> tuple[pa.Schema, dict[str, str]]:
        """Return the first schema that says the same, metadata included, and which column plays each role.

        Args:
            schema: It must live as long as this.
        """
        if id(schema) not in self._by_object:
            content = schema.serialize().to_pybytes()
            if content not in self._by_content:
                self._by_content[content] = schema, resolve(schema, self._mapped)
            self._by_object[id(schema)] = self._by_content[content]
        return self._by_object[id(schema)]

    def tokenizer(self, schema: pa.Schema, path: Path | None) -> str | None:
        """Return the fingerprint of the tokenizer that a shard of this schema names, or the folder that it lies in."""
        told = tokenizer_of(schema, None)
        if told is not None or path is None:
            return told
        if path.parent not in self._tokenizers:
            self._tokenizers[path.parent] = tokenizer_of_folder(path.parent)
        return self._tokenizers[path.parent]


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
