"""NUL bytes, escapes and bells: binary that was read as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from dataguard.expectations.base import Judgement, first_reason, words
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.text import TextExpectation
from dataguard.metrics.marks import Marks
from dataguard.metrics.text import OfText


class ExpectNoControlCharacters(TextExpectation):
    """A text has no control characters (Unicode's C0, DEL and C1) but tab, carriage return and line feed."""

    reasons: ClassVar[tuple[str, ...]] = ("control_character",)
    fix: ClassVar[str] = "take them out before tokenizing, or leave these rows out"
    value_name: ClassVar[str] = "control characters"

    def text_metrics(self, context: Context) -> Sequence[OfText]:
        return (self.of(Marks, context),)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        marks = self.of(Marks, context)
        return Judgement(
            missing=self.no_text(marks, context),
            reason=first_reason((marks["controls"] > 0, "control_character")),
            position=marks["control_at"],
            value=marks["controls"],
            detail=words("the first is code point {}", marks["control"]),
        )
