"""Sources cut at different lengths, or at different ends, mix rows that the model must not learn to tell apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import polars as pl
from pydantic import Field

from dataguard.expectations.base import CannotJudge, Expectation, Fraction, Level, Outcome
from dataguard.expectations.content import content_metrics, content_of, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.sources import Ends, Source, differing, source_of
from dataguard.metrics.base import Metric
from dataguard.result import MOST_ENTRIES, Finding, Unjudged

UNCUT = "uncut"


class ExpectTruncationToBeConsistentAcrossSources(Expectation):
    """All sources are cut at one length, at the same end, and end their cut rows alike.

    Where max_length is not given it is the length at which most tokens are cut. A source of fewer than min_rows rows is not
    judged.
    """

    level: ClassVar[Level] = "source"
    reasons: ClassVar[tuple[str, ...]] = ("different_cap", "not_truncated", "different_side", "different_eos_policy")
    fix: ClassVar[str] = (
        "tokenize these sources again with the max_length, truncation side and eos policy of the others"
    )
    value_name: ClassVar[str] = "longest row"

    max_length: Annotated[int, Field(ge=1)] | None = None
    check: Annotated[tuple[Literal["cap", "side", "eos"], ...], Field(min_length=1)] = ("cap", "side", "eos")
    min_pile_up: Fraction = 0.2
    min_rows: Annotated[int, Field(ge=1)] = 4

    def needs(self, context: Context) -> Sequence[str]:
        return ("source",)

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column,)

    def metrics(self, context: Context) -> Sequence[Metric]:
        return content_metrics(context, self.column)

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        sources = self._sources(table, context)
        judged = [source for source in sources if source.rows >= self.min_rows]
        ends = Ends.of(judged)
        cap, reasons = self._caps(judged)
        if "side" in self.check:
            reasons = (
                _minority(judged, {source.name: ends.side(source) for source in judged}, "different_side") | reasons
            )
        if "eos" in self.check:
            keeping = {source.name: ends.keeps_eos(source) for source in judged}
            reasons = _minority(judged, keeping, "different_eos_policy") | reasons
        few = [source.name for source in sources if source.rows < self.min_rows]
        details: dict[str, Any] = {}
        if reasons:
            details["reasons"] = dict(sorted(Counter(reasons.values()).items()))
        if few:
            details["notes"] = [f"not judged, fewer than min_rows={self.min_rows} rows: {', '.join(few[:20])}"]
        findings = [
            Finding(
                source=source.name, reason=reasons[source.name], column=self.column, value=source.cap or source.longest
            )
            for source in judged
            if source.name in reasons
        ]
        nobody = Unjudged(f"no source has {self.min_rows:,} rows", "give more data, or the argument min_rows")
        return Outcome(
            success=not reasons,
            idle=None if judged else ("source", nobody),
            element_count=len(sources),
            unexpected_count=len(reasons),
            missing_count=len(few),
            observed_value=[_record(source, ends, cap) for source in sources],
            findings=tuple(findings[:MOST_ENTRIES]),
            details=details,
        )

    def _sources(self, table: MetricTable, context: Context) -> list[Source]:
        """Return how the rows of every source end, by name."""
        content, vocabulary = content_of(context, self.column), context.vocabulary

        def those_at(end: str, token: int | None) -> pl.Expr:
            return pl.lit(0) if token is None else (content[end] == token).sum()

        rows = table.frame.filter(~without_content(context, self.column) & pl.col("source").is_not_null())
        by_length = rows.group_by("source", content["attended"].cast(pl.Int64).alias("length")).agg(
            rows=pl.len(), bos=those_at("first", vocabulary.bos), eos=those_at("last", vocabulary.eos)
        )
        counts = by_length.sort("source", "length").collect(engine="streaming")
        if counts.is_empty():
            fix = "give --column source=NAME, or put each source into a folder of its own"
            raise CannotJudge("no row that has a source can be judged", fix)
        known = {"bos": vocabulary.bos is not None, "eos": vocabulary.eos is not None}
        found = [
            source_of(context.sources[place], each, self.min_pile_up, known)
            for (place,), each in counts.group_by("source", maintain_order=True)
        ]
        return sorted(found, key=lambda source: source.name)

    def _caps(self, judged: Sequence[Source]) -> tuple[int | None, dict[str, str]]:
        """Return the cap that holds, and the sources that are cut elsewhere or reach beyond it, with the reason of each."""
        caps = {source.name: source.cap for source in judged if source.cap is not None}
        if self.max_length is not None:
            cap: int | None = self.max_length
            other = {name for name, own in caps.items() if own != cap}
        elif not caps:
            return None, {}
        else:
            agreed, named = _agreed(judged, caps)
            cap = agreed if isinstance(agreed, int) else None
            other = {name for name in named if name in caps}
            if agreed is None:
                return None, {} if "cap" not in self.check else {
                    name: "different_cap" if name in caps else "not_truncated" for name in named
                }
        reasons = {} if cap is None else {s.name: "not_truncated" for s in judged if s.longest > cap}
        reasons |= dict.fromkeys(other, "different_cap")
        return cap, reasons if "cap" in self.check else {}


def _agreed(judged: Sequence[Source], caps: Mapping[str, int]) -> tuple[Any, list[str]]:
    """Return what most tokens say of the cap, and the sources that say otherwise.

    A source that is cut nowhere has a say only where it reaches beyond the cap that the others agree on.
    """
    tokens = {source.name: source.tokens for source in judged}
    among_cut, _ = differing(caps, tokens)
    reach = min(caps.values()) if among_cut is None else among_cut
    uncut = [source.name for source in judged if source.cap is None and source.longest > reach]
    return differing({**caps, **dict.fromkeys(uncut, UNCUT)}, tokens)


def _minority(judged: Sequence[Source], opinions: dict[str, Any], reason: str) -> dict[str, str]:
    known = {name: opinion for name, opinion in opinions.items() if opinion is not None}
    _, named = differing(known, {source.name: source.tokens for source in judged})
    return dict.fromkeys(named, reason)


def _record(source: Source, ends: Ends, cap: int | None) -> dict[str, Any]:
    def rounded(share: float | None) -> float | None:
        return None if share is None else round(share, 6)

    return {
        "source": source.name,
        "rows": source.rows,
        "tokens": source.tokens,
        "cap": source.cap,
        "pile_up": rounded(source.pile_up),
        "over_cap": None if cap is None else source.over(cap),
        "side": ends.side(source),
        "eos_cut": rounded(source.eos_cut),
        "eos_uncut": rounded(source.eos_uncut),
        "lengths": source.quantiles(),
    }
