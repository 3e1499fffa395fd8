"""A mask or labels of another length than the ids are paired with the wrong tokens, or stop the collator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

import polars as pl
from pydantic import Field

from dataguard.expectations.base import CannotJudge, Judgement, RowExpectation, first_reason
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths
from dataguard.shards.batch import NULL_ROW
from dataguard.shards.roles import INPUT_IDS, PER_TOKEN, companion, role_of


class ExpectColumnsToHaveEqualLengths(RowExpectation):
    """In every row the columns have as many values as there are ids; a column that is null there is left out."""

    reasons: ClassVar[tuple[str, ...]] = tuple(f"{role}_length" for role in PER_TOKEN)
    fix: ClassVar[str] = "truncate and pad all columns of a row together"
    value_name: ClassVar[str] = "length"

    columns: Annotated[tuple[str, ...], Field(min_length=1)] | None = None

    @property
    def _base(self) -> str:
        """The column that the others are compared with."""
        return self.column if self.columns is None or self.column in self.columns else self.columns[0]

    def _others(self, context: Context) -> list[str]:
        """Return the columns that are compared with the ids; without any told, every per-token role that is there."""
        if self.columns is not None:
            return [each for each in self.columns if each != self._base]
        return [each for role in PER_TOKEN if context.has(each := companion(self.column, role))]

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self._base, *(self.columns or ()))

    def metrics(self, context: Context) -> Sequence[Metric]:
        return [Lengths(each) for each in (self._base, *self._others(context))]

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        if self.columns is not None and not self._others(context):
            raise CannotJudge("there is nothing to compare", "name another column in `columns`")
        own = Lengths(self._base)
        cases, value = [], pl.lit(None)
        for each in reversed(self._others(context)):
            other = Lengths(each)
            differs = (other["nulls"] != NULL_ROW) & (other["length"] != own["length"])
            cases.append((differs.fill_null(value=False), f"{_named(each)}_length"))
            value = pl.when(differs).then(other["length"]).otherwise(value)
        reason = first_reason(*reversed(cases)) if cases else pl.lit(None, pl.String)
        return Judgement(missing=own["nulls"] == NULL_ROW, reason=reason, value=value)


def _named(column: str) -> str:
    """Return the role of a column, or its name where that stands for none."""
    role = role_of(column)
    return column if role == INPUT_IDS else role
