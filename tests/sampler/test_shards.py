"""Iterable datasets whose shards are dealt to the ranks: who runs out first is known from row counts alone."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dataguard.cli import run
from dataguard.sampler.settings import Settings
from dataguard.sampler.shards import deal_shards
from tests.builders import table_of


@pytest.mark.parametrize("world", [1, 2, 3, 4])
@pytest.mark.parametrize("sizes", [[5, 2, 7, 3], [4, 4, 4], [1], [3, 1, 2, 5, 4, 6]])
def test_deals_what_split_dataset_by_node_deals(world: int, sizes: list[int]):
    datasets = pytest.importorskip("datasets")
    from datasets.distributed import split_dataset_by_node

    def rows(parts: list[tuple[int, int]]):
        for first, size in parts:
            yield from ({"row": first + number} for number in range(size))

    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    whole = datasets.IterableDataset.from_generator(rows, gen_kwargs={"parts": list(zip(starts, sizes, strict=True))})
    ours = deal_shards(sizes, Settings(world_size=world)).epochs[0].ranks
    for rank in range(world):
        theirs = [each["row"] for each in split_dataset_by_node(whole, rank=rank, world_size=world)]
        assert ours[rank].tolist() == theirs


def test_each_worker_has_an_incomplete_last_batch_of_its_own():
    seen = deal_shards([3, 3, 4, 2], Settings(world_size=2, batch_size=2, num_workers=2))
    assert [order.tolist() for order in seen.epochs[0].ranks] == [[0, 1, 2, 6, 7, 8, 9], [3, 4, 5, 10, 11]]
    assert seen.epochs[0].batches == (4, 3)
    dropped = deal_shards([3, 3, 4, 2], Settings(world_size=2, batch_size=2, num_workers=2, drop_last="loader"))
    assert dropped.epochs[0].batches == (3, 2)


def written(folder: Path, sizes: list[int]) -> str:
    for place, size in enumerate(sizes):
        pq.write_table(table_of(input_ids=[[1, 2]] * size), folder / f"{place}.parquet")
    return str(folder)


def test_shards_of_other_sizes_hang_and_the_rank_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    data = written(tmp_path, [9, 4])
    assert run(["sampler", data, "--deal", "shards", "--world-size", "2", "--batch-size", "2"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "epoch 0 rank 1: batches 2 (unequal_batches): others have 5, and wait at step 2" in told


@pytest.mark.parametrize("sizes", [[8, 8], [7, 8], [3, 3, 3]])
def test_shards_that_make_as_many_batches_do_not(tmp_path: Path, sizes: list[int]):
    data = written(tmp_path, sizes)
    assert run(["sampler", data, "--deal", "shards", "--world-size", "2", "--batch-size", "5", "--quiet"]) == 0


def test_a_broken_shard_is_left_out_and_said_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    data = written(tmp_path, [4, 4])
    (tmp_path / "2.parquet").write_bytes(b"")
    assert run(["sampler", data, "--deal", "shards", "--world-size", "2"]) == 1
    told = capsys.readouterr().out
    assert "empty_file" in told
    assert "unequal_batches" not in told


def test_workers_past_the_number_of_shards_cost_nothing():
    seen = deal_shards([3, 2], Settings(num_workers=1 << 31))
    assert [each.samples.tolist() for each in seen.workers if each.samples is not None] == [[0, 1, 2], [3, 4]]


def test_tokens_that_nobody_counted_are_not_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["sampler", written(tmp_path, [4]), "--deal", "shards", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["meta"]["dataguard"]["tokens"] is None
    assert "4 rows, 1 rank" in told.err
