"""Rows of white space: layout that lost its text, indentation under tokenizers that spell it space by space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from dataguard.expectations.base import CannotJudge, Fraction, Judgement, RowExpectation, first_reason
from dataguard.expectations.content import content_metrics, content_of, without_content
from dataguard.expectations.context import VOCABULARY_FIELDS, Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.white import WhiteSpace


class ExpectWhiteSpaceFractionToBeBelow(RowExpectation):
    """At most this share of a row's ids is white space alone; rows of few tokens hold."""

    reasons: ClassVar[tuple[str, ...]] = ("white_space_heavy",)
    default_severity = "warning"
    fix: ClassVar[str] = "leave these rows out, or allow their source more with by_source"
    value_name: ClassVar[str] = "share of white space"

    max_fraction: Fraction = 0.9
    min_tokens: Annotated[int, Field(ge=0)] = 50

    def _white_space(self, context: Context) -> WhiteSpace:
        table = context.vocabulary.characters
        if table is None:
            raise CannotJudge(*VOCABULARY_FIELDS["characters"])
        return WhiteSpace(context.attention(self.column), context.vocabulary.special_ids, table)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (*content_metrics(context, self.column), self._white_space(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        content = content_of(context, self.column)["content"]
        share = self._white_space(context)["white"] / content
        return Judgement(
            missing=without_content(context, self.column),
            reason=first_reason(((content >= self.min_tokens) & (share > self.max_fraction), "white_space_heavy")),
            value=share.round(6),
        )
