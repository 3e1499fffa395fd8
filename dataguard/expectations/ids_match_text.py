"""Ids of another tokenizer, or of another text, than the one that stands beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from dataguard.expectations.base import CannotJudge, Fraction, Judgement, Outcome, RowExpectation, first_reason
from dataguard.expectations.content import content_metrics, told_of_lacking, without_content
from dataguard.expectations.context import VOCABULARY_FIELDS, Context, MetricTable
from dataguard.expectations.text import WITHOUT_TEXT
from dataguard.metrics.base import Metric
from dataguard.metrics.text_ids import JUDGED, NO_TEXT, REFUSED, TextIds
from dataguard.result import Severity, Unjudged
from dataguard.shards.roles import companion


class ExpectIdsToMatchText(RowExpectation):
    """At most this share of a row's ids are other than those that the given tokenizer makes of its text.

    Special tokens, padding, and what the row was cut from are left aside. Rows without a text are not judged.
    """

    default_severity: ClassVar[Severity] = "warning"
    reasons: ClassVar[tuple[str, ...]] = ("other_ids",)
    fix: ClassVar[str] = "tokenize the text of these rows again, or give the tokenizer that made them"
    value_name: ClassVar[str] = "share of other ids"

    max_fraction: Fraction = 0.02

    def needs(self, context: Context) -> Sequence[str]:
        return (companion(self.column, "text"), "encoder")

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column, companion(self.column, "text"))

    def _ids(self, context: Context) -> TextIds:
        encoder = context.vocabulary.encoder
        if encoder is None or encoder.fault is not None:
            raise CannotJudge(*VOCABULARY_FIELDS["encoder"])
        return TextIds(context.attention(self.column), context.vocabulary.special_ids, encoder)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (*content_metrics(context, self.column), self._ids(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        ids = self._ids(context)
        share = ids["other"] / (ids["equal"] + ids["other"])
        return Judgement(
            missing=without_content(context, self.column) | (ids["state"] != JUDGED),
            reason=first_reason((share > self.max_fraction, "other_ids")),
            position=ids["position"],
            value=share.round(6),
        )

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        state = self._ids(context)["state"]
        lacking = ~without_content(context, self.column) & (state == NO_TEXT)
        text = companion(self.column, "text")
        outcome = told_of_lacking(super().judge(table, context), table, lacking, text, WITHOUT_TEXT)
        refused = table.collect((state == REFUSED).sum().alias("rows"))["rows"]
        if not refused:
            return outcome
        unjudged = Unjudged(
            f"the tokenizer refuses the text of {refused:,} rows",
            "give a tokenizer.json whose model has an unknown token for what it cannot spell",
        )
        return replace(outcome, success=False, unjudged=outcome.unjudged or unjudged)
