"""What is kept between runs: nothing is computed twice, and nothing is believed that is not what was written."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import dataguard
from dataguard.metrics import ids, lengths
from dataguard.result import Result
from dataguard.run import store as module
from dataguard.run.digests import content_of_stretch, digest_of
from dataguard.run.store import MetricStore, UnitKey
from dataguard.run.stored import loaded
from dataguard.shards import proof
from dataguard.shards.files import FileState, ShardFile
from dataguard.shards.model import Shard
from dataguard.shards.opening import open_shard
from dataguard.shards.pieces import PIECE, Stretch, pieces_of

RANGE = {"type": "expect_token_ids_to_be_in_vocabulary", "kwargs": {"limit": 100}}
LENGTH = {"type": "expect_sequence_lengths_to_be_between", "kwargs": {"max_length": 3}}
LONG_AGO = time.time() - 3600


def write(path: Path, rows: list[list[int]], batch: int = 2, *, settled: bool = True) -> Path:
    table = pa.table({"input_ids": pa.array(rows, pa.list_(pa.int32())), "source": ["web"] * len(rows)})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=batch)
    if settled:
        os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def judge(data: Path, store: Path | None, *expectations: dict[str, Any], **options: Any) -> Result:
    suite = {"name": "t", "expectations": [*expectations] or [RANGE]}
    return dataguard.validate(data, suite=suite, store=store, **{"jobs": 1, **options})


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the names of the metrics that are computed on rows of data (not those that only compile kernels)."""
    names: list[str] = []

    def counted(kind: Any) -> Callable[..., Any]:
        compute = kind.compute

        def wrapped(self: Any, batch: Any) -> Any:
            if batch.has("source") or batch.rows > 1:
                names.append(kind.__name__)
            return compute(self, batch)

        return wrapped

    for kind in (ids.IdsOutside, lengths.Lengths):
        monkeypatch.setattr(kind, "compute", counted(kind))
    return names


@pytest.fixture(autouse=True)
def _settled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of a test are made right before they are judged; ctime cannot be set back."""
    monkeypatch.setattr(module, "SETTLED_NS", -(10**12))


def test_an_unchanged_shard_is_not_scanned_again(tmp_path: Path, computed: list[str]) -> None:
    data = write(tmp_path / "a.arrow", [[1, 2], [3, 200], [4]])
    first = judge(data, tmp_path / "store")
    assert computed
    computed.clear()
    again = judge(data, tmp_path / "store")
    assert computed == []
    assert again.to_dict() == first.to_dict()


def test_another_expectation_costs_its_own_metric_alone(tmp_path: Path, computed: list[str]) -> None:
    data = write(tmp_path / "a.arrow", [[1, 2], [3, 200]])
    judge(data, tmp_path / "store", LENGTH)
    computed.clear()
    judge(data, tmp_path / "store", LENGTH, RANGE)
    assert set(computed) == {"IdsOutside"}


def test_another_threshold_costs_no_scan(tmp_path: Path, computed: list[str]) -> None:
    data = write(tmp_path / "a.arrow", [[1, 2], [3, 200, 3, 3]])
    judge(data, tmp_path / "store", LENGTH)
    computed.clear()
    looser = judge(data, tmp_path / "store", {**LENGTH, "kwargs": {"max_length": 4}})
    assert computed == []
    assert looser.success


def test_a_grown_data_set_costs_its_new_shards(tmp_path: Path, computed: list[str]) -> None:
    (tmp_path / "data").mkdir()
    write(tmp_path / "data" / "a.arrow", [[1, 2], [3]])
    judge(tmp_path / "data", tmp_path / "store")
    computed.clear()
    write(tmp_path / "data" / "b.arrow", [[1, 200], [3]])
    result = judge(tmp_path / "data", tmp_path / "store")
    assert computed.count("IdsOutside") == 1
    assert [(each.shard, each.row) for each in result.results[0].findings] == [("b.arrow", 0)]


def test_a_shard_that_was_changed_is_scanned(tmp_path: Path, computed: list[str]) -> None:
    data = write(tmp_path / "a.arrow", [[1, 2], [3, 4]])
    assert judge(data, tmp_path / "store").success
    write(data, [[1, 2], [3, 200]])
    computed.clear()
    assert not judge(data, tmp_path / "store").success
    assert computed


@pytest.fixture
def _clock_of_the_disk_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file that is written in place look as it did before."""
    of = FileState.of
    monkeypatch.setattr(
        FileState, "of", lambda status: dataclasses.replace(of(status), inode=0, mtime_ns=0, ctime_ns=0)
    )


