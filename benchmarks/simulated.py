"""Metric tables of any size, as a run would have filled them, with planted copies and planted caps.

Each row's numbers follow from its place alone, by hashing: no row is drawn, so that a table is the same every time and nothing
of it need be remembered. They lie in Parquet segments as those of `dataguard.run.table`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
from data import EOS, VOCABULARY

from dataguard.expectations.context import Context, ShardFacts
from dataguard.expectations.rows_unique import ExpectRowsToBeUnique
from dataguard.expectations.truncation import ExpectTruncationToBeConsistentAcrossSources
from dataguard.run.plan import Plan, make_plan
from dataguard.suite.model import Configured, Suite
from dataguard.vocabulary.model import Vocabulary

SOURCES = ("web", "code", "books", "wiki", "math")
CAP, OTHER_CAP = 2048, 1024
FAULTS = {"code": "different_cap", "wiki": "different_eos_policy"}
"""Every source is cut at CAP and loses its eos there, but code is cut at OTHER_CAP, and wiki keeps the eos."""
CUT = 0.4
"""Share of the rows that are cut."""
EMPTY = 1000
"""One row in so many holds nothing: it is another expectation's, and never a copy."""
SHARD_ROWS = 1_000_000
SEGMENT_ROWS = 1_000_000

Words = npt.NDArray[np.uint64]
Kind = Literal["few", "half", "most"]
"""How many rows are copies: 3 in 100, or 50, of rows anywhere before them; or 19 in 20, half of them of a single row."""
SHARES = {"few": 0.03, "half": 0.5}
DISTINCT = 20


@dataclass(frozen=True)
class Simulated:
    """A table to make."""

    kind: Kind
    rows: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"judge-{self.kind}-{self.rows}"


def suite() -> Suite:
    """Return the two expectations that judge across rows."""
    asked = ExpectRowsToBeUnique(), ExpectTruncationToBeConsistentAcrossSources()
    return Suite("across", tuple(Configured(each, each.default_severity) for each in asked))


def context_of(table: Simulated) -> Context:
    """Return what a run would know of the data set."""
    schema = pa.schema([("input_ids", pa.list_(pa.int32()))])
    counts = [min(SHARD_ROWS, table.rows - first) for first in range(0, table.rows, SHARD_ROWS)]
    shards = [
        ShardFacts(
            f"shard-{place:05d}.arrow", layout="arrow", schema=schema, roles={"input_ids": "input_ids"}, rows=rows
        )
        for place, rows in enumerate(counts)
    ]
    return Context(Vocabulary(size=VOCABULARY, eos=EOS), shards, SOURCES)


def plan_of(table: Simulated) -> Plan:
    """Return the metrics that the table holds."""
    return make_plan(suite(), context_of(table))


def build(table: Simulated, folder: Path) -> Path:
    """Make a table, unless it is there; return its folder, whose planted.json says what judging must find."""
    place = folder / table.name
    if (place / "planted.json").exists():
        return place
    place.mkdir(parents=True, exist_ok=True)
    schema = {f"{each.key}.{name}": kind for each in plan_of(table).metrics for name, kind in each.gives.items()}
    seen = np.zeros(table.rows, np.bool_)
    copies = 0
    by_source = np.zeros(len(SOURCES), np.int64)
    for number, first in enumerate(range(0, table.rows, SEGMENT_ROWS)):
        rows = np.arange(first, min(first + SEGMENT_ROWS, table.rows), dtype=np.uint64)
        columns, content, source = _columns(rows, table)
        full = np.flatnonzero(rows % np.uint64(EMPTY) != 0)
        _, earliest = np.unique(content[full], return_index=True)
        new = np.zeros(len(full), np.bool_)
        new[earliest] = ~seen[content[full[earliest]]]
        seen[content[full]] = True
        copies += int((~new).sum())
        by_source += np.bincount(source[full[~new]], minlength=len(SOURCES))
        numbers = [pl.Series(name, columns[name.rsplit(".", 1)[1]]).cast(kind) for name, kind in schema.items()]
        frame = pl.DataFrame(
            [
                pl.Series("shard", rows // np.uint64(SHARD_ROWS)).cast(pl.UInt32),
                pl.Series("row", rows % np.uint64(SHARD_ROWS)).cast(pl.Int64),
                pl.Series("source", source).cast(pl.Int32),
                *numbers,
            ]
        )
        frame.write_parquet(place / f"segment-{number:05d}.parquet", compression="lz4", statistics=False)
    counted = {name: int(count) for name, count in zip(SOURCES, by_source, strict=True) if count}
    planted = {"copies": copies, "by_source": counted, "faults": FAULTS}
    (place / "planted.json").write_text(json.dumps(planted), encoding="utf-8")
    return place


def first_of(row: int, table: Simulated) -> int:
    """Return the place of the first row that a row is a copy of, itself where it is none (few and half alone)."""
    return int(_content(np.array([row], np.uint64), table)[0])


def _columns(rows: Words, table: Simulated) -> tuple[dict[str, Any], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the numbers of rows, by name; the number of the content that each holds; and the place of its source."""
    content = _content(rows, table)
    source = (_hash(rows, 5) % np.uint64(len(SOURCES))).astype(np.int64)
    cap = np.where(source == SOURCES.index("code"), OTHER_CAP, CAP)
    cut = _share(rows, 6) < CUT
    length = np.where(cut, cap, 1 + (_hash(rows, 7) % (cap - 1).astype(np.uint64)).astype(np.int64))
    empty = rows % np.uint64(EMPTY) == 0
    keeps = ~cut | (source == SOURCES.index("wiki"))
    return (
        {
            "length": length,
            "attended": length,
            "nulls": np.zeros(len(rows), np.uint8),
            "paired": np.ones(len(rows), np.bool_),
            "content": np.where(empty, 0, length),
            "first": np.full(len(rows), 11),
            "last": np.where(keeps, EOS, 12),
            "blank": empty,
            "low": _hash(content.astype(np.uint64), 1),
            "high": _hash(content.astype(np.uint64), 2),
        },
        content,
        source,
    )


def _content(rows: Words, table: Simulated) -> npt.NDArray[np.int64]:
    """Return the number of the content that each row holds: rows of one number are copies of each other."""
    if table.kind == "most":
        some = _hash(rows, 3) % np.uint64(max(1, table.rows // DISTINCT))
        return np.where(_share(rows, 4) < 0.5, 0, some).astype(np.int64)
    # An odd row may copy an even one before it, which is never a copy itself.
    earlier = 2 * (_hash(rows, 3) % (rows // np.uint64(2) + np.uint64(1)))
    earlier -= 2 * ((earlier % np.uint64(EMPTY) == 0) & (earlier > 0)).astype(np.uint64)
    copied = (rows % np.uint64(2) == 1) & (_share(rows, 4) < 2 * SHARES[table.kind]) & (earlier > 0)
    return np.where(copied, earlier, rows).astype(np.int64)


def _share(rows: Words, key: int) -> npt.NDArray[np.float64]:
    return (_hash(rows, key) >> np.uint64(11)).astype(np.float64) / (1 << 53)


def _hash(rows: Words, key: int) -> Words:
    """Return 64 bits for each number, different ones for different numbers (splitmix64)."""
    state = rows + np.uint64((key * 0x9E3779B97F4A7C15) % 2**64)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
