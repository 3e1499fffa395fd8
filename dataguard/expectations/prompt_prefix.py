"""A prompt that was tokenized by itself may end in other tokens than it has in the row: what is masked by its length is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from dataguard.expectations.base import Judgement, Outcome, RowExpectation, first_reason, words
from dataguard.expectations.content import null_or_empty, told_of_lacking
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths
from dataguard.metrics.prompts import PromptPrefix
from dataguard.shards.roles import PROMPT_IDS, companion


class ExpectPromptToBePrefix(RowExpectation):
    """Every row begins with its prompt_ids, as it is stored or without padding on both sides.

    Of a row that was cut inside its prompt what is left is compared. The two sides of a preference pair may share one prompt.
    """

    reasons: ClassVar[tuple[str, ...]] = ("not_prefix",)
    fix: ClassVar[str] = "tokenize prompt and answer apart and join the ids, or mask by offsets into the whole text"
    value_name: ClassVar[str] = "id"

    def columns_read(self, context: Context) -> Sequence[str]:
        own = companion(self.column, PROMPT_IDS)
        return (self.column, own if context.has(own) else PROMPT_IDS)

    def _prefix(self, context: Context) -> PromptPrefix:
        return PromptPrefix(context.attention(self.column), self.columns_read(context)[-1])

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (Lengths(self.column), Lengths(self.columns_read(context)[-1]), self._prefix(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        found = self._prefix(context)
        return Judgement(
            missing=null_or_empty(self.column) | ~found["told"],
            reason=first_reason((found["place"] >= 0, "not_prefix")),
            position=found["place"],
            value=found["value"],
            detail=words("the prompt has {} there", found["wanted"]),
        )

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        prompt = self.columns_read(context)[-1]
        lacking = ~null_or_empty(self.column) & (Lengths(prompt)["nulls"] != 0)
        what = "have no prompt (null, or a null in it)"
        return told_of_lacking(super().judge(table, context), table, lacking, prompt, what)