@pytest.mark.usefixtures("_clock_of_the_disk_stands_still")
@pytest.mark.parametrize("jobs", [1, 3])
def test_a_change_that_the_file_system_does_not_tell_is_seen_where_all_is_verified(tmp_path: Path, jobs: int) -> None:
    data = write(tmp_path / "a.arrow", [[1, 2], [3, 4]])
    assert judge(data, tmp_path / "store").success
    write(data, [[1, 2], [3, 200]])
    assert judge(data, tmp_path / "store").success
    assert not judge(data, tmp_path / "store", verify=True, jobs=jobs).success
    assert not judge(data, tmp_path / "store").success


def test_what_is_verified_and_unchanged_is_not_scanned(tmp_path: Path, computed: list[str]) -> None:
    (tmp_path / "data").mkdir()
    for name in "abc":
        write(tmp_path / "data" / f"{name}.arrow", [[1, 2], [3, 200]] * 3)
    first = judge(tmp_path / "data", tmp_path / "store")
    computed.clear()
    again = judge(tmp_path / "data", tmp_path / "store", verify=True, jobs=2)
    assert computed == []
    assert again.to_dict() == first.to_dict()


def test_a_copy_is_known_by_its_bytes(tmp_path: Path, computed: list[str]) -> None:
    data = write(tmp_path / "a.arrow", [[1, 2], [3, 200]])
    judge(data, tmp_path / "store")
    copy = tmp_path / "b.arrow"
    copy.write_bytes(data.read_bytes())
    computed.clear()
    result = judge(copy, tmp_path / "store")
    assert computed == []
    assert [each.shard for each in result.results[0].findings] == ["b.arrow"]


