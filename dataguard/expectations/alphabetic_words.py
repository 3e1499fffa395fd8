"""Rows of numbers, rules and debris: few of what stands between white space are words (Gopher's rule)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from dataguard.expectations.base import Fraction, Judgement, first_reason
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.text import TextExpectation
from dataguard.metrics.text import OfText
from dataguard.metrics.words import Words


class ExpectAlphabeticWordFractionToBeAbove(TextExpectation):
    """At least min_fraction of a text's words have a letter of any script; a text without words holds."""

    reasons: ClassVar[tuple[str, ...]] = ("few_letters",)
    fix: ClassVar[str] = "leave these rows out, or allow their source less with by_source (tables, code)"
    value_name: ClassVar[str] = "share of words with a letter"

    min_fraction: Fraction = 0.8

    def text_metrics(self, context: Context) -> Sequence[OfText]:
        return (self.of(Words, context),)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        counted = self.of(Words, context)
        share = counted["with_letter"] / counted["words"]
        return Judgement(
            missing=self.no_text(counted, context),
            reason=first_reason(((counted["words"] > 0) & (share < self.min_fraction), "few_letters")),
            value=share.round(6),
        )
