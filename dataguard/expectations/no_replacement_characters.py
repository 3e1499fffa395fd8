"""U+FFFD stands where somebody decoded bytes with the wrong codec: what was there is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import polars as pl
from pydantic import Field

from dataguard.expectations.base import Fraction, Judgement, first_reason
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.text import TextExpectation
from dataguard.metrics.lengths import Lengths
from dataguard.metrics.marks import Marks
from dataguard.metrics.text import OfText


class ExpectNoReplacementCharacters(TextExpectation):
    """At most max_fraction of a text's characters are U+FFFD, or bytes that make no character and would be shown as one.

    With allow_cut_end, half a character at the text's end is only noted, as the end of a window is where tokens were counted;
    where max_length is given, only in rows of at least that many tokens. So is the rest of one at the text's start, where the
    window before ended.
    """

    reasons: ClassVar[tuple[str, ...]] = ("replacement_character",)
    fix: ClassVar[str] = "decode the source with its own encoding, and tokenize again; U+FFFD cannot be turned back"
    value_name: ClassVar[str] = "replacement characters"

    max_fraction: Fraction = 0.0
    allow_cut_end: bool = True
    max_length: Annotated[int, Field(ge=1)] | None = None

    def text_metrics(self, context: Context) -> Sequence[OfText]:
        return (self.of(Marks, context),)

    def _cut(self, context: Context) -> tuple[pl.Expr, pl.Expr]:
        """Return whether half a character at the end, and at the start, is only noted."""
        if not self.allow_cut_end:
            return pl.lit(value=False), pl.lit(value=False)
        if self.max_length is None:
            return pl.lit(value=True), pl.lit(value=True)
        return Lengths(self.column)["length"] >= self.max_length, pl.lit(value=True)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        marks = self.of(Marks, context)
        noted_end, noted_start = self._cut(context)
        at_end = pl.when(~noted_end).then(marks["cut_end"]).otherwise(0)
        at_start = pl.when(~noted_start).then(marks["cut_start"]).otherwise(0)
        replaced = marks["replaced"] + at_end + at_start
        share = replaced / marks["characters"]
        return Judgement(
            missing=self.no_text(marks, context),
            reason=first_reason(((replaced > 0) & (share > self.max_fraction), "replacement_character")),
            position=pl.coalesce(
                pl.when(at_start > 0).then(marks["cut_start_at"]),
                pl.when(marks["replaced"] > 0).then(marks["replaced_at"]),
                marks["cut_end_at"],
            ),
            value=replaced,
        )

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        marks = self.of(Marks, context)
        noted_end, noted_start = self._cut(context)
        here = ~pl.col("missing") & pl.col("reason").is_null()
        counts = judged.select(
            ((marks["cut_end"] > 0) & noted_end & here).sum().alias("end"),
            ((marks["cut_start"] > 0) & noted_start & here).sum().alias("start"),
        )
        row = counts.collect(engine="streaming").row(0, named=True)
        told = ((row["end"], "end with half a character"), (row["start"], "begin with the rest of a character"))
        notes = [f"{count:,} rows {what}, as windows of a longer text do" for count, what in told if count]
        return {"notes": notes} if notes else {}
