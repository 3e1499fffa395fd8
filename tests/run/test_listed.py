"""rejected.parquet is read once, beside the shards that it names."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from dataguard.run import listed as module
from dataguard.run.listed import Listed, Stretch

ROWS = [("a", 0), ("a", 2), ("a", 7), ("b", 1), ("d", 0), ("d", 1)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    frame = pl.DataFrame(
        {
            "shard": [shard for shard, _ in ROWS],
            "row": [row for _, row in ROWS],
            "types": [[f"expect_{shard}{row}"] for shard, row in ROWS],
            "reasons": [[f"{shard}{row}"] for shard, row in ROWS],
        }
    )
    frame.write_parquet(tmp_path / "rejected.parquet", row_group_size=4)
    return tmp_path / "rejected.parquet"


def told(stretch: Stretch | None) -> list[tuple[str, int, str]]:
    if stretch is None:
        return []
    lists = (each.to_pylist() for each in stretch.texts)
    found = [(row, types, reasons) for row, types, reasons in zip(stretch.rows.tolist(), *lists, strict=True)]
    assert all(types == [f"expect_{reasons[0]}"] for _, types, reasons in found)
    return [(stretch.shard, row, reasons[0]) for row, _, reasons in found]


@pytest.mark.parametrize("batch_rows", [1, 2, 5, 100])
def test_rows_are_taken_up_to_where_they_are_wanted(
    path: Path, batch_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_ROWS", batch_rows)
    with Listed(path, ("types", "reasons")) as listed:
        assert (listed.shard, listed.row) == ("a", 0)
        assert told(listed.take("a", 3)) == [("a", 0, "a0"), ("a", 2, "a2")]
        assert told(listed.take("a", 5)) == []
        assert (listed.shard, listed.row) == ("a", 7)
        assert told(listed.take("b", 5)) == []
        listed.skip("a")
        assert told(listed.take("b", 5)) == [("b", 1, "b1")]
        assert told(listed.take("c", 5)) == []
        assert told(listed.take("d", 5)) == [("d", 0, "d0"), ("d", 1, "d1")]
        assert (listed.shard, listed.row) == (None, None)
