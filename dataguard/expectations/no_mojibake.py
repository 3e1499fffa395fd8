"""UTF-8 that was read as Latin-1 or CP1252: every letter with an accent is two wrong ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from dataguard.expectations.base import Judgement, first_reason
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.text import TextExpectation
from dataguard.metrics.mojibake import Mojibake
from dataguard.metrics.text import OfText


class ExpectNoMojibake(TextExpectation):
    """A text holds no character of UTF-8 that was read as Latin-1 or CP1252; real words with such letters hold."""

    reasons: ClassVar[tuple[str, ...]] = ("mojibake",)
    fix: ClassVar[str] = "read the source as UTF-8 (or mend it, as ftfy does), and tokenize again"
    value_name: ClassVar[str] = "characters read wrongly"

    def text_metrics(self, context: Context) -> Sequence[OfText]:
        return (self.of(Mojibake, context),)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        mojibake = self.of(Mojibake, context)
        return Judgement(
            missing=self.no_text(mojibake, context),
            reason=first_reason((mojibake["wrong"] > 0, "mojibake")),
            position=mojibake["wrong_at"],
            value=mojibake["wrong"],
        )
