"""How long rows are, and which are null."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from dataguard.metrics.base import Metric, Numbers
from dataguard.shards.batch import Batch


@dataclass(frozen=True)
class Lengths(Metric):
    """Tokens of a row as stored, and whether it, or an element of it, is null (0, NULL_ROW or NULL_ELEMENT)."""

    gives: ClassVar[Mapping[str, Any]] = {"length": pl.Int32, "nulls": pl.UInt8}
    column: str

    def reads(self) -> tuple[str, ...]:
        return (self.column,)

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.column)
        return {"length": column.lengths, "nulls": column.nulls}
