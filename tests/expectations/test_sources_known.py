"""expect_sources_to_be_known."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.builders import found, judged, table_of

SOURCES = "expect_sources_to_be_known"
ROWS = {"input_ids": [[1], [2], [3]], "source": ["web", None, "code"]}


def test_names_rows_without_a_source():
    assert found(judged(SOURCES, ROWS)) == [(1, "missing_source")]


def test_names_sources_that_are_not_allowed():
    result = judged(SOURCES, ROWS, allowed=["web"])
    assert found(result) == [(1, "missing_source"), (2, "unknown_source")]
    assert [each.detail for each in result.findings] == [None, "code"]
    assert result.details["by_source"] == {"code": 1}


def test_every_source_may_be_allowed():
    assert judged(SOURCES, {"input_ids": [[1]], "source": ["web"]}, allowed=["web", "code"]).success


def test_without_any_source_every_row_is_named():
    assert found(judged(SOURCES, {"input_ids": [[1], [2]]})) == [(0, "missing_source"), (1, "missing_source")]


def test_a_column_of_nothing_but_nulls_says_no_source_even_in_a_folder(tmp_path: Path):
    for folder, source in {"web": pa.nulls(1), "code": pa.array(["code"])}.items():
        (tmp_path / folder).mkdir()
        pq.write_table(table_of(input_ids=[[1, 2]], source=source), tmp_path / folder / "a.parquet")
    result = judged(SOURCES, tmp_path)
    assert [(each.shard, each.reason) for each in result.findings] == [("web/a.parquet", "missing_source")]


def test_a_row_without_tokens_has_a_source_all_the_same():
    result = judged(SOURCES, {"input_ids": [None, []], "source": ["web", None]})
    assert (found(result), result.missing_count) == ([(1, "missing_source")], 0)
