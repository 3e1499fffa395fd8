"""The metric table of a run: in order, spilled when it is large, and without shards that turn out not to be intact."""

from __future__ import annotations

import polars as pl
import pytest

from dataguard.metrics.lengths import Lengths
from dataguard.run import table as module
from dataguard.run.scan import Piece, Scanned, Task
from dataguard.run.table import RunTable
from dataguard.shards.memory import shards_of
from dataguard.shards.model import Unit
from dataguard.shards.opening import open_shard
from tests.builders import table_of

LENGTHS = Lengths("input_ids")


def scanned(shard: int, rows: list[int], source: str | None = None) -> Scanned:
    (memory,) = shards_of(table_of(input_ids=[[1]])) or []
    unit = Unit(rows[0], len(rows), 0, 1, 8)
    piece = Piece(shard, open_shard(memory), unit, source)
    task = Task([piece], {"input_ids": "input_ids"}, [LENGTHS], "input_ids", None, {"k": LENGTHS})
    lengths, nulls = pl.Series(rows, dtype=pl.Int32), pl.Series([0] * len(rows), dtype=pl.UInt8)
    return Scanned(task, [piece], {"k": {"length": lengths, "nulls": nulls}})


def rows_of(table: RunTable) -> list[tuple[int, int]]:
    return list(table.frame().select("shard", "row").collect().iter_rows())


@pytest.mark.parametrize("segment_bytes", [0, 1 << 20])
def test_rows_stand_in_the_order_of_the_units_spilled_or_not(
    segment_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SEGMENT_BYTES", segment_bytes)
    table = RunTable([LENGTHS])
    for shard, rows in ((0, [0, 1]), (0, [2]), (1, [0])):
        table.append(scanned(shard, rows))
    assert rows_of(table) == [(0, 0), (0, 1), (0, 2), (1, 0)]


@pytest.mark.parametrize("segment_bytes", [0, 1 << 20])
def test_a_shard_that_is_dropped_leaves_no_row(segment_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SEGMENT_BYTES", segment_bytes)
    table = RunTable([LENGTHS])
    table.append(scanned(0, [0]))
    table.append(scanned(1, [0]))
    table.drop(0)
    assert rows_of(table) == [(1, 0)]


def test_numbers_that_a_shard_cannot_give_are_null() -> None:
    table = RunTable([LENGTHS, Lengths("labels")])
    table.append(scanned(0, [0]))
    assert table.frame().select(Lengths("labels")["length"]).collect().item() is None


def test_sources_have_one_place_each_over_all_units() -> None:
    table = RunTable([LENGTHS])
    table.append(scanned(0, [0], "web"))
    table.append(scanned(1, [0], "code"))
    table.append(scanned(2, [0], "web"))
    assert table.sources == ("web", "code")
    assert table.frame().select("source").collect()["source"].to_list() == [0, 1, 0]


def test_too_many_sources_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SOURCES", 2)
    table = RunTable([LENGTHS])
    for number in range(4):
        table.append(scanned(number, [0], f"s{number}"))
    assert table.sources == ()
    assert table.frame().select("source").collect()["source"].null_count() == 4
    assert table.notes() == ["more than 2 sources: the rows are taken to have none"]


def test_an_empty_store_is_an_empty_table() -> None:
    assert rows_of(RunTable([LENGTHS])) == []
