"""expect_shards_to_be_intact."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.builders import judged, reasons, table_of

INTACT = "expect_shards_to_be_intact"
ROWS = table_of(input_ids=[[1, 2], [3, 4]])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a good shard, a.parquet, and room for others."""
    pq.write_table(ROWS, tmp_path / "a.parquet")
    return tmp_path


def stream(path: Path, table: pa.Table = ROWS) -> Path:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return path


def test_good_shards_hold(folder: Path):
    stream(folder / "b.arrow")
    result = judged(INTACT, folder)
    assert result.success
    assert (result.element_count, result.unexpected_count, result.missing_count) == (2, 0, 0)
    assert result.observed_value == 2
    assert result.findings == ()
    assert result.details == {}


def test_names_the_shard_and_the_reason(folder: Path):
    (folder / "b.parquet").write_bytes((folder / "a.parquet").read_bytes()[:-1])
    (folder / "c.parquet").write_bytes(b"")
    result = judged(INTACT, folder)
    assert not result.success
    found = [(each.shard, each.row, each.reason) for each in result.findings]
    assert found == [("b.parquet", None, "truncated"), ("c.parquet", None, "empty_file")]
    assert all(each.detail for each in result.findings)
    assert reasons(result) == {"empty_file": 1, "truncated": 1}
    assert (result.element_count, result.unexpected_count) == (3, 2)


def test_allowed_reasons_are_noted_and_hold(folder: Path):
    (folder / "b.parquet").write_bytes(b"")
    result = judged(INTACT, folder, allow=["empty_file"])
    assert result.success
    assert result.findings == ()
    assert any("b.parquet" in note for note in result.details["notes"])


def test_other_reasons_than_the_allowed_do_not_hold(folder: Path):
    (folder / "b.parquet").write_bytes(b"")
    assert not judged(INTACT, folder, allow=["no_end_marker"]).success


def test_a_stream_without_its_end_is_read_where_that_is_allowed(folder: Path):
    path = stream(folder / "b.arrow")
    path.write_bytes(path.read_bytes()[:-8])
    assert reasons(judged(INTACT, folder)) == {"no_end_marker": 1}
    assert judged(INTACT, folder, allow=["no_end_marker"]).success


def test_a_misleading_name_is_noted_and_holds(folder: Path):
    stream(folder / "b.parquet")
    result = judged(INTACT, folder)
    assert result.success
    (misnamed,) = result.details["misnamed"]
    assert "b.parquet" in misnamed


def test_files_that_are_no_shards_are_listed(folder: Path):
    (folder / "notes.md").write_text("about this data")
    result = judged(INTACT, folder)
    assert result.success
    assert any("notes.md" in each for each in result.details["ignored"])


def test_a_broken_shard_is_a_finding_whether_the_suite_asks_or_not(folder: Path):
    (folder / "b.parquet").write_bytes(b"")
    rows = judged("expect_row_count_to_be_between", folder)
    assert rows.success
    assert rows.observed_value == 2
    assert not judged_beside(folder).success


def judged_beside(folder: Path):
    import dataguard

    suite = {"name": "rows", "expectations": [{"type": "expect_row_count_to_be_between"}]}
    return next(each for each in dataguard.validate(folder, suite=suite).results if each.type == INTACT)
