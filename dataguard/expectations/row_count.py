"""A data set that lost its rows, or doubled them, trains all the same."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from dataguard.expectations.base import Expectation, Level, Outcome
from dataguard.expectations.bounds import demand_order
from dataguard.expectations.context import Context, MetricTable


class ExpectRowCountToBeBetween(Expectation):
    """The rows of all intact shards together are at least min_value and at most max_value."""

    level: ClassVar[Level] = "dataset"
    reasons: ClassVar[tuple[str, ...]] = ("too_few_rows", "too_many_rows")
    fix: ClassVar[str] = "look at the job that wrote the shards: rows were lost or written twice"

    min_value: Annotated[int, Field(ge=0)] | None = 1
    max_value: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        demand_order(self, "min_value", "max_value")
        return self

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        rows = sum(shard.rows for shard in context.intact)
        reason = None
        if self.min_value is not None and rows < self.min_value:
            reason = "too_few_rows"
        elif self.max_value is not None and rows > self.max_value:
            reason = "too_many_rows"
        empty = [shard.name for shard in context.intact if shard.rows == 0]
        details = {"reasons": {reason: 1} if reason else {}, "empty_shards": empty}
        return Outcome(
            success=reason is None,
            observed_value=rows,
            details={key: value for key, value in details.items() if value},
        )
