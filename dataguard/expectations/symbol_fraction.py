"""Rows of symbols and punctuation: markup debris, tables, binary read as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from dataguard.expectations.base import Fraction, Judgement, RowExpectation, first_reason
from dataguard.expectations.content import characters_of, content_metrics, content_of, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric


class ExpectSymbolFractionToBeBelow(RowExpectation):
    """At most this share of a row's visible characters are symbols or punctuation; rows of few tokens hold."""

    reasons: ClassVar[tuple[str, ...]] = ("symbol_heavy",)
    fix: ClassVar[str] = "leave these rows out, or allow their source more with by_source"
    value_name: ClassVar[str] = "share of symbols"

    max_fraction: Fraction = 0.5
    min_tokens: Annotated[int, Field(ge=0)] = 10

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (*content_metrics(context, self.column), characters_of(context, self.column))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        characters, content = characters_of(context, self.column), content_of(context, self.column)
        share = characters["symbols"] / characters.visible
        heavy = (content["content"] >= self.min_tokens) & (characters.visible > 0) & (share > self.max_fraction)
        return Judgement(
            missing=without_content(context, self.column),
            reason=first_reason((heavy, "symbol_heavy")),
            value=share.round(6),
        )
