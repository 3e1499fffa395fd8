"""A label outside the vocabulary is a class that the loss does not have: a device-side assert, or a wrong loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import polars as pl
from pydantic import Field

from dataguard.expectations.base import Judgement, RowExpectation, TokenNumber, first_reason
from dataguard.expectations.content import null_or_empty
from dataguard.expectations.context import VOCABULARY_FIELDS, Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.ids import IdsOutside
from dataguard.metrics.lengths import Lengths
from dataguard.result import Unjudged
from dataguard.shards.roles import LABELS, companion

INT64_MAX = (1 << 63) - 1


class ExpectLabelsToBeInVocabulary(RowExpectation):
    """Every label that is not ignore_index lies in [0, limit)."""

    reasons: ClassVar[tuple[str, ...]] = ("negative", "beyond_limit")
    fix: ClassVar[str] = "write labels with the ignore_index that the loss has, into signed integers"
    value_name: ClassVar[str] = "label"

    ignore_index: TokenNumber = -100
    limit: Annotated[TokenNumber, Field(ge=1)] | None = None

    @property
    def _labels(self) -> str:
        return companion(self.column, LABELS)

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self._labels,)

    def labels_outside(self, context: Context) -> IdsOutside:
        """Return the metric of the supervised labels that no class has."""
        limit = context.vocabulary.limit if self.limit is None else self.limit
        return IdsOutside(self._labels, limit, (self.ignore_index,))

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (Lengths(self._labels), self.labels_outside(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        labels = self.labels_outside(context)
        return Judgement(
            missing=null_or_empty(self._labels),
            reason=first_reason((labels["negative"] > 0, "negative"), (labels["beyond"] > 0, "beyond_limit")),
            position=labels["position"],
            value=labels["value"],
        )

    def unknown(self, context: Context) -> Unjudged | None:
        return Unjudged(*VOCABULARY_FIELDS["limit"]) if self.labels_outside(context).limit is None else None

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        distinct = self.labels_outside(context)["distinct"]
        for here, variant in self.variants_here(context):
            distinct = pl.when(here).then(variant.labels_outside(context)["distinct"]).otherwise(distinct)
        found = judged.filter(pl.col("reason").is_not_null()).select(distinct.alias("label")).explode("label")
        counts = found.group_by("label").len().drop_nulls().sort("label").collect(engine="streaming")
        return {"hints": _hints(dict(counts.iter_rows()), self.ignore_index)}


def _hints(rows: Mapping[int, int], ignore_index: int) -> list[str]:
    """Say what labels outside the vocabulary may be.

    Args:
        rows: How many rows have each of them.
    """
    hints = []
    negative = [label for label in rows if label < 0]
    if len(negative) == 1:
        (label,) = negative
        hints.append(
            f"other_ignore_index: {label} is the only negative label, in {rows[label]:,} rows; "
            f"the loss ignores {ignore_index}"
        )
    if ignore_index < 0:
        for bits in (8, 16, 32, 64):
            wrapped = min(ignore_index + (1 << bits), INT64_MAX)
            if wrapped in rows:
                told = f"{ignore_index} in an unsigned column of {bits} bits"
                hints.append(f"unsigned_ignore_index: {wrapped} is {told}, in {rows[wrapped]:,} rows")
    return hints
