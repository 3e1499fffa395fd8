"""A row without a target makes a mean loss NaN, or trains on nothing in silence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

import polars as pl
from pydantic import Field, model_validator

from dataguard.expectations.base import Judgement, RowExpectation, TokenNumber, first_reason
from dataguard.expectations.bounds import demand_order
from dataguard.expectations.content import content_metrics, content_of, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.labels import Labels
from dataguard.shards.roles import LABELS, companion


class ExpectSupervisedTokensToBeBetween(RowExpectation):
    """Every row has at least min_value and at most max_value targets: supervised labels that the loss really uses.

    Where the loss shifts (shift 0) the label at position 0 is none. `max_length` tells rows that lost their targets to
    truncation.
    """

    reasons: ClassVar[tuple[str, ...]] = ("no_target_truncated", "no_target", "too_few", "too_many")
    fix: ClassVar[str] = (
        "drop rows without a target; where truncation took them, cut the prompt instead or raise max_length"
    )
    value_name: ClassVar[str] = "targets"

    min_value: Annotated[int, Field(ge=0)] | None = 1
    max_value: Annotated[int, Field(ge=0)] | None = None
    shift: Literal[0, 1] = 0
    max_length: Annotated[int, Field(ge=1)] | None = None
    ignore_index: TokenNumber = -100

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        demand_order(self, "min_value", "max_value")
        return self

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column, companion(self.column, LABELS))

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (*content_metrics(context, self.column), Labels(self.column, self.ignore_index))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        labels = Labels(self.column, self.ignore_index)
        targets = labels["supervised"] if self.shift else labels["supervised"] - labels["at_start"]
        cases = []
        if self.min_value is not None and self.min_value > 0:
            none = targets == 0
            if self.max_length is not None:
                full = content_of(context, self.column)["attended"] >= self.max_length
                cases.append((none & full, "no_target_truncated"))
            cases += [(none, "no_target"), (targets < self.min_value, "too_few")]
        if self.max_value is not None:
            cases.append((targets > self.max_value, "too_many"))
        return Judgement(
            missing=without_content(context, self.column) | ~labels["paired"],
            reason=first_reason(*cases) if cases else pl.lit(None, pl.String),
            value=targets,
        )
