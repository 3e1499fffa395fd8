"""Damage that only copying brings to light: in columns that no expectation reads, or since numbers were stored.

A Parquet column that nobody asks for is not decoded, and a file that looks unchanged is not read again. So rows may be judged
well whose shard cannot be copied. That is the shard's finding, like any other damage: the data set is judged again with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from dataguard.errors import OutputError, ShardFault
from dataguard.run.dataset import Dataset
from dataguard.shards.model import Unit


class FoundLate(Exception):
    """A shard turned out not to be intact while its rows were copied."""

    def __init__(self, shard: str, fault: ShardFault) -> None:
        self.shard, self.fault = shard, fault
        super().__init__(f"{shard}: {fault}")


def not_copied(what: str, shard: str, fault: ShardFault) -> Exception:
    """Return what to raise where a shard's rows cannot be copied: data in motion is not judged again, but refused."""
    if fault.reason != "unreadable":
        return FoundLate(shard, fault)
    return OutputError(
        f"{what} cannot be written: a shard changed during the run", where=shard, why=fault.detail, fix="run again"
    )


@dataclass(frozen=True)
class Damaged:
    """A shard of which it is known that it cannot be read; see `OpenShard`. Nothing stored of it is taken for true."""

    layout: str
    schema: pa.Schema
    rows: int
    units: Sequence[Unit]
    fault: ShardFault

    def read(self, unit: Unit, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Raise the fault.

        Raises:
            ShardFault: Always.
        """
        raise self.fault


def with_damage(dataset: Dataset, late: FoundLate) -> Dataset:
    """Return a data set in which the shard is known to be damaged."""
    place = [shard.name for shard in dataset.shards].index(late.shard)
    whole = dataset.opened[place]
    assert whole is not None  # its rows were judged
    damaged = Damaged(whole.layout, whole.schema, whole.rows, whole.units, late.fault)
    return replace(dataset, opened=(*dataset.opened[:place], damaged, *dataset.opened[place + 1 :]))
