"""eos inside a document teaches the model to go on past it; mostly it stood in the text, and was parsed as a special token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import polars as pl

from dataguard.expectations.base import Judgement, RowExpectation, first_reason
from dataguard.expectations.content import content_metrics, content_of, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.documents import documents_of, separators_of
from dataguard.metrics.base import Metric
from dataguard.metrics.documents import BY_COLUMN, BY_MASK, DOCUMENT_IDS
from dataguard.metrics.separators import DocumentEnds
from dataguard.result import Severity
from dataguard.shards.roles import companion

PACKED_FROM = 0.01
"""With `packed: auto`, eos inside this share of the rows that nothing divides ends documents there (packs, or turns)."""
FULL_FROM = 0.9
"""So it does where this share of them has one length, the longest: pieces of a stream, in which eos may be rare."""
TURNS_FROM, TURNS_ROWS = 0.5, 5
"""In documents that columns tell, eos inside this share of the rows, and so many of them, ends the turns of a chat."""


class ExpectNoEosInsideDocuments(RowExpectation):
    """eos stands nowhere but at a document's end.

    With `packed` eos ends documents, so that none is unexpected. With auto a row's columns tell its documents; where none
    does, eos ends them if it stands inside one row in a hundred, or if nine rows in ten have one length. Where columns do,
    and eos stands inside documents in half of the rows, it ends turns. `across_rows`: a document id that goes on in the next
    row is one document.
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
        own = (*content_metrics(context, self.column), separators_of(context, self.column))
        return (*own, self._ends(context)) if self.across_rows else own

    def _ends(self, context: Context) -> DocumentEnds:
        return DocumentEnds(documents_of(context, self.column, by_eos=False))

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        found = separators_of(context, self.column)
        place = found["inside_position"]
        inside = (found["inside"] > 0) & ~self._expected(context, table)
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

    def _expected(self, context: Context, table: MetricTable | None) -> pl.Expr:
        """Whether eos inside a row ends a document, or a turn."""
        if self.packed != "auto" or table is None:
            return pl.lit(value=self.packed is True)
        found = separators_of(context, self.column)
        judged = ~without_content(context, self.column) & found["known"]
        alone = judged & ~_told(found["by"])
        told, inside = judged & _told(found["by"]), found["inside"] > 0
        lengths = pl.when(alone).then(content_of(context, self.column)["attended"])
        counts = table.collect(
            alone.sum().alias("alone"),
            (alone & inside).sum().alias("divided"),
            (lengths == lengths.max()).sum().alias("full"),
            told.sum().alias("told"),
            (told & inside).sum().alias("turning"),
        )
        rows, divided, full, told_rows, turning = (int(count or 0) for count in counts.values())
        pieces = rows > 1 and full >= FULL_FROM * rows
        ends = divided > 0 and (divided >= PACKED_FROM * rows or pieces)
        turns = turning >= max(TURNS_FROM * told_rows, TURNS_ROWS)
        return pl.when(_told(found["by"])).then(pl.lit(value=turns)).otherwise(pl.lit(value=ends))

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        if self.packed != "auto":
            return {}
        inside = separators_of(context, self.column)["inside"] > 0
        taken = (~pl.col("missing") & inside & self._expected(context, MetricTable(judged))).sum()
        rows = int(judged.select(taken.alias("rows")).collect(engine="streaming").item() or 0)
        if not rows:
            return {}
        return {
            "notes": [
                f"{rows:,} rows hold eos before their end: taken for the ends of documents or turns (packed: auto)"
            ]
        }


def _told(by: pl.Expr) -> pl.Expr:
    """Whether something else than eos says where the documents of a row begin."""
    return by.is_in([BY_COLUMN, BY_MASK])
