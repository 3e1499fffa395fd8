"""A null where token ids should be stops the collator, or is read as whatever lay there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from dataguard.expectations.base import Judgement, RowExpectation, first_reason
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths
from dataguard.shards.batch import NULL_ELEMENT, NULL_ROW


class ExpectRowsNotToBeNull(RowExpectation):
    """No row of the column is null, and no element inside one."""

    reasons: ClassVar[tuple[str, ...]] = ("null_row", "null_element")
    fix: ClassVar[str] = "drop these rows, or write an empty list where nothing is meant"

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (Lengths(self.column),)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        nulls = Lengths(self.column)["nulls"]
        reason = first_reason((nulls == NULL_ROW, "null_row"), (nulls == NULL_ELEMENT, "null_element"))
        return Judgement(missing=pl.lit(value=False), reason=reason)
