"""`dataguard show`: where its output goes, and what it ends with."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataguard.cli import run
from tests.builders import byte_tokenizer, ids_of


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    rows = [ids_of("hello \x1b[2J"), [5, 9_999]]
    pq.write_table(pa.table({"input_ids": pa.array(rows, pa.list_(pa.int32()))}), tmp_path / "data/a.parquet")
    return tmp_path / "data"


def test_shows_rows_and_ends_with_0(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", str(data), "--row", "a.parquet:0", "--tokenizer", str(byte_tokenizer())]) == 0
    told = capsys.readouterr()
    assert "text    hello \\x1b[2J\n" in told.out
    assert "\x1b" not in told.out + told.err


def test_every_way_to_choose_is_an_option(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limit = ["--vocab-size", "1000", "--json"]
    kind = "expect_token_ids_to_be_in_vocabulary"
    run(["validate", str(data), "--vocab-size", "1000", "--out", str(tmp_path / "out"), "--quiet"])
    for options in (["--unexpected", kind, "--limit", "1"], ["--from", str(tmp_path / "out"), "--limit", "1"]):
        capsys.readouterr()
        assert run(["show", str(data), *options, *limit]) == 0
        (row,) = json.loads(capsys.readouterr().out)
        assert (row["row"], row["findings"][0]["type"]) == (1, kind)
    assert run(["show", str(data), "--random", "2", "--seed", "3", *limit]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2


def test_nothing_unexpected_is_said(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", str(data), "--unexpected", "expect_rows_not_to_be_null"]) == 0
    assert "no row is unexpected" in capsys.readouterr().out


def test_quiet_writes_and_prints_nothing(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["show", str(data), "--row", "1", "--vocab-size", "1000", "--quiet", "--out", str(tmp_path / "out")]
    assert run(command) == 0
    assert capsys.readouterr().out == ""
    assert json.loads((tmp_path / "out/rows.json").read_text())[0]["columns"]["input_ids"]["ids"] == [5, 9_999]


def test_a_row_that_is_not_there_is_2(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", str(data), "--row", "b.parquet:0"]) == 2
    assert capsys.readouterr().err == (
        "error: there is no shard b.parquet\n  where --row\n  fix   did you mean a.parquet?\n"
    )
