"""Rows without a source, or of one that nobody planned, escape the mixture and every judgement by source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from dataguard.expectations.base import Judgement, RowExpectation, first_reason
from dataguard.expectations.context import Context, MetricTable


class ExpectSourcesToBeKnown(RowExpectation):
    """Every row has a source, and one of those allowed where they are told."""

    reasons: ClassVar[tuple[str, ...]] = ("missing_source", "unknown_source")
    fix: ClassVar[str] = "write the source of these rows, or add it to `allowed`"

    allowed: tuple[str, ...] | None = None

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        source = pl.col("source")
        cases = [(source.is_null(), "missing_source")]
        unknown = {} if self.allowed is None else _others(context.sources, self.allowed)
        if unknown:
            cases.append((source.is_in(list(unknown)), "unknown_source"))
        return Judgement(
            missing=pl.lit(value=False),
            reason=first_reason(*cases),
            detail=source.replace_strict(list(unknown), list(unknown.values()), default=None, return_dtype=pl.String),
        )


def _others(sources: Sequence[str], allowed: Sequence[str]) -> dict[int, str]:
    """Return the sources that are not allowed, by their places."""
    return {place: name for place, name in enumerate(sources) if name not in allowed}
