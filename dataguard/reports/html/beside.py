"""What the page shows beside the result: what expectations mean, how numbers are spread, and rows that were read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dataguard.reports.rows import ShownRow


@dataclass(frozen=True)
class Spread:
    """How many rows (or tokens) have which number: counts[i] of them lie in [edges[i], edges[i + 1])."""

    edges: Sequence[float]
    counts: Sequence[int]


@dataclass(frozen=True)
class SourceNumbers:
    """A source's own numbers; None where nobody knows them.

    Args:
        source: Its name; None for rows that have none, or for `others` sources together.
        others: How many sources these are together; 0 for one.
        rows: All of its rows.
        padding: Rows by side: none, left, right, both.
        periodic: Rows in which a pattern repeats more often than the suite allows.
        shares: Mean over its rows, from 0 to 1, by the number's name.
    """

    source: str | None
    others: int = 0
    rows: int = 0
    padding: Mapping[str, int] | None = None
    periodic: int | None = None
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class CutRow:
    """A row, or of a long one a stretch around what is wrong with it.

    Args:
        row: The stretch, in which positions are counted from 0.
        first: Position of its first token in the row.
        tokens: Of the whole row.
    """

    row: ShownRow
    first: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class Beside:
    """What is known beside the result; whatever is left out is not shown.

    Args:
        meanings: What each expectation asks for, by type.
        sources: The most tokens first.
        shares: How rows are spread over the shares from 0 to 1, by the number's name.
        ids: How attended tokens are spread over the ids; the last edge may be infinite.
        repeats: How rows are spread over the repeats of their most repeated pattern; 0 stands for few or none.
        rows: Rows that something is wrong with.
        unread: How many rows could not be read again.
    """

    meanings: Mapping[str, str] = field(default_factory=dict)
    sources: Sequence[SourceNumbers] = ()
    shares: Mapping[str, Spread] = field(default_factory=dict)
    ids: Spread | None = None
    repeats: Spread | None = None
    rows: Sequence[CutRow] = ()
    unread: int = 0
