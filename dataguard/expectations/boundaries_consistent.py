"""Boundaries that do not fit their row cut documents in the middle, or read past its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from dataguard.expectations.base import Judgement, RowExpectation, first_reason
from dataguard.expectations.content import null_or_empty
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.documents import documents_of
from dataguard.metrics.base import Metric
from dataguard.metrics.boundaries import BEYOND, MISSING, NOT_RISING, WRONG_SUM
from dataguard.metrics.documents import BoundaryFaults
from dataguard.metrics.lengths import Lengths
from dataguard.shards.roles import BOUNDARIES, companion


class ExpectDocumentBoundariesToBeConsistent(RowExpectation):
    """cu_seqlens rise from 0 to the attended length, seq_lengths add up to it, and both agree with document_ids.

    Both may go to the end of the row instead, with the padding as a last segment of its own.
    """

    reasons: ClassVar[tuple[str, ...]] = ("beyond_row", "not_rising", "missing_boundary", "wrong_sum")
    fix: ClassVar[str] = "write boundaries from the lengths of the documents as packed, after truncation"
    value_name: ClassVar[str] = "boundary"

    def needs(self, context: Context) -> Sequence[str]:
        roles = [companion(self.column, role) for role in BOUNDARIES]
        if any(context.has(role) for role in roles):
            return ()
        return ("boundaries",) if roles == [*BOUNDARIES] else (roles[0],)

    def _faults(self, context: Context) -> BoundaryFaults:
        return BoundaryFaults(documents_of(context, self.column, by_eos=False))

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (Lengths(self.column), self._faults(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        found = self._faults(context)
        codes = dict(zip((BEYOND, NOT_RISING, MISSING, WRONG_SUM), self.reasons, strict=True))
        return Judgement(
            missing=null_or_empty(self.column) | ~found["told"],
            reason=first_reason(*((found["fault"] == code, reason) for code, reason in codes.items())),
            position=pl.when(found["position"] >= 0).then(found["position"]),
            value=pl.when(found["position"] < 0).then(found["value"]),
        )
