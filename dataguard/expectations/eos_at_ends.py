"""A model that never sees eos behind its text never learns to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import polars as pl
from pydantic import Field

from dataguard.expectations.base import Judgement, RowExpectation, TokenNumber, first_reason
from dataguard.expectations.content import content_metrics, content_of, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.result import Severity


class ExpectEosAtDocumentEnds(RowExpectation):
    """Every row's last attended token is eos, or one of stop_ids; a row of exactly max_length may have lost it.

    With policy `required` such a row must end with eos too, with `forbidden` none may, with `optional` all hold.
    """

    default_severity: ClassVar[Severity] = "warning"
    reasons: ClassVar[tuple[str, ...]] = ("missing_eos", "unexpected_eos")
    fix: ClassVar[str] = "append eos to each document when tokenizing (add_eos_token, or the template's own end)"
    value_name: ClassVar[str] = "last id"

    policy: Literal["unless_truncated", "required", "optional", "forbidden"] = "unless_truncated"
    max_length: Annotated[int, Field(ge=1)] | None = None
    stop_ids: Annotated[tuple[TokenNumber, ...], Field(min_length=1)] | None = None

    def needs(self, context: Context) -> Sequence[str]:
        return ("eos",) if self.stop_ids is None else ()

    def metrics(self, context: Context) -> Sequence[Metric]:
        return content_metrics(context, self.column)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        content = content_of(context, self.column)
        ends = content["last"].is_in(list(self.stop_ids or (context.vocabulary.eos,)))
        truncated = pl.lit(value=False)
        if self.policy == "unless_truncated" and self.max_length is not None:
            truncated = content["attended"] == self.max_length
        if self.policy == "forbidden":
            reason = first_reason((ends, "unexpected_eos"))
        elif self.policy == "optional":
            reason = pl.lit(None, pl.String)
        else:
            reason = first_reason((~ends & ~truncated, "missing_eos"))
        return Judgement(missing=without_content(context, self.column), reason=reason, value=content["last"])

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        if self.policy != "unless_truncated" or self.max_length is not None:
            return {}
        lacking = (pl.col("reason") == "missing_eos").sum()
        if not judged.select(lacking.alias("rows")).collect(engine="streaming").item():
            return {}
        how = context.way_to_give("max_length")
        return {"hints": [f"max_length is not given, so that no row counts as truncated: give {how}"]}
