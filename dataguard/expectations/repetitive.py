"""Rows that say the same over and over: templates, boilerplate, a model that was stuck in a loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import polars as pl
from pydantic import Field

from dataguard.expectations.base import Fraction, Judgement, RowExpectation, first_reason
from dataguard.expectations.content import content_metrics, ignored_white, notes_on_white, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.repetition import LEAST, MOST_NGRAM, Repetition


class ExpectRowsNotToBeRepetitive(RowExpectation):
    """At most this share of a row's tokens is covered by n-grams already seen in the row; rows of few tokens hold."""

    reasons: ClassVar[tuple[str, ...]] = ("repetitive",)
    default_severity = "warning"
    fix: ClassVar[str] = "leave these rows out, or allow their source more with by_source"
    value_name: ClassVar[str] = "share of repeated tokens"

    ngram: Annotated[int, Field(ge=1, le=MOST_NGRAM)] = 10
    max_duplicate_fraction: Fraction = 0.7
    min_tokens: Annotated[int, Field(ge=0)] = 50
    ignore_white_space: bool = True

    def _repetition(self, context: Context) -> Repetition:
        ignored = ignored_white(context, ignore=self.ignore_white_space)
        at_least = min(LEAST, self.max_duplicate_fraction)
        return Repetition(context.attention(self.column), context.vocabulary.special_ids, ignored, self.ngram, at_least)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (*content_metrics(context, self.column), self._repetition(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        repetition = self._repetition(context)
        enough = repetition["counted"] >= self.min_tokens
        return Judgement(
            missing=without_content(context, self.column),
            reason=first_reason((enough & (repetition.share > self.max_duplicate_fraction), "repetitive")),
            value=repetition.share.round(6),
        )

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        return {"notes": notes_on_white(context, ignore=self.ignore_white_space)}
