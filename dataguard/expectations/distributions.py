"""How a data set's numbers are distributed, in some hundred bytes each (`baseline.Distribution`).

What a report keeps, so that a later one can be compared with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.expectations.baseline import HIGHEST, SOURCE, TOKEN_USE, Distribution
from dataguard.expectations.content import content_of, null_or_empty, without_content
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.mixture import attended_rows, mixture_metrics, tokens_by_source
from dataguard.metrics.base import Metric
from dataguard.metrics.content import Content
from dataguard.metrics.named import NUMBERS, Tokens
from dataguard.metrics.token_use import EDGES, NAMES, TokenUse
from dataguard.result import Unjudged
from dataguard.shards.roles import PER_TOKEN, companion

USUAL = ("attended_tokens", SOURCE, TOKEN_USE, "supervised_fraction", "symbol_fraction", "digit_fraction")
"""Lengths, source mix, token use, supervised share, symbol and digit share."""
PARTS = 10
GRID = 10_000
"""Steps of a number that is no whole one: shares are told apart to a hundredth of a percent."""
MOST_SOURCES = 100
"""Sources that are kept by name; the tokens of all others stand together behind them."""
FEW = 10
"""Rows below which nobody can tell how much they vary: each then counts as one sample."""

Bounds = npt.NDArray[np.int64]


def wanting(name: str, context: Context, column: str) -> Unjudged | None:
    """Return what is missing where a data set cannot have a distribution; None where it can."""
    needed = () if name == TOKEN_USE else (SOURCE,) if name == SOURCE else NUMBERS[name].needs
    roles = [companion(column, need) if need in PER_TOKEN else need for need in needed]
    return next((absent for role in roles if (absent := context.absent(role, {})) is not None), None)


def metrics_of(name: str, context: Context, column: str) -> tuple[Metric, ...]:
    """Return the metrics that a distribution is made of; what it needs is there (`wanting`)."""
    if name in {SOURCE, TOKEN_USE}:
        use = (TokenUse(context.attention(column)),) if name == TOKEN_USE else ()
        return (*mixture_metrics(context, column), *use)
    return (*mixture_metrics(context, column), *NUMBERS[name].metrics(_tokens(context, column)))


def roles_of(name: str, column: str) -> tuple[str, ...]:
    """Return the columns that a distribution cannot do without."""
    needs = NUMBERS[name].needs if name in NUMBERS else ()
    return (column, *(companion(column, need) for need in needs if need in PER_TOKEN))


def measured(
    name: str, table: MetricTable, context: Context, column: str, like: Distribution | None = None
) -> Distribution | None:
    """Return how something is distributed, in the classes of an earlier distribution where one is given.

    Returns:
        None where no row has such a number.
    """
    if name == SOURCE:
        return _of_sources(table, context, column, like)
    if name == TOKEN_USE:
        return _of_ids(table, context, column)
    return _of_number(name, table, context, column, like)


def distributions(
    table: MetricTable, context: Context, metrics: Sequence[Metric], asked: Iterable[tuple[str, str]] = ()
) -> dict[str, dict[str, Any]]:
    """Return every distribution that the numbers at hand give, by column and name: nothing is scanned for it.

    Args:
        metrics: Those that the table holds.
        asked: Column and name of others than the usual ones.
    """
    columns = dict.fromkeys(metric.attention.column for metric in metrics if isinstance(metric, Content))
    known = set(metrics)
    found: dict[str, dict[str, Any]] = {column: {} for column in columns}
    for column, name in dict.fromkeys((*itertools.product(columns, USUAL), *asked)):
        if wanting(name, context, column) is None and known.issuperset(metrics_of(name, context, column)):
            given = measured(name, table, context, column)
            if given is not None:
                found[column][name] = given.to_dict()
    return {column: held for column, held in found.items() if held}


def counted(name: str, table: MetricTable, context: Context, column: str) -> tuple[pl.DataFrame, int]:
    """Return how many rows have each value of a number: what it needs is there (`wanting`).

    Returns:
        Columns source (place in `Context.sources`, or null), step (Int64, rising) and rows (Int64); and how many steps make 1: a
        number that is no whole one is counted in steps of 1 / GRID.
    """
    number = NUMBERS[name]
    others = without_content(context, column) if number.of_content else null_or_empty(column)
    rows = table.frame.filter(~others.fill_null(value=True))
    rows = rows.select("source", value=number.value(_tokens(context, column))).drop_nulls("value")
    grid = GRID if rows.collect_schema()["value"].is_float() else 1
    steps = (pl.col("value") * grid).floor().cast(pl.Int64) if grid > 1 else pl.col("value").cast(pl.Int64)
    counts = rows.group_by("source", step=steps).agg(rows=pl.len().cast(pl.Int64))
    return counts.sort("step", "source").collect(engine="streaming"), grid


def _tokens(context: Context, column: str) -> Tokens:
    return Tokens(context.attention(column), context.vocabulary)


def _of_number(
    name: str, table: MetricTable, context: Context, column: str, like: Distribution | None
) -> Distribution | None:
    counts, grid = counted(name, table, context, column)
    if counts.is_empty():
        return None
    counts = counts.group_by("step").agg(pl.col("rows").sum()).sort("step")
    values, weights = counts["step"].to_numpy(), counts["rows"].to_numpy()
    edges = _edges(values, weights) if like is None else np.array([_step(each, grid) for each in like.edges], np.int64)
    inside = np.bincount(np.searchsorted(edges, values, side="right"), weights, minlength=len(edges) + 1)
    total = int(weights.sum())
    told = tuple(each / grid if grid > 1 else each for each in edges.tolist()) if like is None else like.edges
    return Distribution(total, total, tuple(int(each) for each in inside), told)


def _step(edge: float, grid: int) -> int:
    """Return an edge in steps, as it was before `grid` made a share of it."""
    return max(-HIGHEST, min(HIGHEST, round(edge * grid)))


def _edges(values: Bounds, weights: Bounds) -> Bounds:
    """Return where bins begin that hold about a tenth each: from the lowest value to just past the highest.

    What falls outside of them later is beyond everything that was seen. Equal values are never parted.

    Args:
        values: Rising. weights: How often each occurs.
    """
    seen = np.cumsum(weights)
    tenths = values[np.searchsorted(seen, seen[-1] * np.arange(1, PARTS) / PARTS)]
    return np.unique([values[0], *tenths, min(int(values[-1]), HIGHEST - 1) + 1])


def _of_sources(table: MetricTable, context: Context, column: str, like: Distribution | None) -> Distribution | None:
    """Count the tokens of each source. Rows of n_i tokens are worth (sum of n_i)^2 / sum of n_i^2 rows of one length."""
    counts = tokens_by_source(table, context, column)
    if counts.is_empty():
        return None
    found = dict(counts.select("source", "tokens").iter_rows())
    names = tuple(list(found)[:MOST_SOURCES]) if like is None else like.names
    named = [int(found.get(name, 0)) for name in names]
    rest = sum(found.values()) - sum(named)
    worth = _rounded(sum(found.values()) ** 2 / float(counts["squares"].to_numpy().sum()))
    return Distribution(int(counts["rows"].sum()), worth, (*named, rest), names=names)


def _of_ids(table: MetricTable, context: Context, column: str) -> Distribution | None:
    use, attended = TokenUse(context.attention(column)), content_of(context, column)["attended"].cast(pl.Int128)
    counts = {name: use[name].cast(pl.Int128) for name in NAMES}
    sums = table.frame.filter(attended_rows(context, column)).select(
        pl.len().alias("rows"),
        (attended * attended).sum().alias("squares"),
        *(each.sum().alias(f"{name}.tokens") for name, each in counts.items()),
        *((each * each).sum().alias(f"{name}.own") for name, each in counts.items()),
        *((each * attended).sum().alias(f"{name}.cross") for name, each in counts.items()),
    )
    found = sums.collect(engine="streaming").row(0, named=True)
    tokens, own, cross = (
        np.array([float(found[f"{name}.{part}"] or 0) for name in NAMES]) for part in ("tokens", "own", "cross")
    )
    whole = tokens.sum()
    if not whole:
        return None
    share = tokens / whole
    variance = (own - 2 * share * cross + share**2 * float(found["squares"])) / whole**2
    worth = _worth(share, variance, int(found["rows"]), whole)
    return Distribution(int(found["rows"]), worth, tuple(int(each) for each in tokens), EDGES)


def _worth(share: npt.NDArray[np.float64], variance: npt.NDArray[np.float64], rows: int, most: float) -> float:
    """Return how many independent samples shares are worth that vary so much from row to row.

    Of n independent samples a share p has the variance p * (1 - p) / n, so that variance / p adds up to (classes - 1) / n over
    all classes. Few rows tell little of how much they vary.

    Args:
        most: Samples that there are at most.
    """
    used = share > 0
    spread = float((variance[used] / share[used]).sum()) * rows / max(rows - 1, 1)
    classes = int(used.sum())
    worth = most if classes < 2 or spread <= 0 else min(most, (classes - 1) / spread)
    worth = min(worth, rows) if rows < FEW else worth
    return _rounded(worth)


def _rounded(worth: float) -> float:
    """Return a number of samples in six digits, at least 1."""
    return float(f"{max(worth, 1.0):.6g}")
