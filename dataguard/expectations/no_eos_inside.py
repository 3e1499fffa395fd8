"""eos inside a document teaches the model to go on past it; mostly it stood in the text, and was parsed as a special token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import polars as pl

from dataguard.expectations.base import Judgement, RowExpectation, first_reason
from dataguard.expectations.content import content_of, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.documents import documents_of, separators_of
from dataguard.metrics.base import Metric
from dataguard.metrics.documents import BY_EOS, DOCUMENT_IDS, WHOLE
from dataguard.metrics.lengths import Lengths
from dataguard.metrics.separators import DocumentEnds
from dataguard.result import Severity
from dataguard.shards.roles import companion

PACKED_FROM = 0.01
"""With `packed: auto`, eos inside this share of the rows that nothing divides ends documents there (packs, or turns)."""
FULL_FROM = 0.9
"""So it does where this share of them has one length, the longest: pieces of a stream, in which eos may be rare."""


class ExpectNoEosInsideDocuments(RowExpectation):
    """eos stands nowhere but at a document's end.

    With `packed` eos ends documents, so that none is unexpected. With auto a row's columns tell its documents; where none
    does, eos ends them if it stands inside one row in a hundred, or if nine rows in ten have one length. `across_rows`: a
    document id that goes on in the next row is one document.
    """

    default_severity: ClassVar[Severity] = "warning"
    reasons: ClassVar[tuple[str, ...]] = ("eos_inside",)
    fix: ClassVar[str] = "tokenize text without parsing special tokens in it (split_special_tokens=True)"
    value_name: ClassVar[str] = "eos inside"

    packed: bool | Literal["auto"] = "auto"
    across_rows: bool = False

    def needs(self, context: Context) -> Sequence[str]:
        return ("eos",)

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column, companion(self.column, DOCUMENT_IDS)) if self.across_rows else (self.column,)

    def metrics(self, context: Context) -> Sequence[Metric]:
        own = (Lengths(self.column), content_of(context, self.column), separators_of(context, self.column))
        return (*own, self._ends(context)) if self.across_rows else own

    def _ends(self, context: Context) -> DocumentEnds:
        return DocumentEnds(documents_of(context, self.column, by_eos=False))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        found = separators_of(context, self.column)
        inside, place = found["inside"] > 0, found["inside_position"]
        if self._divides(context, table):
            inside &= ~_undivided(found["by"])
        if self.across_rows:
            goes_on = self._goes_on(context)
            place = pl.when(inside).then(place).otherwise(found["ending"])
            inside |= (found["ending"] >= 0) & goes_on
        return Judgement(
            missing=without_content(context, self.column) | ~found["known"],
            reason=pl.lit(None, pl.String) if self.packed is True else first_reason((inside, "eos_inside")),
            position=place,
            value=pl.max_horizontal(found["inside"], 1),
        )

    def _goes_on(self, context: Context) -> pl.Expr:
        """Whether a row's last document goes on in the next row of its shard."""
        ends = self._ends(context)
        neighbours = pl.col("shard").shift(-1) == pl.col("shard")
        both = neighbours & ends["known"] & ends["known"].shift(-1)
        return (both & (ends["first"].shift(-1) == ends["last"])).fill_null(value=False)

    def _divides(self, context: Context, table: MetricTable | None) -> bool:
        """Whether eos ends documents in the rows that nothing else divides."""
        if self.packed != "auto":
            return self.packed
        if table is None:
            return False
        found = separators_of(context, self.column)
        length = content_of(context, self.column)["attended"]
        own = ~without_content(context, self.column) & found["known"] & _undivided(found["by"])
        lengths = pl.when(own).then(length)
        counts = table.collect(
            own.sum().alias("rows"),
            (own & (found["inside"] > 0)).sum().alias("inside"),
            (lengths == lengths.max()).sum().alias("full"),
        )
        rows, inside, full = (int(counts[name] or 0) for name in ("rows", "inside", "full"))
        return inside > 0 and (inside >= PACKED_FROM * rows or (rows > 1 and full >= FULL_FROM * rows))

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        if self.packed != "auto" or not self._divides(context, MetricTable(judged)):
            return {}
        found = separators_of(context, self.column)
        inner = (~pl.col("missing") & _undivided(found["by"]) & (found["inside"] > 0)).sum()
        rows = int(judged.select(inner.alias("rows")).collect(engine="streaming").item() or 0)
        return {"notes": [f"{rows:,} rows hold eos before their end: taken for the ends of documents (packed: auto)"]}


def _undivided(by: pl.Expr) -> pl.Expr:
    return by.is_in([WHOLE, BY_EOS])
