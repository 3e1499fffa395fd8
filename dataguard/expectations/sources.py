"""How the rows of each source end: their longest length, whether they pile up there, and which special tokens are left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

BELOW = 10
"""Lengths below a source's longest that its pile-up is compared with."""
HALF = 0.5
QUANTILES = (("p5", 0.05), ("p50", 0.5), ("p95", 0.95))


@dataclass(frozen=True)
class Source:
    """How one source's rows end.

    Args:
        cap: The longest length, where rows pile up there (at least two, `min_pile_up` of the rows, and three times the mean
            of the ten lengths below it), else None.
        pile_up: Share of the rows that have the longest length.
        bos_cut, bos_uncut, eos_cut, eos_uncut: Shares of the rows that begin with bos, or end with eos, among the rows at the
            cap (cut) and the shorter ones (uncut); None where there are no such rows, or the id is not known.
        lengths: (length, rows) of every length that occurs, rising.
    """

    name: str
    rows: int
    tokens: int
    cap: int | None
    pile_up: float
    bos_cut: float | None
    bos_uncut: float | None
    eos_cut: float | None
    eos_uncut: float | None
    lengths: tuple[tuple[int, int], ...]

    @property
    def longest(self) -> int:
        """Tokens in the longest row."""
        return self.lengths[-1][0]

    def over(self, cap: int) -> int:
        """Count the rows longer than a cap."""
        return sum(rows for length, rows in self.lengths if length > cap)

    def quantiles(self) -> dict[str, int]:
        """Return the shortest and longest length and some quantiles between."""
        found: dict[str, int] = {"min": self.lengths[0][0]}
        for name, share in QUANTILES:
            seen = 0
            for length, rows in self.lengths:
                seen += rows
                if seen >= share * self.rows:
                    found[name] = length
                    break
        return {**found, "max": self.longest}


@dataclass(frozen=True)
class Ends:
    """Which special tokens the rows of a data set stand between, as far as any source shows it."""

    bos: bool
    eos: bool

    @classmethod
    def of(cls, sources: Sequence[Source]) -> Ends:
        """Take an id as used where it stands in half of the cut or of the uncut rows of some source."""

        def used(*shares: float | None) -> bool:
            return any(share is not None and share >= HALF for share in shares)

        return cls(
            bos=any(used(source.bos_cut, source.bos_uncut) for source in sources),
            eos=any(used(source.eos_cut, source.eos_uncut) for source in sources),
        )

    def side(self, source: Source) -> str | None:
        """Return the end that a source's cut rows lost: bos gone, left; eos gone or bos still there, right.

        None where both are gone, or nothing tells. Rows can only lose what the source's whole rows have.
        """
        bos = _kept(source.bos_cut, source.bos_uncut, used=self.bos)
        eos = _kept(source.eos_cut, source.eos_uncut, used=self.eos)
        if bos is False:
            return None if eos is False else "left"
        return "right" if bos or eos is False else None

    def keeps_eos(self, source: Source) -> bool | None:
        """Whether a source's cut rows end with eos; None where that says nothing (cut at the left, nothing cut)."""
        if not self.eos or source.eos_cut is None or self.side(source) == "left":
            return None
        return source.eos_cut >= HALF


def _kept(cut: float | None, uncut: float | None, *, used: bool) -> bool | None:
    """Whether cut rows still have a special token; None where they could not have lost it, or there are none."""
    expected = used if uncut is None else uncut >= HALF
    return cut >= HALF if expected and cut is not None else None


def source_of(name: str, counts: pl.DataFrame, min_pile_up: float, known: Mapping[str, bool]) -> Source:
    """Sum up a source's rows.

    Args:
        counts: A row for each length that occurs, rising: length, rows, bos, eos (rows that begin or end with it).
        known: Whether bos and eos are known ids.
    """
    rows, longest = int(counts["rows"].sum()), int(counts["length"][-1])
    at_longest = int(counts["rows"][-1])
    below = int(counts.filter(pl.col("length").is_between(longest - BELOW, longest - 1))["rows"].sum()) / BELOW
    piled = at_longest >= 2 and at_longest >= min_pile_up * rows and at_longest >= 3 * below
    cut, uncut = (counts.tail(1), counts.head(-1)) if piled else (counts.clear(), counts)

    def share(of: pl.DataFrame, token: str) -> float | None:
        total = int(of["rows"].sum())
        return int(of[token].sum()) / total if known[token] and total else None

    return Source(
        name=name,
        rows=rows,
        tokens=int((counts["rows"] * counts["length"]).sum()),
        cap=longest if piled else None,
        pile_up=at_longest / rows,
        bos_cut=share(cut, "bos"),
        bos_uncut=share(uncut, "bos"),
        eos_cut=share(cut, "eos"),
        eos_uncut=share(uncut, "eos"),
        lengths=tuple(counts.select("length", "rows").iter_rows()),
    )


def differing(opinions: Mapping[str, Any], tokens: Mapping[str, int]) -> tuple[Any, list[str]]:
    """Return what most tokens say, and the sources that say otherwise; (None, all of them) on a tie.

    Args:
        opinions: What each source says; a source that says nothing is not in it.
        tokens: The tokens of each source.
    """
    weights: dict[Any, int] = {}
    for name, opinion in opinions.items():
        weights[opinion] = weights.get(opinion, 0) + tokens[name]
    if len(weights) < 2:
        return next(iter(weights), None), []
    most = max(weights.values())
    winners = [opinion for opinion, weight in weights.items() if weight == most]
    if len(winners) > 1:
        return None, list(opinions)
    return winners[0], [name for name, opinion in opinions.items() if opinion != winners[0]]
