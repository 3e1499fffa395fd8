"""Token ids that the embedding cannot look up crash the device, or read a wrong vector in silence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import polars as pl
from pydantic import Field

from dataguard.expectations.base import Judgement, RowExpectation, TokenNumber, first_reason
from dataguard.expectations.content import null_or_empty
from dataguard.expectations.context import VOCABULARY_FIELDS, Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.ids import MOST_DISTINCT, IdsOutside
from dataguard.metrics.lengths import Lengths
from dataguard.result import Unjudged


class ExpectTokenIdsToBeInVocabulary(RowExpectation):
    """Every token id, masked ones too, lies in [0, limit)."""

    reasons: ClassVar[tuple[str, ...]] = ("negative", "beyond_limit")
    fix: ClassVar[str] = "tokenize the rows again with the model's tokenizer, or resize the embedding"
    value_name: ClassVar[str] = "id"

    limit: Annotated[TokenNumber, Field(ge=1)] | None = None
    sentinels: tuple[TokenNumber, ...] = ()

    def ids_outside(self, context: Context) -> IdsOutside:
        """Return the metric of the ids that cannot be looked up."""
        limit = context.vocabulary.limit if self.limit is None else self.limit
        return IdsOutside(self.column, limit, tuple(sorted(set(self.sentinels))))

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (Lengths(self.column), self.ids_outside(context))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        ids = self.ids_outside(context)
        return Judgement(
            missing=null_or_empty(self.column),
            reason=first_reason((ids["negative"] > 0, "negative"), (ids["beyond"] > 0, "beyond_limit")),
            position=ids["position"],
            value=ids["value"],
        )

    def unknown(self, context: Context) -> Unjudged | None:
        return Unjudged(*VOCABULARY_FIELDS["limit"]) if self.ids_outside(context).limit is None else None

    def observed(self, judged: pl.LazyFrame, context: Context) -> Any:
        ids = self.ids_outside(context)
        seen = judged.filter(~pl.col("missing") & (ids["highest"] >= ids["lowest"]))
        row = seen.select(lowest=ids["lowest"].min(), highest=ids["highest"].max()).collect(engine="streaming")
        return {**row.row(0, named=True), "limit": self.ids_outside(context).limit}

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        found = judged.filter(pl.col("reason").is_not_null())
        ids = self.ids_outside(context)
        hits, distinct = ids["negative"] + ids["beyond"], ids["distinct"]
        for here, variant in self.variants_here(context):
            own = variant.ids_outside(context)
            hits = pl.when(here).then(own["negative"] + own["beyond"]).otherwise(hits)
            distinct = pl.when(here).then(own["distinct"]).otherwise(distinct)
        total = found.select(hits.cast(pl.Int64).sum().alias("hits")).collect(engine="streaming").item()
        lowest = found.select(distinct.alias("id")).explode("id").drop_nulls().unique().sort("id").head(MOST_DISTINCT)
        return {"hits": int(total or 0), "distinct_ids": lowest.collect(engine="streaming")["id"].to_list()}
