"""A prompt that is learned teaches the model to ask; one masked too far never teaches it how to begin an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import polars as pl

from dataguard.expectations.base import Judgement, Outcome, RowExpectation, TokenNumber, first_reason
from dataguard.expectations.content import null_or_empty, told_of_lacking
from dataguard.expectations.context import PROMPT_TOLD, Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths
from dataguard.metrics.prompts import PromptLabels
from dataguard.shards.roles import LABELS, PROMPT_IDS, PROMPT_LENGTH, companion


class ExpectPromptToBeIgnoredInLabels(RowExpectation):
    """No label of the prompt is supervised, unless it is learned too; the label of the first token behind it is.

    The prompt is counted in tokens of the unshifted row, from the first attended one: by prompt_length, where that is null by
    the length of prompt_ids. A row that ends with its prompt has nothing behind it. The two sides of a preference pair may
    share one prompt.
    """

    reasons: ClassVar[tuple[str, ...]] = ("prompt_supervised", "first_target_masked")
    fix: ClassVar[str] = "mask as many labels as the prompt has tokens; one less where labels are shifted already"
    value_name: ClassVar[str] = "label"

    train_on_prompt: bool = False
    shift: Literal[0, 1] = 0
    ignore_index: TokenNumber = -100

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column, companion(self.column, LABELS))

    def one_column_of(self, context: Context) -> str:
        own = companion(self.column, PROMPT_TOLD)
        return own if context.has_one_of(own) else PROMPT_TOLD

    def _labels(self, context: Context) -> PromptLabels:
        own = self.one_column_of(context).removesuffix(PROMPT_TOLD)
        return PromptLabels(
            context.attention(self.column), own + PROMPT_LENGTH, own + PROMPT_IDS, self.shift, self.ignore_index
        )

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (Lengths(self.column), self._labels(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        found = self._labels(context)
        learned = (found["supervised"] > 0) & (not self.train_on_prompt)
        return Judgement(
            missing=null_or_empty(self.column) | ~found["paired"] | ~found["told"],
            reason=first_reason((learned, "prompt_supervised"), (found["masked"] >= 0, "first_target_masked")),
            position=pl.when(learned).then(found["position"]).otherwise(found["masked"]),
            value=pl.when(learned).then(found["value"]),
        )

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        found = self._labels(context)
        lacking = ~null_or_empty(self.column) & found["paired"] & ~found["told"]
        what = "tell no length of their prompt (null or negative)"
        return told_of_lacking(super().judge(table, context), table, lacking, self.one_column_of(context), what)
