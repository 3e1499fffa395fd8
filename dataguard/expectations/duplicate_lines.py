"""Lines that a text says again and again: menus, boilerplate, scraped lists (Gopher's rule, as datatrove has it)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from dataguard.expectations.base import Fraction, Judgement, first_reason, words
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.text import TextExpectation
from dataguard.metrics.lines import Lines
from dataguard.metrics.text import OfText


class ExpectDuplicateLineFractionToBeBelow(TextExpectation):
    """At most max_fraction of a text's lines stood there before, with at most max_character_fraction of its characters.

    The first copy of a line is none, and lines of nothing but white space are no lines. The value is the share that is too
    large, of lines where both are.
    """

    reasons: ClassVar[tuple[str, ...]] = ("duplicate_lines",)
    fix: ClassVar[str] = "leave these rows out, or allow their source more with by_source (code repeats lines)"
    value_name: ClassVar[str] = "share of repeated lines or characters"

    max_fraction: Fraction = 0.3
    max_character_fraction: Fraction = 0.2

    def text_metrics(self, context: Context) -> Sequence[OfText]:
        return (self.of(Lines, context),)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        lines = self.of(Lines, context)
        of_lines, of_characters = lines["repeated"] / lines["lines"], lines["repeated_characters"] / lines["characters"]
        by_lines, by_characters = of_lines > self.max_fraction, of_characters > self.max_character_fraction
        repeated = lines["repeated"] > 0
        return Judgement(
            missing=self.no_text(lines, context),
            reason=first_reason((repeated & (by_lines | by_characters), "duplicate_lines")),
            position=lines["repeated_at"],
            value=pl.when(by_lines).then(of_lines).otherwise(of_characters).round(6),
            detail=words("{} of {} lines stood there before", lines["repeated"], lines["lines"]),
        )
