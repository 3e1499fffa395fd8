"""How far a distribution has moved between two reports, of which each counts in classes of its own.

A report holds how many rows lie in each bin, and bins follow its data. So of the other report it is only known between which two
shares what lies below an edge must be. The two are then read as much alike as their bins allow: what is told is at least so.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate, pairwise

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
        readings = [compare(name, old, _read_like(new, old)), compare(name, _read_like(old, new), new)]
        compared = max(readings, key=_beyond)
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


def _read_like(given: Distribution, like: Distribution) -> Distribution:
    """Return a distribution in another's bins, as much like that one as its own bins allow."""
    total, below = sum(given.counts), [0, *accumulate(given.counts)]
    whole, wanted = sum(like.counts), [*accumulate(like.counts)]
    seen = [0]
    for edge, want in zip(like.edges, wanted, strict=False):
        place = bisect_right(given.edges, edge)
        known = place > 0 and given.edges[place - 1] == edge
        least, most = below[place], below[place] if known else below[place + 1]
        seen.append(min(max(round(total * want / whole), least), most))
    counts = tuple(after - before for before, after in pairwise([*seen, total]))
    return replace(given, edges=like.edges, counts=counts)
