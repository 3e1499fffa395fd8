"""Position ids that run on over packed documents, or begin too late, show the model positions it was not trained for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import polars as pl
from pydantic import Field

from dataguard.expectations.base import Judgement, RowExpectation, first_reason
from dataguard.expectations.content import null_or_empty
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.documents import documents_of, told_by_eos
from dataguard.metrics.base import Metric
from dataguard.metrics.documents import DOCUMENT_IDS
from dataguard.metrics.lengths import Lengths
from dataguard.metrics.positions import POSITION_IDS, Positions
from dataguard.metrics.separators import DocumentEnds
from dataguard.shards.roles import companion


class ExpectPositionIdsToBeConsistent(RowExpectation):
    """Position ids of attended tokens begin at start and count on; with each document they begin anew.

    With restart `row` only a row begins anew, with `never` not even that: it goes on where the row before it in its shard
    ended. With start `any` a row may begin anywhere. `across_rows`: a document id that goes on in the next row goes on
    counting.
    """

    reasons: ClassVar[tuple[str, ...]] = ("negative", "wrong_start", "not_restarted", "not_consecutive")
    fix: ClassVar[str] = "number the tokens of each document from 0 when packing, and padding last"
    value_name: ClassVar[str] = "position id"

    restart: Literal["document", "row", "never"] = "document"
    start: Annotated[int, Field(ge=0, lt=1 << 31)] | Literal["any"] = 0
    across_rows: bool = False

    @property
    def _by_ids(self) -> bool:
        """Whether a row's first document may be the last one of the row before."""
        return self.across_rows and self.restart == "document"

    def columns_read(self, context: Context) -> Sequence[str]:
        own = (self.column, companion(self.column, POSITION_IDS))
        return (*own, companion(self.column, DOCUMENT_IDS)) if self._by_ids else own

    def _positions(self, context: Context) -> Positions:
        by_document = self.restart == "document"
        documents = documents_of(context, self.column, by_eos=by_document)
        return Positions(documents, by_document, None if self.start == "any" else self.start)

    def _ends(self, context: Context) -> DocumentEnds:
        return DocumentEnds(documents_of(context, self.column, by_eos=False))

    def metrics(self, context: Context) -> Sequence[Metric]:
        own = (Lengths(self.column), self._positions(context))
        return (*own, self._ends(context)) if self._by_ids else own

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        found = self._positions(context)
        cases = (
            (found["negative"] >= 0, "negative", found["negative"], found["negative_value"]),
            (self._starts_wrong(context), "wrong_start", found["place"], found["first"]),
            (found["stale"] >= 0, "not_restarted", found["stale"], found["stale_value"]),
            (found["gap"] >= 0, "not_consecutive", found["gap"], found["gap_value"]),
        )
        return Judgement(
            missing=null_or_empty(self.column) | ~found["known"],
            reason=first_reason(*((holds, reason) for holds, reason, _, _ in cases)),
            position=pl.coalesce([pl.when(holds).then(place) for holds, _, place, _ in cases]),
            value=pl.coalesce([pl.when(holds).then(value) for holds, _, _, value in cases]),
        )

    def _starts_wrong(self, context: Context) -> pl.Expr:
        """Whether a row's first position id is neither the start nor, where the row goes on, the next one.

        Rows of other shards are no neighbours for sure: after the border of two shards both are right.
        """
        found = self._positions(context)
        fresh = pl.lit(value=True) if self.start == "any" else found["first"] == self.start
        if self.restart != "never" and not self._by_ids:
            return ~fresh
        follows = found["first"] == found["last"].shift(1) + 1
        before = found["known"].shift(1)
        if self._by_ids:
            ends = self._ends(context)
            goes_on = before & ends["known"].shift(1) & ends["known"] & (ends["last"].shift(1) == ends["first"])
            goes_on = goes_on.fill_null(value=False)
        else:
            goes_on = before.fill_null(value=False)
        neighbours = (pl.col("shard").shift(1) == pl.col("shard")).fill_null(value=False)
        held = pl.when(goes_on & neighbours).then(follows).when(goes_on).then(follows | fresh).otherwise(fresh)
        if self.restart == "never":
            held = held | (neighbours & ~goes_on)
        return ~held

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        return told_by_eos(judged, self._positions(context)["by"]) if self.restart == "document" else {}
