"""Text that the tokenizer cannot spell: every unknown token is one lost piece of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from dataguard.expectations.base import Fraction, Judgement, RowExpectation, first_reason
from dataguard.expectations.content import content_metrics, content_of, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.occurrences import unknown
from dataguard.result import Severity


class ExpectUnknownTokenFractionToBeBelow(RowExpectation):
    """At most this share of a row's attended, non-special tokens is unk."""

    default_severity: ClassVar[Severity] = "warning"
    reasons: ClassVar[tuple[str, ...]] = ("many_unknown",)
    fix: ClassVar[str] = "use a tokenizer that knows the language of these rows, or leave them out"
    value_name: ClassVar[str] = "share of unk"

    max_fraction: Fraction = 0.1

    def needs(self, context: Context) -> Sequence[str]:
        return ("unk",)

    def metrics(self, context: Context) -> Sequence[Metric]:
        unk = unknown(context.attention(self.column), context.vocabulary)
        return (*content_metrics(context, self.column), unk)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        unk = unknown(context.attention(self.column), context.vocabulary)
        share = unk.total / content_of(context, self.column)["content"]
        return Judgement(
            missing=without_content(context, self.column),
            reason=first_reason((share > self.max_fraction, "many_unknown")),
            value=share.round(6),
        )
