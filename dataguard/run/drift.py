"""How far a distribution has moved between two reports, of which each counts in classes of its own.

A report holds how many rows lie in each bin, and bins follow its data. So of the other report it is only known between which two
shares what lies below an edge must be. Then each edge by itself parts both into two classes, read as much alike as the bins
allow: in whatever finer classes, the two are at least as far apart as that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

from dataguard.expectations.baseline import Distribution
from dataguard.expectations.distributions_match import Compared, compare
from dataguard.reports.difference import Drift

MOVED = 0.1
"""An index from which on two distributions begin to differ."""


def drift_of(column: str, name: str, old: Distribution, new: Distribution) -> Drift:
    """Return how far a distribution has moved; both count sources, or both count bins."""
    exact = bool(old.names) or old.edges == new.edges
    if old.names:
        compared = compare(name, *_of_sources(old, new))
    elif exact:
        compared = compare(name, old, new)
    else:
        parted = [*_parted(old, new), *((before, now) for now, before in _parted(new, old))]
        compared = max((compare(name, *each) for each in parted), key=_beyond)
    return Drift(
        column, name, compared.psi, compared.chance, not exact, moved=compared.drifted(MOVED), most=compared.most
    )


def _beyond(compared: Compared) -> float:
    return compared.psi - compared.chance


def _of_sources(old: Distribution, new: Distribution) -> tuple[Distribution, Distribution]:
    """Return the tokens of the same sources: of all, where both reports name all of theirs, else of those that both name."""
    whole = not old.counts[-1] and not new.counts[-1]
    names = tuple(dict.fromkeys((*old.names, *new.names)))
    if not whole:
        names = tuple(name for name in names if name in old.names and name in new.names)
    return _named(old, names), _named(new, names)


def _named(given: Distribution, names: tuple[str | None, ...]) -> Distribution:
    found = dict(zip(given.names, given.counts, strict=False))
    counts = [found.get(name, 0) for name in names]
    return replace(given, names=names, counts=(*counts, sum(given.counts) - sum(counts)))


def _parted(known: Distribution, other: Distribution) -> Iterator[tuple[Distribution, Distribution]]:
    """Yield both in two classes, parted at each edge of the first; the second as much like that one as its bins allow."""
    whole, total, below = sum(known.counts), sum(other.counts), [0, *accumulate(other.counts)]
    for edge, count in zip(known.edges, accumulate(known.counts), strict=False):
        place = bisect_right(other.edges, edge)
        least = below[place]
        most = least if place and other.edges[place - 1] == edge else below[place + 1]
        like = min(max(round(total * count / whole), least), most)
        yield (
            replace(known, edges=(edge,), counts=(count, whole - count)),
            replace(other, edges=(edge,), counts=(like, total - like)),
        )
