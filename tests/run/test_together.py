"""Small shards are scanned together, and nobody can tell: numbers, faults and what is stored are those of each by itself."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dataguard
from dataguard.metrics import lengths
from dataguard.result import Result
from dataguard.run import fill, scan
from dataguard.run import store as module

SUITE = {
    "name": "t",
    "expectations": [
        {"type": "expect_token_ids_to_be_in_vocabulary", "kwargs": {"limit": 100}},
        {"type": "expect_sequence_lengths_to_be_between", "kwargs": {"max_length": 3}},
        {"type": "expect_rows_to_be_unique"},
    ],
}
ROWS = ([[1, 2], [3, 200]], [[4]], [[5, 6, 7, 8]], [[1, 2], [9]])


def write(path: Path, rows: list[list[int]], source: pa.Array | None = None, kind: Any = None) -> Path:
    columns = {"input_ids": pa.array(rows, pa.list_(kind or pa.int32()))}
    table = pa.table(columns if source is None else {**columns, "source": source})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    os.utime(path, (time.time() - 3600,) * 2)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for number, rows in enumerate(ROWS):
        write(folder / f"{number}.arrow", rows)
    return folder


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Give the number of pieces of each task that is scanned."""
    sizes: list[int] = []
    whole = scan.scan

    def counted(task: scan.Task) -> list[scan.Scanned]:
        sizes.append(len(task.pieces))
        return whole(task)

    monkeypatch.setattr(fill, "scan", counted)
    monkeypatch.setattr(module, "SETTLED_NS", -(10**12))
    return sizes


def judge(data: Path, store: Path | None = None) -> Result:
    return dataguard.validate(data, suite=SUITE, store=store, jobs=2)


def apart(data: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    with monkeypatch.context() as patch:
        patch.setattr(fill, "MOST_PIECES", 1)
        return judge(data)


def found(result: Result) -> list[tuple[str | None, int | None, str]]:
    return [(each.shard, each.row, each.reason) for verdict in result.results for each in verdict.findings]


def test_they_are_one_task_with_the_verdict_of_each_by_itself(
    data: Path, tasks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    together = judge(data)
    assert tasks == [4]
    assert found(together) == [
        ("0.arrow", 1, "beyond_limit"),
        ("2.arrow", 0, "too_long"),
        ("3.arrow", 0, "duplicate"),
    ]
    assert together.to_dict() == apart(data, monkeypatch).to_dict()


def test_a_broken_shard_is_left_out_alone(data: Path, tasks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    broken = data / "1.arrow"
    content = bytearray(broken.read_bytes())
    offsets = content.rindex(b"".join(number.to_bytes(4, "little") for number in (0, 1)))
    content[offsets + 4] = 77
    broken.write_bytes(content)
    together = judge(data)
    assert tasks == [4]
    assert [each[0] for each in found(together) if each[2] == "corrupt"] == ["1.arrow"]
    assert len(found(together)) == 4
    assert together.to_dict() == apart(data, monkeypatch).to_dict()


def test_other_columns_make_another_task(data: Path, tasks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    write(data / "1.arrow", [[4]], kind=pa.int64())
    together = judge(data)
    assert tasks == [1, 1, 2]
    assert together.to_dict() == apart(data, monkeypatch).to_dict()


@pytest.mark.parametrize("most", [1, 20, 40, 1 << 20])
def test_rows_that_are_more_than_their_files_announce_are_joined_bit_by_bit(
    most: int, data: Path, tasks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "MOST_JOINED", most)
    together = judge(data)
    assert tasks == [4]
    assert together.to_dict() == apart(data, monkeypatch).to_dict()


@pytest.mark.parametrize("rows", [[], [[]]], ids=["no rows", "an empty row"])
def test_shards_of_nothing_go_together_too(
    rows: list[list[int]], data: Path, tmp_path: Path, tasks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        write(data / f"{number}.arrow", rows)
    for _ in range(2):
        assert judge(data, tmp_path / "store").to_dict() == apart(data, monkeypatch).to_dict()


def test_a_source_that_is_no_name_is_none_in_its_own_shard_alone(
    data: Path, tasks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, rows in enumerate(ROWS):
        names = [b"\xff" if number == 1 else b"web"] * len(rows)
        write(data / f"{number}.arrow", rows, pa.array(names, pa.binary()))
    together = judge(data)
    assert tasks == [4]
    assert [(each["source"], each["rows"]) for each in together.meta["sources"]] == [("web", 5), (None, 1)]
    assert together.to_dict() == apart(data, monkeypatch).to_dict()


def test_a_shard_that_is_new_costs_its_own_rows_alone(
    data: Path, tmp_path: Path, tasks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge(data, tmp_path / "store")
    write(data / "1.arrow", [[4, 300]])
    tasks.clear()
    computed: list[int] = []
    compute = lengths.Lengths.compute
    monkeypatch.setattr(
        lengths.Lengths, "compute", lambda self, batch: computed.append(batch.rows) or compute(self, batch)
    )
    again = judge(data, tmp_path / "store")
    assert tasks == [1, 1, 2]
    assert computed == [1, 1], "of one row is the one that compiles kernels"
    assert again.to_dict() == apart(data, monkeypatch).to_dict()


@pytest.mark.parametrize("rest", ["the same", "grown"])
def test_damaged_numbers_of_shards_that_were_stored_together_are_computed_again(
    rest: str, data: Path, tmp_path: Path, tasks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge(data, tmp_path / "store")
    (segment,) = (tmp_path / "store").glob("*.segment")
    segment.write_bytes(bytes(segment.stat().st_size))
    if rest == "grown":
        write(data / "4.arrow", [[1, 300]])
    for _ in range(2):
        assert judge(data, tmp_path / "store").to_dict() == apart(data, monkeypatch).to_dict()
