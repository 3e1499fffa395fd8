"""Any number of a row between two bounds, without a line of Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

from pydantic import WithJsonSchema, field_validator, model_validator

from dataguard.errors import nearest
from dataguard.expectations.base import CannotJudge, Judgement, RowExpectation, first_reason
from dataguard.expectations.bounds import demand_order
from dataguard.expectations.content import content_metrics, null_or_empty, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.named import NUMBERS, Number, Tokens
from dataguard.shards.roles import PER_TOKEN, companion


class ExpectMetricToBeBetween(RowExpectation):
    """A number of every row is at least min_value and at most max_value; `dataguard catalogue --metrics` lists the numbers.

    Rows that have no such number (no content, a share of nothing) are left out.
    """

    reasons: ClassVar[tuple[str, ...]] = ("below", "above")
    fix: ClassVar[str] = "look at these rows with dataguard show, and leave them out or widen the bounds"
    value_name: ClassVar[str] = "metric"

    metric: Annotated[str, WithJsonSchema({"type": "string", "enum": sorted(NUMBERS)})]
    min_value: int | float | None = None
    max_value: int | float | None = None

    @field_validator("metric")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in NUMBERS:
            msg = f"no number has this name, {nearest(name, NUMBERS)}"
            raise ValueError(msg)
        return name

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        demand_order(self, "min_value", "max_value")
        return self

    @property
    def number(self) -> Number:
        """What is bounded."""
        return NUMBERS[self.metric]

    def _all_needs(self) -> list[str]:
        """Return what the number needs, or that of any source, roles under the column's own prefix."""
        needs = {need: None for each in (self, *self.variants().values()) for need in each.number.needs}
        return [companion(self.column, need) if need in PER_TOKEN else need for need in needs]

    def needs(self, context: Context) -> Sequence[str]:
        return self._all_needs()

    def columns_read(self, context: Context) -> Sequence[str]:
        companions = [companion(self.column, role) for role in PER_TOKEN]
        return (self.column, *(need for need in self._all_needs() if need in companions))

    def _tokens(self, context: Context) -> Tokens:
        for need in self._all_needs():
            absent = context.absent(need, {})
            if absent is not None:
                raise CannotJudge(absent.missing, absent.fix)
        return Tokens(context.attention(self.column), context.vocabulary)

    def metrics(self, context: Context) -> Sequence[Metric]:
        own = self.number.metrics(self._tokens(context))
        return (*content_metrics(context, self.column), *own)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        value = self.number.value(self._tokens(context))
        cases = []
        if self.min_value is not None:
            cases.append((value < self.min_value, "below"))
        if self.max_value is not None:
            cases.append((value > self.max_value, "above"))
        if not cases:
            raise CannotJudge("no bound is given", "give min_value, max_value or both")
        others = without_content(context, self.column) if self.number.of_content else null_or_empty(self.column)
        return Judgement(
            missing=others | value.is_null(),
            reason=first_reason(*cases),
            value=value.round(6),
        )
