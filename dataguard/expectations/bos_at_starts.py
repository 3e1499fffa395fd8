"""Two bos in a row, or none where the model was trained with one, put every later token off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import polars as pl

from dataguard.expectations.base import Judgement, RowExpectation, first_reason
from dataguard.expectations.content import content_metrics, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.documents import separators_of, told_by_eos
from dataguard.metrics.base import Metric


class ExpectBosAtDocumentStarts(RowExpectation):
    """Every document begins with bos (policy required), or no token is bos (forbidden); two in a row never stand.

    Two in a row are no fault where bos and eos are one id. A bos inside a document is noted, unless it is forbidden: text
    that spells it, or documents that are divided by bos alone.
    """

    reasons: ClassVar[tuple[str, ...]] = ("missing_bos", "unexpected_bos", "doubled_bos")
    fix: ClassVar[str] = "let either the template or the tokenizer add bos (add_special_tokens=False after a template)"

    policy: Literal["optional", "required", "forbidden"] = "optional"

    def needs(self, context: Context) -> Sequence[str]:
        return ("bos",)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return (*content_metrics(context, self.column), separators_of(context, self.column))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        found = separators_of(context, self.column)
        cases: list[tuple[pl.Expr, pl.Expr, str]] = []
        if self.policy == "required":
            cases.append((found["lacking"] >= 0, found["lacking"], "missing_bos"))
        if self.policy == "forbidden":
            cases.append((found["starting"] >= 0, found["starting"], "unexpected_bos"))
            cases.append((found["astray"] >= 0, found["astray"], "unexpected_bos"))
        if context.vocabulary.bos != context.vocabulary.eos:
            cases.append((found["doubled"] >= 0, found["doubled"], "doubled_bos"))
        return Judgement(
            missing=without_content(context, self.column) | ~found["known"],
            reason=first_reason(*((holds, reason) for holds, _, reason in cases)) if cases else pl.lit(None, pl.String),
            position=pl.coalesce(*(pl.when(holds).then(place) for holds, place, _ in cases), pl.lit(None, pl.Int32)),
        )

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        found = separators_of(context, self.column)
        notes = list(told_by_eos(judged, found["by"]).get("notes", ())) if self.policy == "required" else []
        if self.policy != "forbidden":
            straying = (~pl.col("missing") & (found["strays"] > 0)).sum()
            rows = int(judged.select(straying.alias("rows")).collect(engine="streaming").item() or 0)
            if rows:
                notes.append(
                    f"{rows:,} rows hold bos inside a document: text that spells it, or documents joined by bos"
                )
        return {"notes": notes} if notes else {}
