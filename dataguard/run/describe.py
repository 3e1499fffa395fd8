"""What a report says of the data set as a whole: shards, vocabulary, sources with their lengths, and the accounts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.expectations.content import content_of
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.distributions import distributions
from dataguard.expectations.distributions_match import ExpectDistributionsToMatchBaseline
from dataguard.metrics.base import Metric
from dataguard.run.judge import Verdicts
from dataguard.suite.model import Suite
from dataguard.vocabulary.model import Vocabulary

BINS = 20
MOST_SOURCES_TOLD = 50


def describe_vocabulary(vocabulary: Vocabulary) -> dict[str, Any]:
    """Return what is known of the vocabulary, and where from."""
    names = ("limit", "size", "base_size", "embedding_rows", "pad", "bos", "eos", "unk", "fingerprint")
    known = {name: value for name in names if (value := getattr(vocabulary, name)) is not None}
    return {**known, "origin": dict(vocabulary.origin)} if known else {}


def describe_shards(context: Context) -> dict[str, Any]:
    """Return how many shards there are, of which layouts."""
    layouts = Counter(shard.layout for shard in context.shards if shard.layout is not None)
    return {"count": len(context.shards), "intact": len(context.intact), "layouts": dict(sorted(layouts.items()))}


def describe_columns(context: Context) -> dict[str, list[str]]:
    """Return which columns play the roles that go by another name, over all shards."""
    found: dict[str, set[str]] = {}
    for shard in context.intact:
        for role, column in shard.roles.items():
            if role != column:
                found.setdefault(role, set()).add(column)
    return {role: sorted(columns) for role, columns in sorted(found.items())}


def describe_skipped(verdicts: Verdicts) -> list[dict[str, Any]]:
    """Return the expectations that were skipped, with what is missing and what would supply it."""
    return [
        {
            "type": each.expectation.type(),
            "column": each.expectation.column,
            "missing": absent.missing,
            "fix": absent.fix,
        }
        for each, absent in verdicts.skipped
    ]


def describe_sources(table: MetricTable, context: Context, tokens: str) -> list[dict[str, Any]]:
    """Return rows, tokens and attended lengths of each source, by tokens, the most first.

    All sources share the edges of their histograms, so that they can be compared; past 50 sources the rest stands together
    as one, `source` null and `others` their number.
    """
    length = content_of(context, tokens)["attended"].cast(pl.Int64)
    grouped = table.frame.group_by("source", length=length).agg(rows=pl.len())
    counts = grouped.drop_nulls("length").sort("source", "length").collect(engine="streaming")
    if counts.is_empty():
        return []
    longest = int(counts["length"].to_numpy().max())
    step = -(-(longest + 1) // BINS)
    edges = np.arange(0, longest + 1 + step, step)
    parts = {place: part for (place,), part in counts.group_by("source", maintain_order=True)}
    totals = {place: int((part["rows"] * part["length"]).sum()) for place, part in parts.items()}
    ranked = sorted(parts, key=lambda place: (-totals[place], -1 if place is None else place))
    told = [_lengths(parts[place], edges, _name(place, context)) for place in ranked[:MOST_SOURCES_TOLD]]
    if others := ranked[MOST_SOURCES_TOLD:]:
        rest = pl.concat([parts[place] for place in others]).group_by("length").agg(pl.col("rows").sum()).sort("length")
        told.append({**_lengths(rest, edges, None), "others": len(others)})
    return told


def _name(place: Any, context: Context) -> str | None:
    return None if place is None else context.sources[place]


def _lengths(counts: pl.DataFrame, edges: npt.NDArray[np.int64], source: str | None) -> dict[str, Any]:
    """Sum up one source: counts has `length`, rising, and `rows`."""
    lengths, rows = counts["length"].to_numpy(), counts["rows"].to_numpy().astype(np.int64)
    seen, total = np.cumsum(rows), int(rows.sum())
    quantiles = {f"p{share}": int(lengths[np.searchsorted(seen, share * total / 100)]) for share in (50, 95, 99)}
    histogram, _ = np.histogram(lengths, edges, weights=rows)
    tokens = int((lengths * rows).sum())
    return {
        "source": source,
        "rows": total,
        "tokens": tokens,
        "lengths": {"min": int(lengths[0]), **quantiles, "max": int(lengths[-1]), "mean": round(tokens / total, 2)},
        "histogram": {"edges": edges.tolist(), "counts": histogram.astype(np.int64).tolist()},
    }


def describe_distributions(
    table: MetricTable, context: Context, suite: Suite, metrics: Sequence[Metric]
) -> dict[str, dict[str, Any]]:
    """Return how what was measured anyway is distributed, so that this report can be a later one's baseline."""
    expectations = (each.expectation for each in suite.expectations)
    comparing = [each for each in expectations if isinstance(each, ExpectDistributionsToMatchBaseline)]
    asked = [(each.column, name) for each in comparing for name in each.wanted(context)]
    return distributions(table, context, metrics, asked)


def account(context: Context, rejected: int, broken_rows: Sequence[int | None]) -> dict[str, int | None]:
    """Return where every row went: rows_in = clean + rejected + rows of shards that are not intact.

    Args:
        rejected: Rows that are set aside.
        broken_rows: Rows of each shard that is not intact; None where nobody can tell.
    """
    intact = sum(shard.rows for shard in context.intact)
    lost = None if any(rows is None for rows in broken_rows) else sum(rows or 0 for rows in broken_rows)
    return {
        "rows_in": None if lost is None else intact + lost,
        "clean": intact - rejected,
        "rejected": rejected,
        "not_intact_shards": len(broken_rows),
        "not_intact_rows": lost,
    }
