"""A row longer than the model's context is cut or stops the run; one far too short wastes a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from dataguard.expectations.base import CannotJudge, Judgement, RowExpectation, first_reason
from dataguard.expectations.bounds import demand_order
from dataguard.expectations.content import null_or_empty
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths


class ExpectSequenceLengthsToBeBetween(RowExpectation):
    """Every row has at least min_length and at most max_length tokens as stored, less `extra`, in steps of multiple_of."""

    reasons: ClassVar[tuple[str, ...]] = ("too_short", "too_long", "not_multiple")
    fix: ClassVar[str] = "truncate or split these rows to the length that the run is configured for"
    value_name: ClassVar[str] = "length"

    min_length: Annotated[int, Field(ge=0)] | None = None
    max_length: Annotated[int, Field(ge=1)] | None = None
    multiple_of: Annotated[int, Field(ge=1)] | None = None
    extra: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        demand_order(self, "min_length", "max_length")
        return self

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (Lengths(self.column),)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        stored = Lengths(self.column)["length"]
        length = stored - self.extra
        cases = []
        if self.min_length is not None:
            cases.append((length < self.min_length, "too_short"))
        if self.max_length is not None:
            cases.append((length > self.max_length, "too_long"))
        if self.multiple_of is not None:
            cases.append((length % self.multiple_of != 0, "not_multiple"))
        if not cases:
            fix = f"give min_length, multiple_of or {context.way_to_give('max_length')}"
            raise CannotJudge("no length is asked for", fix)
        return Judgement(missing=null_or_empty(self.column), reason=first_reason(*cases), value=stored)
