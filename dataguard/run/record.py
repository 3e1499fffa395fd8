"""shards.parquet: what a run knew of its shards, so that they can be judged again from stored numbers alone."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import polars as pl
import pyarrow as pa

from dataguard.errors import DataError, ShardFault, UsageError
from dataguard.expectations.context import ShardFacts
from dataguard.run.dataset import Dataset
from dataguard.shards.model import OpenShard, Shard, Unit

SCHEMA = {
    "shard": pl.String,
    "path": pl.String,
    "digest": pl.String,
    "rows": pl.Int64,
    "tokens": pl.Int64,
    "layout": pl.String,
    "reason": pl.String,
    "detail": pl.String,
    "folder": pl.String,
    "split": pl.String,
    "schema": pl.Binary,
    "units": pl.String,
}


def write_record(place: Path, dataset: Dataset, shards: Sequence[ShardFacts]) -> None:
    """Write a line for each shard; `digest` is null where none was taken (no store, or a fault).

    Raises:
        OSError: The file system refuses.
    """
    schemas = _Schemas()
    lines = zip(dataset.shards, dataset.opened, shards, strict=True)
    rows = [_line(shard, opened, facts, schemas) for shard, opened, facts in lines]
    pl.DataFrame(rows, schema=SCHEMA).write_parquet(place)


class _Schemas:
    """Schemas as bytes, each spelled once: most shards share one."""

    def __init__(self) -> None:
        self._spelled: dict[int, bytes] = {}

    def spelled(self, schema: pa.Schema) -> bytes:
        """Return a schema, which must live as long as this, as bytes."""
        if id(schema) not in self._spelled:
            self._spelled[id(schema)] = schema.serialize().to_pybytes()
        return self._spelled[id(schema)]


def _line(shard: Shard, opened: OpenShard | None, facts: ShardFacts, schemas: _Schemas) -> dict[str, Any]:
    reason, detail = facts.fault or (None, None)
    schema = None if opened is None else schemas.spelled(opened.schema)
    units = [] if opened is None else [vars(unit) for unit in opened.units]
    return {
        "shard": shard.name,
        "path": None if shard.path is None else os.fsencode(shard.path.absolute()).decode("utf-8", "replace"),
        "digest": facts.digest,
        "rows": None if opened is None else opened.rows,
        "tokens": facts.tokens,
        "layout": facts.layout,
        "reason": reason,
        "detail": detail,
        "folder": shard.folder,
        "split": shard.split,
        "schema": schema,
        "units": json.dumps(units),
    }


@dataclass
class RecordedShard:
    """A shard that is known from a record: its rows cannot be read, its numbers may be stored (see `OpenShard`)."""

    name: str
    digest: str | None
    layout: str
    schema: pa.Schema
    rows: int
    units: Sequence[Unit]

    def read(self, unit: Unit, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Refuse: whoever asks for rows asks for numbers that no run has stored.

        Raises:
            UsageError: Always.
        """
        self.refuse(())

    def refuse(self, types: Collection[str]) -> NoReturn:
        """Say that numbers are missing.

        Args:
            types: Of the expectations that ask for them.
        """
        asking = ", ".join(sorted(types)) or "the suite"
        why = f"no run has stored, with these settings, the numbers that are asked for by {asking}"
        if self.digest is None:
            why = "the run kept no numbers of it (--no-store, or data in memory)"
        fix = "run dataguard validate on the data again, with this suite"
        raise UsageError("this cannot be judged without a scan", where=self.name, why=why, fix=fix)


def read_record(place: Path) -> Dataset:
    """Return the shards of an earlier run.

    Raises:
        DataError: There is no such record, or it cannot be read.
    """
    fix = "name the output folder of a run of dataguard validate"
    if not place.is_file():
        raise DataError("there is no earlier run to judge", where=str(place.parent), why=f"no {place.name}", fix=fix)
    try:
        table = pl.read_parquet(place)
        lines = table.select(pl.col(name).cast(kind) for name, kind in SCHEMA.items()).rows(named=True)
        opened = [None if line["schema"] is None else _recorded(line) for line in lines]
    except (pl.exceptions.PolarsError, pa.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(
            "the record of an earlier run cannot be read", where=str(place), why=str(error), fix=fix
        ) from error
    shards = [
        Shard(line["shard"], None if line["path"] is None else Path(line["path"]), line["folder"], line["split"])
        for line in lines
    ]
    faults = {
        number: ShardFault(line["reason"], line["detail"] or "")
        for number, line in enumerate(lines)
        if line["reason"] is not None
    }
    return Dataset(tuple(shards), tuple(opened), faults)


def _recorded(line: dict[str, Any]) -> RecordedShard:
    return RecordedShard(
        name=line["shard"],
        digest=line["digest"],
        layout=line["layout"],
        schema=pa.ipc.read_schema(pa.py_buffer(line["schema"])),
        rows=line["rows"],
        units=[Unit(**unit) for unit in json.loads(line["units"])],
    )
