"""Where pad is eos, a mask made by value ignores every eos in the labels: the model never learns to stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

import polars as pl
from pydantic import Field

from dataguard.expectations.base import Expectation, Fraction, Level, Outcome, TokenNumber
from dataguard.expectations.content import null_or_empty
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths
from dataguard.metrics.targets import EndTarget
from dataguard.shards.roles import LABELS, companion


class ExpectEosToBeSupervised(Expectation):
    """Of the rows that end with eos (one of stop_ids), at least min_fraction are supervised there.

    Judged over the whole data set; where no row ends so there is nothing to judge, and that is noted.
    """

    level: ClassVar[Level] = "dataset"
    reasons: ClassVar[tuple[str, ...]] = ("eos_never_supervised",)
    fix: ClassVar[str] = "mask labels by the attention mask, not by the pad id; or give pad an id of its own"

    stop_ids: Annotated[tuple[TokenNumber, ...], Field(min_length=1)] | None = None
    min_fraction: Fraction = 0.01
    ignore_index: TokenNumber = -100

    def needs(self, context: Context) -> Sequence[str]:
        return ("eos",) if self.stop_ids is None else ()

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column, companion(self.column, LABELS))

    def _end(self, context: Context) -> EndTarget:
        return EndTarget(context.attention(self.column), self.ignore_index)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (Lengths(self.column), self._end(context))

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        end, stops = self._end(context), list(self.stop_ids or (context.vocabulary.eos,))
        ended = (~null_or_empty(self.column) & end["paired"] & end["last"].is_in(stops)).fill_null(value=False)
        counts = table.collect(
            pl.len().alias("rows"), ended.sum().alias("ended"), (ended & end["supervised"]).sum().alias("supervised")
        )
        rows, ending, supervised = (int(counts[name] or 0) for name in ("rows", "ended", "supervised"))
        observed = {"rows": ending, "supervised": supervised, "fraction": supervised / ending if ending else None}
        missing = rows - ending
        if not ending:
            notes = [f"no row ends with {', '.join(map(str, stops))}: there is no eos to look at"]
            return Outcome(True, rows, 0, missing, observed, details={"notes": notes})
        if supervised >= self.min_fraction * ending:
            return Outcome(True, rows, 0, missing, observed)
        reason = self.reasons[0]
        details = {"reasons": {reason: ending - supervised}}
        return Outcome(False, rows, ending - supervised, missing, observed, details=details)
