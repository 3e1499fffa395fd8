"""Rows in a scratch file, part by part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dataguard.expectations.divided import Divided, Numbers, each_batch, kept
from tests.builders import scratch_in


def columns(*rows: int) -> dict[str, np.ndarray]:
    return {"place": np.array(rows, np.int64), "source": np.array(rows, np.int32)}


def places(pieces: list[dict[str, np.ndarray]]) -> list[list[int]]:
    assert all((piece["place"] == piece["source"]).all() for piece in pieces)
    return [piece["place"].tolist() for piece in pieces]


def test_a_part_gives_back_its_rows_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    with Divided(scratch_in(tmp_path), 3) as divided:
        divided.add(columns(5, 1, 7), np.array([2, 0, 2], np.uint16))
        divided.add(columns(4, 3, 9), np.array([2, 2, 0], np.uint16))
        assert [places(list(divided.read(part))) for part in range(3)] == [[[1, 9]], [], [[5, 7, 4, 3]]]
        assert [divided.rows(part) for part in range(3)] == [2, 0, 4]
        assert places(list(divided.read(2, 2))) == [[5, 7], [4, 3]]
        assert places(list(divided.read(2, 3))) == [[5, 7], [4, 3]]
        assert places(list(divided.read(2, 4))) == [[5, 7, 4, 3]]
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_file_that_was_cut_short_is_an_error_and_no_end_of_the_rows(tmp_path: Path) -> None:
    with Divided(scratch_in(tmp_path), 1) as divided:
        divided.add(columns(1, 2, 3), np.zeros(3, np.uint16))
        (path,) = (path for path in tmp_path.rglob("*") if path.is_file())
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(OSError, match="cut short"):
            list(divided.read(0))


def test_all_rows_are_handed_over_and_what_goes_wrong_is_raised_as_it_is() -> None:
    rows = pl.LazyFrame({"place": range(1000)})
    seen: list[int] = []

    def take(batch: Numbers) -> None:
        seen.extend(batch["place"].tolist())

    each_batch(rows, take, 100)
    assert sorted(seen) == list(range(1000))

    def fail(_: Numbers) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        each_batch(rows, fail, 100)


@pytest.mark.parametrize("most_rows", [1, 3, 100])
def test_frames_are_kept_in_their_order_in_memory_or_not(tmp_path: Path, most_rows: int) -> None:
    frames = [pl.DataFrame({"row": rows}, schema={"row": pl.Int64}) for rows in ([3, 1], [], [4], [1, 5, 9])]
    rows = kept(frames, scratch_in(tmp_path), most_rows, {"row": pl.Int64})
    assert rows.collect()["row"].to_list() == [3, 1, 4, 1, 5, 9]
    assert any(tmp_path.rglob("*.parquet")) == (most_rows < 6)
    assert kept([], scratch_in(tmp_path), most_rows, {"row": pl.Int64}).collect().schema == {"row": pl.Int64}
