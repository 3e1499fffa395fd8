"""A row without content costs a step, and makes a mean over no tokens: NaN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from dataguard.expectations.base import Judgement, RowExpectation, first_reason
from dataguard.expectations.content import content_metrics, content_of
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths


class ExpectRowsNotToBeEmpty(RowExpectation):
    """Every row has attended tokens that are no special tokens and spell more than white space."""

    reasons: ClassVar[tuple[str, ...]] = ("no_tokens", "nothing_attended", "only_special_tokens", "blank_text")
    fix: ClassVar[str] = "drop these rows before packing or padding"

    ignore_special: bool = True

    def metrics(self, context: Context) -> Sequence[Metric]:
        return content_metrics(context, self.column)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        lengths, content = Lengths(self.column), content_of(context, self.column)
        cases = [(lengths["length"] == 0, "no_tokens"), (content["attended"] == 0, "nothing_attended")]
        if self.ignore_special:
            cases.append((content["content"] == 0, "only_special_tokens"))
        cases.append((content["blank"], "blank_text"))
        unpaired = ~content["paired"] & (lengths["length"] > 0)
        return Judgement(missing=(lengths["nulls"] != 0) | unpaired, reason=first_reason(*cases))
