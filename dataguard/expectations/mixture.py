"""How many tokens each source brings: what a run trains on is a mixture of tokens, not of rows."""

from __future__ import annotations

import polars as pl

from dataguard.expectations.content import content_metrics, content_of
from dataguard.expectations.context import Context, MetricTable
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths


def mixture_metrics(context: Context, column: str) -> tuple[Metric, Metric]:
    """Return the metrics that `tokens_by_source` looks at."""
    return content_metrics(context, column)


def attended_rows(context: Context, column: str) -> pl.Expr:
    """Rows of which something is attended: special tokens alone are tokens, too."""
    content = content_of(context, column)
    return ((Lengths(column)["nulls"] == 0) & content["paired"] & (content["attended"] > 0)).fill_null(value=False)


def tokens_by_source(table: MetricTable, context: Context, column: str) -> pl.DataFrame:
    """Return the attended tokens of each source, the most first; rows without a source stand together.

    Returns:
        Columns source (name, or null), rows, tokens (Int64), and squares (Float64): the sum of the rows' tokens, squared.
    """
    attended = content_of(context, column)["attended"]
    rows = table.frame.filter(attended_rows(context, column))
    grouped = rows.group_by("source").agg(
        rows=pl.len().cast(pl.Int64),
        tokens=attended.cast(pl.Int64).sum(),
        squares=(attended.cast(pl.Int128) * attended.cast(pl.Int128)).sum(),
    )
    counts = grouped.collect(engine="streaming")
    names = [None if place is None else context.sources[place] for place in counts["source"].to_list()]
    named = counts.with_columns(pl.Series("source", names, dtype=pl.String), pl.col("squares").cast(pl.Float64))
    return named.sort("tokens", "source", descending=[True, False], nulls_last=True)
