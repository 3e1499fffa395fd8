"""Ids inside the embedding that no text ever gives, or that were never trained, are noise to the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from dataguard.expectations.base import CannotJudge, Judgement, RowExpectation, first_reason
from dataguard.expectations.content import null_or_empty
from dataguard.expectations.context import VOCABULARY_FIELDS, Context, MetricTable
from dataguard.metrics.assigned import Unassigned, ranges_of
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths
from dataguard.result import Severity


class ExpectTokenIdsToBeAssigned(RowExpectation):
    """Every id that can be looked up is one of the tokenizer's, and none of those that were never trained."""

    default_severity: ClassVar[Severity] = "warning"
    reasons: ClassVar[tuple[str, ...]] = ("unassigned", "reserved")
    fix: ClassVar[str] = "tokenize the rows again with the tokenizer that the model was trained with"
    value_name: ClassVar[str] = "id"

    def needs(self, context: Context) -> Sequence[str]:
        return ("size",)

    def _ids(self, context: Context) -> Unassigned:
        vocabulary = context.vocabulary
        if vocabulary.size is None or vocabulary.limit is None:
            raise CannotJudge(*VOCABULARY_FIELDS["size"])
        holes, reserved = ranges_of(vocabulary.unassigned), ranges_of(vocabulary.reserved)
        return Unassigned(self.column, vocabulary.size, vocabulary.limit, holes, reserved)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (Lengths(self.column), self._ids(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        ids = self._ids(context)
        return Judgement(
            missing=null_or_empty(self.column),
            reason=first_reason((ids["unassigned"] > 0, "unassigned"), (ids["reserved"] > 0, "reserved")),
            position=ids["position"],
            value=ids["value"],
        )