def test_another_column_for_a_role_is_another_number(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    table = pa.table({"a": [[1]], "b": [[200]]})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    suite = {"name": "t", "expectations": [RANGE]}
    for column, success in (("a", True), ("b", False), ("a", True)):
        result = dataguard.validate(path, suite=suite, columns={"input_ids": column}, store=tmp_path / "store")
        assert result.success is success


def test_a_file_written_in_the_same_moment_is_not_taken_for_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SETTLED_NS", 2_000_000_000)
    data = write(tmp_path / "a.arrow", [[1, 2]], settled=False)
    judge(data, tmp_path / "store")
    store = MetricStore(tmp_path / "store")
    assert store.digest(state_of(data)) is None
    store.close()


@pytest.mark.parametrize("damage", ["flip", "cut", "gone"])
def test_damaged_numbers_are_computed_again(damage: str, tmp_path: Path, computed: list[str]) -> None:
    data = write(tmp_path / "a.arrow", [[1, 2], [3, 200]])
    first = judge(data, tmp_path / "store")
    (segment,) = (tmp_path / "store").glob("*.segment")
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 1
    if damage == "gone":
        segment.unlink()
    else:
        segment.write_bytes(content if damage == "flip" else content[: len(content) // 2])
    computed.clear()
    assert judge(data, tmp_path / "store").to_dict() == first.to_dict()
    assert computed
    computed.clear()
    assert judge(data, tmp_path / "store").to_dict() == first.to_dict()
    assert computed == [], "what was computed again is stored again"


def test_a_store_that_cannot_be_used_never_stops_a_run(tmp_path: Path) -> None:
    data = write(tmp_path / "a.arrow", [[1, 200]])
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "index.sqlite").write_bytes(b"no database, but long enough to be taken for one" * 100)
    assert not judge(data, tmp_path / "store").success
    (tmp_path / "file").write_text("x")
    assert not judge(data, tmp_path / "file" / "store").success


def test_a_fault_is_found_every_time(tmp_path: Path) -> None:
    data = write(tmp_path / "a.arrow", [[1001, 1002, 1003], [1004, 1005]], batch=5)
    content = data.read_bytes()
    good = b"".join(number.to_bytes(4, "little") for number in (0, 3, 5))
    bad = b"".join(number.to_bytes(4, "little") for number in (0, 5, 3))
    assert content.count(good) == 1
    data.write_bytes(content.replace(good, bad))
    for _ in range(2):
        assert [each.reason for each in judge(data, tmp_path / "store").results[0].findings] == ["corrupt"]


def test_a_run_that_was_stopped_goes_on_where_it_was(
    tmp_path: Path, computed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof.units_of, "__defaults__", (1,))
    data = write(tmp_path / "a.arrow", [[number, number] for number in range(8)], batch=2)
    units = len(open_units(data))
    assert units == 4
    seen = 0

    class Interrupting:
        def note(self, text: str) -> None: ...
        def start(self, rows: int | None) -> None: ...
        def stop(self) -> None: ...
        def advance(self, rows: int, tokens: int) -> None:
            nonlocal seen
            seen += 1
            if seen == 2:
                raise KeyboardInterrupt

    suite = {"name": "t", "expectations": [RANGE]}
    with pytest.raises(KeyboardInterrupt):
        dataguard.validate(data, suite=suite, store=tmp_path / "store", jobs=1, watch=Interrupting())
    computed.clear()
    result = dataguard.validate(data, suite=suite, store=tmp_path / "store", jobs=1)
    assert result.success
    assert computed.count("IdsOutside") <= units - 2


def open_units(path: Path) -> Any:
    return open_shard(Shard(path.name, path)).units


def state_of(path: Path) -> FileState:
    with ShardFile(path) as file:
        return file.state


def digest(path: Path, *bounds: int) -> str:
    """Return the digest of a file that is divided into stretches at some pieces."""
    state = state_of(path)
    parts = pairwise([0, *bounds, pieces_of(state)])
    return digest_of([content_of_stretch(path, state, Stretch(*part)) for part in parts], state)


def test_every_byte_changes_the_digest_and_how_a_file_is_divided_does_not(tmp_path: Path) -> None:
    path = tmp_path / "file"
    content = bytearray(os.urandom(3 * PIECE + 1000))
    path.write_bytes(content)
    before = digest(path)
    assert digest(path, 1) == digest(path, 2, 2, 3) == digest(path, 0, 4) == before
    for place in (0, PIECE - 1, PIECE, 2 * PIECE + 5, 3 * PIECE + 999):
        content[place] ^= 1
        path.write_bytes(content)
        assert digest(path) != before
        content[place] ^= 1
    path.write_bytes(content)
    assert digest(path, 2) == before


def test_pieces_that_change_places_change_the_digest(tmp_path: Path) -> None:
    path = tmp_path / "file"
    one, other = os.urandom(PIECE), os.urandom(PIECE)
    digests = set()
    for pieces in ((one, other), (other, one), (one, one), (one, other, bytes(PIECE)), (one, other, b"\0"), (one,), ()):
        path.write_bytes(b"".join(pieces))
        digests.add(digest(path))
    assert len(digests) == 7


@pytest.mark.parametrize("columns", [{}, {"input_ids": "labels"}])
def test_the_digest_is_the_same_whatever_is_read_beside_it(columns: dict[str, str], tmp_path: Path) -> None:
    rows = [[place] * 3000 for place in range(600)]
    table = pa.table({"input_ids": pa.array(rows, pa.list_(pa.int32())), "labels": rows, "source": ["web"] * 600})
    data = tmp_path / "a.arrow"
    with pa.OSFile(str(data), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=250)
    judge(data, tmp_path / "store", columns=columns, out=tmp_path / "out")
    (taken,) = pl.read_parquet(tmp_path / "out" / "shards.parquet")["digest"].to_list()
    assert taken == digest(data)


def columns(*numbers: int) -> dict[str, dict[str, pl.Series]]:
    return {"k": {"n": pl.Series(numbers)}}


def stored(store: MetricStore, *units: UnitKey) -> list[int] | None:
    found = store.find({unit: {"k"} for unit in units})
    frames = loaded([found[unit] for unit in units])
    return None if frames is None else frames["k"]["n"].to_list()


def test_two_writers_do_not_hurt_each_other(tmp_path: Path) -> None:
    one, other = MetricStore(tmp_path), MetricStore(tmp_path)
    for number in range(20):
        (one if number % 2 else other).add([(("d", number, number + 1), 1)], columns(number))
    for number in range(20):
        assert stored(one, ("d", number, number + 1)) == [number]
    one.close()
    other.close()


def test_units_that_were_stored_together_are_found_in_any_order_and_by_themselves(tmp_path: Path) -> None:
    store = MetricStore(tmp_path)
    one, two, three, four = (("a", 0, 1), ("b", 0, 1), ("c", 0, 1), ("d", 0, 1))
    store.add([(one, 2), (two, 1), (None, 1), (three, 2)], columns(1, 2, 3, 4, 5, 6))
    store.add([(four, 1)], columns(7))
    assert stored(store, one, two) == [1, 2, 3]
    assert stored(store, two) == [3]
    assert stored(store, one, two, three, four) == [1, 2, 3, 5, 6, 7]
    assert stored(store, four, three, one) == [7, 5, 6, 1, 2]
    store.close()


def test_numbers_that_were_stored_again_are_the_newer_ones(tmp_path: Path) -> None:
    store = MetricStore(tmp_path)
    store.add([(("a", 0, 1), 1)], {"k": {"n": pl.Series([1])}, "old": {"m": pl.Series([9])}})
    store.add([(("a", 0, 1), 1)], columns(2))
    assert stored(store, ("a", 0, 1)) == [2]
    found = loaded([store.find({("a", 0, 1): {"k", "old"}})["a", 0, 1]])
    assert found is not None
    assert {key: list(each) for key, each in found.items()} == {"k": ["n"], "old": ["m"]}
    store.close()


def test_a_store_of_another_version_is_made_anew(tmp_path: Path) -> None:
    data = write(tmp_path / "a.arrow", [[1, 2], [3, 200]])
    first = judge(data, tmp_path / "store")
    with sqlite3.connect(tmp_path / "store" / "index.sqlite") as index:
        index.execute("drop table part")
        index.execute("create table part (digest text, key text)")
        index.execute("pragma user_version = 0")
    assert judge(data, tmp_path / "store").to_dict() == first.to_dict()
    store = MetricStore(tmp_path / "store")
    assert store.digest(state_of(data)) is not None
    store.close()


def test_a_killed_writer_leaves_nothing_that_is_believed(tmp_path: Path) -> None:
    store = MetricStore(tmp_path)
    store.add([(("d", 0, 1), 1)], columns(1))
    (segment,) = tmp_path.glob("*.segment")
    with segment.open("ab") as file:
        file.write(b"half a frame")
    store.add([(("d", 1, 2), 1)], columns(2))
    assert stored(store, ("d", 1, 2)) == [2]
    store.close()
    with sqlite3.connect(tmp_path / "index.sqlite") as index:
        assert index.execute("select count(*) from blob").fetchone() == (2,)


def test_a_store_is_cut_back_to_its_limit_the_oldest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SEGMENT_BYTES", 0)
    store = MetricStore(tmp_path)
    for number in range(3):
        store.add([((f"d{number}", 0, 1), 1)], columns(number))
    assert store.describe()["segments"] == 3
    each = store.describe()["bytes"] // 3
    assert store.prune(2 * each) == each
    assert [bool(store.find({(f"d{number}", 0, 1): {"k"}})) for number in range(3)] == [False, True, True]
    assert store.prune(0) == 2 * each
    assert (store.describe()["bytes"], store.describe()["shards"]) == (0, 0)
    store.add([(("d9", 0, 1), 1)], columns(9))
    assert store.find({("d9", 0, 1): {"k"}})
    store.close()
