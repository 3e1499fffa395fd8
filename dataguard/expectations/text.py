"""What all expectations on a row's text have in common: where the text comes from, and whose row it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

import polars as pl

from dataguard.expectations.base import Outcome, RowExpectation
from dataguard.expectations.content import content_metrics, told_of_lacking, without_content
from dataguard.expectations.context import VOCABULARY_FIELDS, Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.text import OfText
from dataguard.result import Severity, Unjudged
from dataguard.shards.roles import TEXT, companion, is_text

Kind = TypeVar("Kind", bound=OfText)
WITHOUT_TEXT = "have no text (null)"


class TextExpectation(RowExpectation):
    """An expectation on a row's text: the `text` column where the shard has one, else what the row's content ids spell."""

    default_severity: ClassVar[Severity] = "warning"

    def text_metrics(self, context: Context) -> Sequence[OfText]:
        """Return the metrics of the text that it judges."""
        raise NotImplementedError

    def needs(self, context: Context) -> Sequence[str]:
        return () if len(self._without_text(context)) < len(context.intact) else ("characters",)

    def metrics(self, context: Context) -> Sequence[Metric]:
        readable = context.vocabulary.characters is not None or not self.needs(context)
        return (*content_metrics(context, self.column), *(self.text_metrics(context) if readable else ()))

    def unknown(self, context: Context) -> Unjudged | None:
        lacking = self._without_text(context)
        if not lacking or context.vocabulary.characters is not None:
            return None
        missing, fix = VOCABULARY_FIELDS["characters"]
        more = f" and {len(lacking) - 1:,} more" if len(lacking) > 1 else ""
        return Unjudged(f"{missing}, and {lacking[0]}{more} has no column of text", fix)

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        outcome = super().judge(table, context)
        has_text = self.text_metrics(context)[0]["present"]
        lacking = ~without_content(context, self.column) & ~has_text
        return told_of_lacking(outcome, table, lacking, companion(self.column, TEXT), WITHOUT_TEXT)

    def _without_text(self, context: Context) -> list[str]:
        """Return the shards whose text only ids tell."""
        role = companion(self.column, TEXT)
        return [shard.name for shard in context.intact if not is_text(shard.type_of(role))]

    def of(self, metric: type[Kind], context: Context) -> Kind:
        """Return a metric of this column's text."""
        vocabulary = context.vocabulary
        return metric(context.attention(self.column), vocabulary.special_ids, vocabulary.characters)

    def no_text(self, metric: OfText, context: Context) -> pl.Expr:
        """Return which rows are left to others: null or empty ones, and those whose text is null."""
        return without_content(context, self.column) | ~metric["present"]
