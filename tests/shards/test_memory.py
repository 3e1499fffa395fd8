from __future__ import annotations

import datasets
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from dataguard.errors import ShardFault
from dataguard.shards import memory
from dataguard.shards.memory import shards_of
from dataguard.shards.model import Shard
from dataguard.shards.opening import open_shard

IDS = [[n] * (n % 4) for n in range(10)]
ROWS = [{"input_ids": ids} for ids in IDS]


@pytest.mark.parametrize(
    "data",
    [
        pa.table({"input_ids": IDS}),
        pa.record_batch({"input_ids": IDS}),
        pl.DataFrame({"input_ids": IDS}),
        pl.DataFrame({"input_ids": IDS}).lazy(),
        datasets.Dataset.from_dict({"input_ids": IDS}),
    ],
    ids=["table", "batch", "frame", "lazy", "dataset"],
)
def test_a_table_is_one_shard(data, read):
    [shard] = shards_of(data)
    assert (shard.name, shard.path, shard.folder, shard.split) == ("table", None, None, None)
    assert read(shard) == ROWS


@pytest.mark.parametrize("data", ["path", ["path"], {"input_ids": IDS}, None, 3, np.zeros(3), pl.Series([1])])
def test_anything_else_is_none(data):
    assert shards_of(data) is None


def test_the_rows_of_a_shuffled_dataset_come_in_its_order(read):
    chosen = datasets.Dataset.from_dict({"input_ids": IDS}).select([7, 2, 2, 9])
    [shard] = shards_of(chosen)
    assert read(shard) == [ROWS[7], ROWS[2], ROWS[2], ROWS[9]]


def test_columns_that_a_format_hides_are_taken(read):
    whole = datasets.Dataset.from_dict({"input_ids": IDS, "labels": IDS}).with_format("numpy", columns=["labels"])
    [shard] = shards_of(whole)
    assert set(read(shard)[0]) == {"input_ids", "labels"}


def test_a_dataset_dict_is_a_shard_for_each_split(read):
    part = datasets.Dataset.from_dict({"input_ids": IDS})
    shards = shards_of(datasets.DatasetDict(train=part, test=part.select([1])))
    assert [(shard.name, shard.split) for shard in shards] == [("train", "train"), ("test", "test")]
    assert read(shards[1]) == [ROWS[1]]


def test_slices_are_read_as_slices(read):
    table = pa.table({"input_ids": pa.chunked_array([IDS[:3], IDS[3:]]), "text": [str(n) for n in range(10)]}).slice(
        2, 5
    )
    assert read(Shard("t", table=table)) == table.to_pylist()
    assert read(Shard("t", table=table), ["text"]) == table.select(["text"]).to_pylist()


def test_a_large_batch_is_cut_so_that_workers_can_share_it(monkeypatch, read):
    monkeypatch.setattr(memory, "_BATCH_BYTES", 100)
    monkeypatch.setattr(memory, "UNIT_BYTES", 300)
    table = pa.table({"input_ids": pa.array([[n] * 5 for n in range(100)], pa.list_(pa.int32()))})
    assert len(open_shard(Shard("t", table=table)).units) > 3
    assert read(Shard("t", table=table)) == table.to_pylist()


def test_an_empty_table_has_no_rows(read):
    assert read(Shard("t", table=pa.table({"input_ids": pa.array([], pa.list_(pa.int32()))}))) == []


def test_a_table_that_lies_is_corrupt():
    offsets = pa.py_buffer(np.array([0, 5, 2], np.int32))
    values = pa.array([1, 2], pa.int32())
    array = pa.Array.from_buffers(pa.list_(pa.int32()), 2, [None, offsets], children=[values])
    with pytest.raises(ShardFault, match="corrupt"):
        open_shard(Shard("t", table=pa.Table.from_arrays([array], ["input_ids"])))


def test_two_columns_of_one_name_are_told():
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    with pytest.raises(ShardFault, match="duplicate_column"):
        open_shard(Shard("t", table=table))
