"""The first rows of each shard: judged like any others, and the report says that they are not all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dataguard
from dataguard.cli import run

SUITE = {
    "name": "test",
    "expectations": [
        {"type": "expect_token_ids_to_be_in_vocabulary", "kwargs": {"limit": 10}},
        {"type": "expect_row_count_to_be_between"},
    ],
}


def shard(place: Path, rows: list[list[int]], layout: str = "stream", batch: int = 2) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"input_ids": pa.array(rows, pa.list_(pa.int32()))})
    if layout == "parquet":
        pq.write_table(table, place, row_group_size=batch)
    else:
        make = pa.ipc.new_stream if layout == "stream" else pa.ipc.new_file
        with make(str(place), table.schema) as writer:
            writer.write_table(table, max_chunksize=batch)


def judged(data: Any, **options: Any) -> Any:
    return dataguard.validate(data, suite=SUITE, store=None, **options)


@pytest.mark.parametrize("layout", ["stream", "file", "parquet"])
@pytest.mark.parametrize(("head", "found"), [(1, []), (2, [1]), (3, [1]), (4, [1, 3]), (9, [1, 3, 4])])
def test_finds_what_stands_in_the_first_rows_and_no_more(
    tmp_path: Path, layout: str, head: int, found: list[int]
) -> None:
    shard(tmp_path / "a", [[1], [99], [2], [99], [99]], layout)
    result = judged(tmp_path, head=head)
    frame = result.unexpected("expect_token_ids_to_be_in_vocabulary")
    assert frame["row"].to_list() == found
    assert result.meta["rows"] == min(head, 5)
    assert result.meta["partial"] is (head < 5)


def test_counts_each_shard_by_itself(tmp_path: Path) -> None:
    shard(tmp_path / "a", [[1]] * 5)
    shard(tmp_path / "b", [[1]])
    meta = judged(tmp_path, head=2).meta
    assert (meta["rows"], meta["head"], meta["rows_not_read"]) == (3, 2, 3)
    assert meta["accounting"]["rows_in"] == 3


def test_a_table_has_a_head_too() -> None:
    assert judged(pa.table({"input_ids": [[1], [2], [99]]}), head=2).success


def test_what_was_judged_whole_is_not_partial(tmp_path: Path) -> None:
    shard(tmp_path / "a", [[1]] * 5)
    assert judged(tmp_path).meta["partial"] is False
    assert "head" not in judged(tmp_path).meta


def test_a_manifest_that_counts_all_rows_is_not_held_against_a_head(fixtures: Path) -> None:
    suite = {"name": "s", "expectations": [{"type": "expect_shards_to_match_manifest"}]}
    assert dataguard.validate(fixtures / "shards/hf_pretrain_gpt2", suite=suite, head=1, store=None).success


def test_nothing_of_a_head_is_taken_for_the_whole_shard_later(tmp_path: Path) -> None:
    shard(tmp_path / "data/a", [[1], [99]])
    for head, success in ((1, True), (None, False), (1, True)):
        store = tmp_path / "store"
        assert dataguard.validate(tmp_path / "data", suite=SUITE, head=head, store=store).success is success


def test_the_terminal_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shard(tmp_path / "data/a.arrow", [[1], [2], [3]])
    command = ["validate", str(tmp_path / "data"), "--vocab-size", "9", "--out", str(tmp_path / "out"), "--head", "1"]
    assert run(command) == 0
    told = capsys.readouterr().out
    assert "part  only the first 1 row of each shard (--head); 2 behind them not judged" in told
    assert "1 row" in told.splitlines()[0]


def test_no_clean_copy_of_a_head(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shard(tmp_path / "data/a.arrow", [[1], [2]])
    command = ["validate", str(tmp_path / "data"), "--out", str(tmp_path / "out"), "--head", "1", "--clean"]
    assert run(command) == 2
    assert "leave out --head, or --clean" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_quarantine_stops_at_its_limit_and_the_list_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shard(tmp_path / "data/a.arrow", [[99] * 100] * 20, batch=3)
    command = ["validate", str(tmp_path / "data"), "--vocab-size", "9", "--out", str(tmp_path / "out")]
    assert run([*command, "--quarantine-limit", "2KB"]) == 1
    told = capsys.readouterr().out
    assert "20 rejected" in told
    assert "of 20 rows, up to --quarantine-limit (1.95 KiB)" in " ".join(told.split())
    assert pq.read_table(tmp_path / "out/rejected.parquet").num_rows == 20
    (file,) = (tmp_path / "out/quarantine").glob("*.arrow")
    assert 0 < pa.ipc.open_stream(file.read_bytes()).read_all().num_rows < 20
    assert run([*command, "--quarantine-limit", "0"]) == 1
    assert not (tmp_path / "out/quarantine").exists()
