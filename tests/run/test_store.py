"""The metric table of a run: in order, spilled when it is large, and without shards that turn out not to be intact."""

from __future__ import annotations

import polars as pl
import pytest

from dataguard.metrics.lengths import Lengths
from dataguard.run import store as module
from dataguard.run.scan import Scanned, Task
from dataguard.run.store import RunStore
from dataguard.shards.memory import shards_of
from dataguard.shards.model import Unit
from dataguard.shards.opening import open_shard
from tests.builders import table_of

LENGTHS = Lengths("input_ids")


def scanned(shard: int, rows: list[int], sources: list[str] | None = None) -> Scanned:
    (table,) = shards_of(table_of(input_ids=[[1]])) or []
    task = Task(shard, open_shard(table), Unit(0, len(rows), 0, 1, 8), {}, [], "input_ids", None, None)
    frame = pl.DataFrame(
        {
            "row": pl.Series(rows, dtype=pl.Int64),
            "source": pl.Series([0 if sources else None] * len(rows), dtype=pl.Int32),
            f"{LENGTHS.key}.length": pl.Series(rows, dtype=pl.Int32),
            f"{LENGTHS.key}.nulls": pl.Series([0] * len(rows), dtype=pl.UInt8),
        }
    )
    return Scanned(task, frame, sources or [], len(rows))


def rows_of(store: RunStore) -> list[tuple[int, int]]:
    return list(store.frame().select("shard", "row").collect().iter_rows())


@pytest.mark.parametrize("segment_bytes", [0, 1 << 20])
def test_rows_stand_in_the_order_of_the_units_spilled_or_not(
    segment_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SEGMENT_BYTES", segment_bytes)
    store = RunStore([LENGTHS])
    for shard, rows in ((0, [0, 1]), (0, [2]), (1, [0])):
        store.append(scanned(shard, rows))
    assert rows_of(store) == [(0, 0), (0, 1), (0, 2), (1, 0)]


@pytest.mark.parametrize("segment_bytes", [0, 1 << 20])
def test_a_shard_that_is_dropped_leaves_no_row(segment_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SEGMENT_BYTES", segment_bytes)
    store = RunStore([LENGTHS])
    store.append(scanned(0, [0]))
    store.append(scanned(1, [0]))
    store.drop(0)
    assert rows_of(store) == [(1, 0)]


def test_numbers_that_a_shard_cannot_give_are_null() -> None:
    store = RunStore([LENGTHS, Lengths("labels")])
    store.append(scanned(0, [0]))
    assert store.frame().select(Lengths("labels")["length"]).collect().item() is None


def test_sources_have_one_place_each_over_all_units() -> None:
    store = RunStore([LENGTHS])
    store.append(scanned(0, [0], ["web"]))
    store.append(scanned(1, [0], ["code"]))
    store.append(scanned(2, [0], ["web"]))
    assert store.sources == ("web", "code")
    assert store.frame().select("source").collect()["source"].to_list() == [0, 1, 0]


def test_too_many_sources_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SOURCES", 2)
    store = RunStore([LENGTHS])
    for number in range(4):
        store.append(scanned(number, [0], [f"s{number}"]))
    assert store.sources == ()
    assert store.frame().select("source").collect()["source"].null_count() == 4
    assert store.notes() == ["more than 2 sources: the rows are taken to have none"]


def test_an_empty_store_is_an_empty_table() -> None:
    assert rows_of(RunStore([LENGTHS])) == []
