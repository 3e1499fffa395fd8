"""Words of hundreds of characters: base64, minified code, a crawl that lost its white space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from dataguard.expectations.base import Judgement, first_reason
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.text import TextExpectation
from dataguard.metrics.text import OfText
from dataguard.metrics.words import Words


class ExpectWordsToBeShorterThan(TextExpectation):
    """No word has more than max_characters; scripts without white space between words (CJK, Thai, Khmer, …) have none."""

    reasons: ClassVar[tuple[str, ...]] = ("long_word",)
    fix: ClassVar[str] = "leave these rows out, or allow their source more with by_source (code has long literals)"
    value_name: ClassVar[str] = "characters"

    max_characters: Annotated[int, Field(ge=1)] = 200

    def text_metrics(self, context: Context) -> Sequence[OfText]:
        return (self.of(Words, context),)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        counted = self.of(Words, context)
        return Judgement(
            missing=self.no_text(counted, context),
            reason=first_reason((counted["longest"] > self.max_characters, "long_word")),
            position=counted["longest_at"],
            value=counted["longest"],
        )
