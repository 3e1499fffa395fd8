"""The rows of a data set that remain when the rejected ones are left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataguard.errors import ShardFault
from dataguard.run.dataset import Dataset
from dataguard.run.listed import Listed
from dataguard.run.taking import take_rows
from dataguard.shards.form import batches_of
from dataguard.shards.hf import TOKENIZER, tokenizer_of
from dataguard.shards.model import OpenShard, Shard


@dataclass(frozen=True)
class Kept:
    """A shard, and which of its rows remain.

    Args:
        rejected: Numbers of those that do not, rising. Shape (n,), int64.
    """

    shard: Shard
    opened: OpenShard
    rejected: npt.NDArray[np.int64]

    def batches(self) -> Iterator[tuple[pa.RecordBatch, bool]]:
        """Yield (rows that remain, whether a batch or row group of the file ends with them).

        Raises:
            ShardFault: The shard is not what it was.
        """
        rows = 0
        for first, batch, ends in batches_of(self.opened):
            start, stop = np.searchsorted(self.rejected, [first, first + batch.num_rows])
            rows += batch.num_rows
            if start < stop:
                remain = np.ones(batch.num_rows, np.bool_)
                remain[self.rejected[start:stop] - first] = False
                batch = take_rows(batch, np.flatnonzero(remain))  # noqa: PLW2901  # less of the same
            yield batch, ends
        if rows != self.opened.rows:
            raise ShardFault("unreadable", f"it had {self.opened.rows:,} rows, and now has {rows:,}")


def kept_rows(dataset: Dataset, intact: Sequence[bool], rejected: Path) -> Iterator[Kept]:
    """Yield the intact shards, in the order of DATA.

    Args:
        dataset: The shards.
        intact: Whether each of them can be trusted.
        rejected: rejected.parquet: shard, row, types, reasons; sorted as DATA is.
    """
    with Listed(rejected) as listed:
        for shard, opened, whole in zip(dataset.shards, dataset.opened, intact, strict=True):
            if opened is not None and whole:
                found = listed.take(shard.name, opened.rows)
                yield Kept(shard, opened, np.zeros(0, np.int64) if found is None else found.rows)
            listed.skip(shard.name)


def with_fingerprint(schema: pa.Schema, fingerprint: str | None, folder: Path | None = None) -> pa.Schema:
    """Return a schema whose metadata names the tokenizer.

    Args:
        schema: What a shard says itself is left as it is.
        fingerprint: Of the tokenizer by which it was judged; None where none was given.
        folder: The shard's, whose dataset_info.json may say it for the shard.
    """
    told = tokenizer_of(schema, folder)
    named = fingerprint if told is None else told
    if named is None:
        return schema
    return schema.with_metadata({**(schema.metadata or {}), TOKENIZER.encode(): named.encode()})
