"""Rules on dirty samples, and on the mixture."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dataguard.expectations.mixture import tokens_by_source
from dataguard.run.rule import (
    FEW,
    LEAST_ROWS,
    MOST_NAMED,
    RARE,
    TIMES,
    USUAL,
    Fits,
    Fitted,
    percent,
    rounded_up,
    share_unexpected,
    tolerant,
)
from dataguard.run.seen import Seen

CHANCE = 6
"""Standard errors by which tomorrow's share of a source may differ: four of the difference of two data sets of one size."""
RICH = 0.3
"""Share of symbols that a tenth of a source's rows exceeds where symbols are what it is made of (drawn tables, code)."""


def periodic(seen: Seen) -> Fits:
    """Propose the limit of the shipped suites, which is that of real text."""
    rows = seen.trial("expect_rows_not_to_be_periodic", {"max_repeats": 31}).unexpected_count or 0
    why = f"a pattern stands more than 31 times in {rows:,} rows; ruled lines of real text stand up to 79 times"
    if seen.missing(("characters",)) is not None:
        why += "; without characters patterns of white space count as well"
    return [Fitted({"max_repeats": 80, "mostly": RARE}, why)]


def repetitive(seen: Seen) -> Fits:
    """Propose the limit of the shipped suites, and twice as many rows beyond it as there are."""
    kind = "expect_rows_not_to_be_repetitive"
    rows = seen.trial(kind).unexpected_count or 0
    why = f"{rows:,} rows consist of one passage over and over"
    return [Fitted(tolerant(seen, kind, {}, least=0.997), why, "warning")]


def symbols(seen: Seen) -> Fits:
    """Propose what nearly all rows have and half as much again; sources that consist of symbols get limits of their own."""
    kind, spread = "expect_symbol_fraction_to_be_below", seen.spread("symbol_fraction")
    if spread is None:
        return "no row has a visible character"
    limit = min(0.5, max(0.3, rounded_up(TIMES * spread.quantile(USUAL), 0.05)))
    why = f"99 % of the rows have at most {percent(spread.quantile(USUAL))} symbols"
    rich = {
        source: min(0.95, rounded_up(TIMES * own.quantile(USUAL), 0.05))
        for source, own in seen.spread_by_source("symbol_fraction").items()
        if own.total >= LEAST_ROWS / 2 and own.quantile(0.9) > RICH and own.share_above(limit) > FEW / 5
    }
    kwargs: dict[str, Any] = {"max_fraction": limit}
    if rich:
        kwargs["by_source"] = {source: {"max_fraction": own} for source, own in rich.items()}
        why += f"; a tenth of the rows of {', '.join(rich)} have more than {percent(RICH)}"
    return [Fitted(tolerant(seen, kind, kwargs, least=0.997), why, "warning")]


RARELY = {
    "expect_no_replacement_characters": "U+FFFD",
    "expect_no_control_characters": "control characters",
    "expect_no_mojibake": "mojibake",
    "expect_words_to_be_shorter_than": "words of more than 200 characters",
}
"""What sound text has in few rows at most, whatever it is about."""


def rare(kind: str) -> Callable[[Seen], Fits]:
    """Return a fit that proposes a rule on text, and tolerates few rows."""

    def fit(seen: Seen) -> Fits:
        share = share_unexpected(seen.trial(kind))
        return [
            Fitted(tolerant(seen, kind, {}, 1 - FEW), f"{percent(share)} of the rows have {RARELY[kind]}", "warning")
        ]

    return fit


def digits(seen: Seen) -> Fits:
    """Propose twice the run that nearly all rows have, within what keys and constants have."""
    runs = seen.spread("digit_run")
    if runs is None:
        return "no row has a visible character"
    usual = runs.quantile(USUAL)
    kwargs = {"max_run": int(min(128, max(64, 2 * usual))), "mostly": RARE}
    return [Fitted(kwargs, f"99 % of the rows have at most {usual:,} digits in a row, none more than {runs.highest:,}")]


def source_shares(seen: Seen) -> Fits:
    """Propose each source's share of the tokens, with room for chance and for a quarter of it."""
    found = tokens_by_source(seen.table, seen.context, seen.column).drop_nulls("source")
    whole = float(found["tokens"].sum())
    if found.height < 2 or not whole:
        return "there is one source" if found.height else "no row that has a source has a token"
    worth = whole**2 / float(found["squares"].sum())
    shares: dict[str, list[float]] = {}
    for source, tokens in found.head(MOST_NAMED).select("source", "tokens").iter_rows():
        share = tokens / whole
        room = max(0.02, 0.25 * share, CHANCE * math.sqrt(share * (1 - share) / worth))
        if share >= 0.01:
            shares[source] = [
                max(0.0, math.floor((share - room) * 100) / 100),
                min(1.0, rounded_up(share + room, 0.01)),
            ]
    if not shares:
        return f"none of {found.height:,} sources has 1 % of the tokens"
    told = ", ".join(
        f"{name} {percent(tokens / whole)}" for name, tokens in found.select("source", "tokens").head(5).iter_rows()
    )
    return [
        Fitted(
            {"shares": shares},
            f"{told}{' …' if found.height > 5 else ''}; a quarter of it, or 2 points, and more of few rows, either way",
        )
    ]
