"""Control and image tokens that a row must have: where they were tokenized as plain text, nothing is out of range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

import polars as pl
from pydantic import Field, model_validator

from dataguard.expectations.base import Judgement, RowExpectation, TokenNumber, first_reason, words
from dataguard.expectations.bounds import demand_order
from dataguard.expectations.content import content_metrics, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.occurrences import Occurrences, RowNumber


class ExpectRowsToContainTokens(RowExpectation):
    """Each of these ids is attended at least min_count and at most max_count times in a row.

    `count_column` names a column that holds the right number for each row; it then stands for both bounds. A row without a
    number there is left out.
    """

    reasons: ClassVar[tuple[str, ...]] = ("missing_token", "too_few", "too_many")
    fix: ClassVar[str] = "register the special tokens before tokenizing, and tokenize these rows again"
    value_name: ClassVar[str] = "found"

    tokens: Annotated[tuple[TokenNumber, ...], Field(min_length=1)]
    min_count: Annotated[int, Field(ge=0)] = 1
    max_count: Annotated[int, Field(ge=0)] | None = None
    count_column: str | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.count_column is None:
            demand_order(self, "min_count", "max_count")
        return self

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column,) if self.count_column is None else (self.column, self.count_column)

    def _occurrences(self, context: Context) -> Occurrences:
        return Occurrences(context.attention(self.column), tuple(dict.fromkeys(self.tokens)))

    def metrics(self, context: Context) -> Sequence[Metric]:
        found: list[Metric] = [*content_metrics(context, self.column), self._occurrences(context)]
        return found if self.count_column is None else [*found, RowNumber(self.count_column)]

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        missing = without_content(context, self.column)
        least, most = pl.lit(self.min_count), pl.lit(self.max_count)
        if self.count_column is not None:
            right = RowNumber(self.count_column)
            missing |= ~right["there"]
            least = most = right["number"]
        occurrences = self._occurrences(context)
        counts = {token: occurrences.count_of(token) for token in occurrences.tokens}
        bad = [
            *((count == 0) & (least > 0) for count in counts.values()),
            *(count < least for count in counts.values()),
            *(count > most for count in counts.values()),
        ]
        reasons = [reason for reason in self.reasons for _ in counts]
        told = list(zip(bad, [*counts.items()] * len(self.reasons), strict=True))
        wanted = words("{}", least) if self.count_column else pl.lit(_bounds(self.min_count, self.max_count))
        return Judgement(
            missing=missing,
            reason=first_reason(*zip(bad, reasons, strict=True)),
            value=pl.coalesce([pl.when(case).then(count) for case, (_, count) in told]),
            detail=pl.coalesce(
                [pl.when(case).then(words("id {}, {} asked for", pl.lit(token), wanted)) for case, (token, _) in told]
            ),
        )


def _bounds(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {least}"
    return f"exactly {least}" if least == most else f"{least} to {most}"
