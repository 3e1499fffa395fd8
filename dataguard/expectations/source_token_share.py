"""A mixture that is not the planned one trains another model, and no row of it looks wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction as Exact
from typing import Annotated, Any, ClassVar

import polars as pl
from pydantic import AfterValidator, Field

from dataguard.expectations.base import CannotJudge, Expectation, Fraction, Level, Outcome
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.mixture import mixture_metrics, tokens_by_source
from dataguard.metrics.base import Metric
from dataguard.result import MOST_ENTRIES, Finding, Severity


def _in_order(bounds: tuple[float, float]) -> tuple[float, float]:
    if bounds[0] > bounds[1]:
        msg = f"the lower share ({bounds[0]}) is above the upper one ({bounds[1]})"
        raise ValueError(msg)
    return bounds


Bounds = Annotated[tuple[Fraction, Fraction], AfterValidator(_in_order)]


class ExpectSourceTokenShareToBeBetween(Expectation):
    """Each source that `shares` names holds at least the first and at most the second share of all attended tokens.

    A named source without a token has a share of 0; one that is not named may have any. Tokens of rows without a source count
    as tokens of the whole.
    """

    level: ClassVar[Level] = "source"
    default_severity: ClassVar[Severity] = "warning"
    reasons: ClassVar[tuple[str, ...]] = ("share_below", "share_above")
    fix: ClassVar[str] = "mix the sources again as planned, or correct the planned shares"
    value_name: ClassVar[str] = "share of tokens"

    shares: Annotated[dict[str, Bounds], Field(min_length=1)]

    def needs(self, context: Context) -> Sequence[str]:
        return ("source",)

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column,)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return mixture_metrics(context, self.column)

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        found = tokens_by_source(table, context, self.column)
        tokens = {name: count for name, count in found.select("source", "tokens").iter_rows() if name is not None}
        whole = int(found["tokens"].sum())
        if not tokens:
            fix = "give --column source=NAME, or put each source into a folder of its own"
            raise CannotJudge("no row that has a source has a token", fix)
        findings = [
            Finding(source=name, reason=reason, column=self.column, value=round(share, 6), detail=detail)
            for name in sorted(self.shares)
            if (reason := self._reason(name, tokens.get(name, 0), whole)) is not None
            for share in [tokens.get(name, 0) / whole]
            for detail in [f"{tokens.get(name, 0)} of {whole} tokens, {_spelled(self.shares[name])} allowed"]
        ]
        free = set(tokens) - set(self.shares)
        details: dict[str, Any] = {}
        if findings:
            details["reasons"] = dict(sorted(Counter(each.reason for each in findings).items()))
        return Outcome(
            success=not findings,
            element_count=len(self.shares) + len(free),
            unexpected_count=len(findings),
            missing_count=len(free),
            observed_value=_records(found, whole),
            findings=tuple(findings[:MOST_ENTRIES]),
            details=details,
        )

    def _reason(self, name: str, tokens: int, whole: int) -> str | None:
        """Return what is wrong with a source's share, compared as the bounds are written."""
        low, high = (Exact(str(bound)) for bound in self.shares[name])
        if tokens < low * whole:
            return "share_below"
        return "share_above" if tokens > high * whole else None


def _spelled(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:g} to {bounds[1]:g}"


def _records(found: pl.DataFrame, whole: int) -> list[dict[str, Any]]:
    """Return what each source brings, the most first; rows without a source have the source null."""
    rows = found.head(MOST_ENTRIES).select("source", "rows", "tokens").iter_rows(named=True)
    return [{**each, "share": round(each["tokens"] / whole, 6)} for each in rows]
