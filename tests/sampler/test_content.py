"""The tokens behind the numbers of samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

from dataguard.errors import DataError
from dataguard.run.request import Request
from dataguard.run.samples import SampleRows, read_samples
from tests.builders import table_of


def samples_of(data: object) -> SampleRows:
    return read_samples(Request(data, suite="sampler", jobs=1))


def order(*samples: int) -> np.ndarray:
    return np.array(samples, np.int64)


def rows(first: int, count: int, kind: pa.DataType) -> pa.Table:
    return table_of(input_ids=[[first + row] * (row + 1) for row in range(count)], types={"input_ids": kind})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    pq.write_table(rows(0, 5, pa.int32()), tmp_path / "a.parquet", row_group_size=2)
    with ipc.new_stream(str(tmp_path / "b.arrow"), rows(10, 4, pa.int64()).schema) as writer:
        writer.write_table(rows(10, 4, pa.int64()), max_chunksize=3)
    return tmp_path


def test_samples_are_the_rows_of_all_shards_in_order(data: Path):
    found = samples_of(data)
    read = {sample: tokens.tolist() for sample, tokens in found.content.rows(order(8, 0, 4, 5, 0))}
    assert read == {0: [0], 4: [4] * 5, 5: [10], 8: [13] * 4}
    assert found.lengths.tolist() == [1, 2, 3, 4, 5, 1, 2, 3, 4]
    assert found.content.places.of(4) == ("a.parquet", 4)
    assert found.content.places.of(5) == ("b.arrow", 0)


def test_equal_batches_have_equal_digests_whatever_the_width(data: Path):
    content = samples_of(data).content
    assert content.first_batches([order(0, 1)]) == content.first_batches([order(0, 1)])
    one, other, turned = content.first_batches([order(1, 6), order(1, 7), order(6, 1)])
    assert len({one, other, turned}) == 3
    wide = samples_of(rows(0, 5, pa.int64())).content
    assert wide.first_batches([order(0, 4)]) == content.first_batches([order(0, 4)])


def test_sources_are_known_by_place():
    table = table_of(input_ids=[[1], [2], [3]], source=pa.array(["web", None, "code"]))
    found = samples_of(table)
    assert found.sources.tolist() == [0, -1, 1]
    assert found.context.sources == ("web", "code")


def test_a_shard_that_changes_meanwhile_is_one_message(data: Path):
    content = samples_of(data).content
    (data / "a.parquet").write_bytes(b"gone")
    with pytest.raises(DataError, match="cannot be read again"):
        content.first_batches([order(0)])
