"""One row that holds most of all tokens is a concatenated file, not a sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

import polars as pl
from pydantic import Field

from dataguard.expectations.base import Fraction, Judgement, RowExpectation, first_reason, words
from dataguard.expectations.content import content_metrics, content_of, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.result import Severity


class ExpectRowTokenShareToBeBelow(RowExpectation):
    """No row holds more than max_share of all attended tokens; a data set of fewer than min_rows rows holds."""

    default_severity: ClassVar[Severity] = "warning"
    reasons: ClassVar[tuple[str, ...]] = ("huge_row",)
    fix: ClassVar[str] = "see what joined so many documents into one row, and split it"
    value_name: ClassVar[str] = "share of all tokens"

    max_share: Fraction = 0.5
    min_rows: Annotated[int, Field(ge=1)] = 20

    def metrics(self, context: Context) -> Sequence[Metric]:
        return content_metrics(context, self.column)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        attended, missing = content_of(context, self.column)["attended"], without_content(context, self.column)
        rows, tokens = (0, 0) if table is None else _totals(table, attended, missing)
        share = attended / max(tokens, 1)
        huge = (share > self.max_share) & pl.lit(rows >= self.min_rows)
        return Judgement(
            missing=missing,
            reason=first_reason((huge, "huge_row")),
            value=share.round(6),
            detail=words(f"{{}} of {tokens} tokens", attended),
        )


def _totals(table: MetricTable, attended: pl.Expr, missing: pl.Expr) -> tuple[int, int]:
    """Return how many rows of the whole data set are judged, and their tokens."""
    judged = ~missing.fill_null(value=True)
    totals = table.collect(judged.sum().alias("rows"), attended.filter(judged).cast(pl.Int64).sum().alias("tokens"))
    return int(totals["rows"] or 0), int(totals["tokens"] or 0)
