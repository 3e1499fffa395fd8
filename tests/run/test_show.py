"""Which rows are shown, with what is wrong with them; and what is said where there is no such row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dataguard
from dataguard.errors import DataError, OutputError, UsageError
from dataguard.run.show import show
from tests.builders import byte_tokenizer, ids_of

SUITE = {
    "name": "test",
    "expectations": [
        {"type": "expect_token_ids_to_be_in_vocabulary", "kwargs": {"limit": 1_000}},
        {"type": "expect_rows_not_to_be_null"},
        {"type": "expect_shards_to_be_intact"},
    ],
}


def shard(place: Path, *rows: list[int] | None, **columns: Any) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"input_ids": pa.array(rows, pa.list_(pa.int32())), **columns}), place, row_group_size=2)
    return place


@pytest.fixture
def data(tmp_path: Path) -> Path:
    shard(tmp_path / "data/web/a.parquet", ids_of("good"), [5, 9_999, -1], [5, 8_888], ids_of("fine"))
    shard(tmp_path / "data/code/a.parquet", None, ids_of("x"))
    shard(tmp_path / "data/code/b.parquet", [7_777])
    return tmp_path / "data"


def found(data: Any, **options: Any) -> list[tuple[str, int]]:
    return [(each.shard, each.row) for each in show(data, suite=SUITE, **options)]


def test_a_row_comes_with_its_text_and_its_faults(data: Path) -> None:
    (shown,) = show(data, rows=["web/a.parquet:1"], suite=SUITE, tokenizer=byte_tokenizer())
    (tokens,) = shown.tokens
    assert (shown.shard, shown.row, shown.source) == ("web/a.parquet", 1, "web")
    assert tokens.ids == [5, 9_999, -1]
    assert tokens.texts == [b"\x01", b"", b""]
    assert tokens.guilty == {1, 2}
    assert [(mark.reason, mark.position, mark.value) for mark in shown.marks] == [("negative", 2, -1)]


def test_a_good_row_has_no_faults(data: Path) -> None:
    (shown,) = show(data, rows=["web/a.parquet:3"], suite=SUITE, tokenizer=byte_tokenizer())
    assert shown.marks == ()
    assert shown.tokens[0].guilty == frozenset()
    assert b"".join(shown.tokens[0].texts or ()) == b"fine"


def test_companions_and_other_columns_come_along(tmp_path: Path) -> None:
    columns = {
        "labels": pa.array([[-100, 2]]),
        "attention_mask": pa.array([[True, False]]),
        "note": ["n"],
        "source": ["s"],
    }
    path = shard(tmp_path / "a.parquet", [1, 2], **columns)
    (shown,) = show(path, rows=["0"], suite=SUITE)
    assert shown.tokens[0].beside == {"attention_mask": [True, False], "labels": [-100, 2]}
    assert shown.others == {"note": "n", "source": "s"}
    assert shown.source == "s"


def test_a_mapped_column_is_shown_under_its_own_name(tmp_path: Path) -> None:
    pq.write_table(pa.table({"left": [[1]], "right": [[2]]}), tmp_path / "a.parquet")
    (shown,) = show(tmp_path, rows=["a.parquet:0"], suite=SUITE, columns={"input_ids": "right"})
    assert [(each.name, each.ids) for each in shown.tokens] == [("right", [2])]


def test_several_rows_come_as_asked(data: Path) -> None:
    assert found(data, rows=["web/a.parquet:3", "b.parquet:0"]) == [("web/a.parquet", 3), ("code/b.parquet", 0)]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("a.parquet:0", "several shards are called a.parquet\n.*\n.*give one of code/a.parquet, web/a.parquet"),
        ("web/c.parquet:0", "there is no shard web/c.parquet\n.*\n.*did you mean web/a.parquet"),
        ("web/a.parquet:4", "there is no row 4\n.*where web/a.parquet\n.*its rows are 0 to 3"),
        ("web/a.parquet:-1", "names no row"),
        ("web/a.parquet", "names no row"),
        ("3", "names no row"),
        ("web/a.parquet:1_0", "names no row"),
    ],
)
def test_a_row_that_is_not_there_is_told_with_what_is(data: Path, row: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        found(data, rows=[row])


def test_a_shard_that_is_not_intact_says_why(data: Path) -> None:
    path = data / "web/a.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"not intact\n.*where web/a.parquet\n.*why   truncated"):
        found(data, rows=["web/a.parquet:0"])


def test_the_first_unexpected_rows_are_found(data: Path) -> None:
    kind = "expect_token_ids_to_be_in_vocabulary"
    assert found(data, unexpected=kind) == [("code/b.parquet", 0), ("web/a.parquet", 1), ("web/a.parquet", 2)]
    assert found(data, unexpected=kind, limit=1) == [("code/b.parquet", 0)]
    (shown,) = show(data, unexpected=kind, limit=1, suite=SUITE)
    assert [(mark.type, mark.position, mark.value) for mark in shown.marks] == [(kind, 0, 7_777)]


def test_an_expectation_that_the_suite_lacks_is_judged_by_its_defaults(data: Path) -> None:
    shard(data / "c.parquet", [1] * 100)
    assert found(data, unexpected="expect_rows_not_to_be_periodic") == [("c.parquet", 0)]


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("expect_rows_not_to_be_nul", "did you mean expect_rows_not_to_be_null"),
        ("expect_shards_to_be_intact", "it judges by the shard"),
        ("expect_symbol_fraction_to_be_below", "cannot be judged\n.*\n.*what text the ids stand for"),
        ("expect_metric_to_be_between", "arguments that must be given"),
    ],
)
def test_what_cannot_be_found_is_told(data: Path, kind: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        found(data, unexpected=kind)


def test_rows_of_an_earlier_run_need_no_scan(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataguard.validate(data, suite=SUITE, out=tmp_path / "out", store=None)
    assert found(data, earlier=tmp_path / "out", limit=2) == [("code/a.parquet", 0), ("code/b.parquet", 0)]
    kind = "expect_token_ids_to_be_in_vocabulary"
    (shown, *_) = show(data, earlier=tmp_path / "out", unexpected=kind, suite=SUITE)
    assert (shown.shard, [(mark.type, mark.position) for mark in shown.marks]) == ("code/b.parquet", [(kind, 0)])


def test_an_earlier_run_over_other_data_is_refused(data: Path, tmp_path: Path) -> None:
    dataguard.validate(data, suite=SUITE, out=tmp_path / "out", store=None)
    with pytest.raises(DataError, match="over other data"):
        found(data / "web", earlier=tmp_path / "out")
    (tmp_path / "out/rejected.parquet").write_bytes(b"no Parquet")
    with pytest.raises(DataError, match="cannot be read"):
        found(data, earlier=tmp_path / "out")
    with pytest.raises(DataError, match=r"no rejected\.parquet"):
        found(data, earlier=tmp_path)


def test_a_draw_is_the_same_for_the_same_seed(data: Path) -> None:
    draws = [found(data, random=3, seed=seed) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]
    everything = found(data, random=100)
    assert len(everything) == len(set(everything)) == 7
    assert len(found(data)) == 3


def test_every_row_is_drawn_as_often_as_any_other(data: Path) -> None:
    drawn = [row for seed in range(60) for row in found(data, random=1, seed=seed)]
    assert len(set(drawn)) == 7


def test_two_ways_to_choose_are_refused(data: Path) -> None:
    with pytest.raises(UsageError, match="too many ways"):
        found(data, rows=["b.parquet:0"], random=1)


def test_rows_in_memory_are_shown_too() -> None:
    assert found(pl.DataFrame({"input_ids": [[1], [9_999]]}), unexpected=SUITE["expectations"][0]["type"]) == [
        ("table", 1)
    ]


def test_what_is_written_leaves_the_rest_of_the_folder_alone(data: Path, tmp_path: Path) -> None:
    dataguard.validate(data, suite=SUITE, out=tmp_path / "out", store=None, clean=True)
    before = {path.name for path in (tmp_path / "out").iterdir()}
    shown = show(data, rows=["b.parquet:0"], suite=SUITE, out=tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == before | {"rows.json"}
    assert json.loads((tmp_path / "out/rows.json").read_text()) == [each.to_dict() for each in shown]
    with pytest.raises(OutputError, match="is DATA itself"):
        show(data, rows=["b.parquet:0"], suite=SUITE, out=data)
