"""Bytes of rows: as Arrow counts them, and of unions too, at which Arrow ends the process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import dataguard
from dataguard.shards.nbytes import nbytes_of

ROWS = 6


def _union(*, dense: bool) -> pa.Array:
    types, numbers, words = pa.array([0, 1] * 3, pa.int8()), pa.array(range(ROWS)), pa.array(list("abcdef"))
    if dense:
        return pa.UnionArray.from_dense(types, pa.array(range(ROWS), pa.int32()), [numbers, words])
    return pa.UnionArray.from_sparse(types, [numbers, words])


SHAPES: dict[str, Callable[[pa.Array], pa.Array]] = {
    "itself": lambda union: union,
    "in lists": lambda union: pa.ListArray.from_arrays(pa.array([0, 0, 2, 2, 4, 6, 6], pa.int32()), union),
    "in fixed lists": lambda union: pa.FixedSizeListArray.from_arrays(pa.concat_arrays([union, union]), 2),
    "in structs": lambda union: pa.StructArray.from_arrays([union], names=["inside"]),
    "in lists of structs": lambda union: pa.ListArray.from_arrays(
        pa.array([0, 0, 2, 2, 4, 6, 6], pa.int32()), pa.StructArray.from_arrays([union], names=["inside"])
    ),
}
PARTS = {"all": range(ROWS), "none": [], "first": [0], "some": [0, 2, 5], "without values": [0, 2]}


def column(shape: str, *, dense: bool) -> pa.Array:
    return SHAPES[shape](_union(dense=dense))


def write(path: Path, batches: list[pa.RecordBatch]) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_unions_from_ipc_are_counted(shape: str, dense: bool, part: str, tmp_path: Path) -> None:
    whole = column(shape, dense=dense)
    write(tmp_path / "x", [pa.record_batch({"a": whole.take(pa.array(PARTS[part], pa.int64()))})])
    with pa.OSFile(str(tmp_path / "x")) as source:
        read = pa.ipc.open_stream(source).read_next_batch()
    assert nbytes_of(read) == nbytes_of(read.column(0)) <= nbytes_of(whole)
    assert nbytes_of(read.slice(0, 1)) <= nbytes_of(read)
    assert nbytes_of(read.slice(0, 0)) <= nbytes_of(read)


@pytest.mark.parametrize("values", [[], [[1, 2], None, [3]], ["a", None], [{"a": 1}], [1.5]])
def test_everything_else_is_counted_as_arrow_does(values: list[object]) -> None:
    batch = pa.record_batch({"a": pa.array(values), "b": pa.array(values)})
    assert nbytes_of(batch) == batch.nbytes
    assert nbytes_of(batch.column(0)) == batch.column(0).nbytes


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_shards_with_unions_are_judged_and_copied(shape: str, dense: bool, tmp_path: Path) -> None:
    """Batches without rows, those of which every row is rejected, and those with lists that are all empty."""
    ids = [[1, 2], [900], [3], [900], [4], [5]]
    batch = pa.record_batch({"input_ids": pa.array(ids, pa.list_(pa.int32())), "other": column(shape, dense=dense)})
    parts = [batch, batch.slice(0, 0), batch.slice(1, 1), batch.take(pa.array([0, 2]))]
    (tmp_path / "data").mkdir()
    write(tmp_path / "data" / "x.arrow", parts)
    suite = {"name": "ids", "expectations": [{"type": "expect_token_ids_to_be_in_vocabulary"}]}
    found = dataguard.validate(
        tmp_path / "data", suite=suite, vocab_size=100, out=tmp_path / "out", clean=True, store=None
    )
    assert found.meta["clean"]["rows"] == 6
    assert found.meta["quarantine"]["rows"] == 3
