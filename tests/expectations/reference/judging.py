"""How rows are judged: each by itself or against all, with the arguments of its source, and what is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.expectations.reference.terms import Row

Arguments = Mapping[str, Any]


class Anywhere:
    """Stands for a position that the catalogue does not settle."""


ANYWHERE = Anywhere()


@dataclass(frozen=True)
class Missing:
    """The row is somebody else's fault, or nobody's."""


@dataclass(frozen=True)
class Fault:
    """The row is unexpected. A position of None says that the fault stands nowhere."""

    reason: str
    position: int | Anywhere | None = ANYWHERE
    also: tuple[str, ...] = ()
    """Further reasons that are counted."""


MISSING = Missing()
Said = Missing | Fault | None
"""What is said of one row; None: it holds."""
Judge = Callable[[Sequence[Row], Arguments], Sequence[Said]]


@dataclass(frozen=True)
class Reads:
    """Columns that a shard must have to be judged: roles beside the token column, and columns by their whole names."""

    ids: bool = True
    beside: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judged:
    """A verdict, as the library's is compared with it."""

    success: bool
    rows: int
    missing: int
    reasons: Mapping[str, int]
    unexpected: Sequence[tuple[int, int, str, int | Anywhere | None]]


def judged(
    judge: Judge,
    rows: Sequence[Row],
    arguments: Arguments,
    *,
    besides: Mapping[str, int] | None = None,
    in_part: bool = False,
) -> Judged:
    """Return the verdict on the rows of all shards that can be judged.

    Args:
        besides: Reasons that name no row, and how many rows they are of.
        in_part: Something is not known, so that the verdict is no pass.
    """
    by_source = arguments.get("by_source", {})
    said = list(judge(rows, arguments))
    for source, own in by_source.items():
        variant = judge(rows, {**arguments, **own})
        said = [other if row.source == source else each for row, each, other in zip(rows, said, variant, strict=True)]
    faults = [(row, each) for row, each in zip(rows, said, strict=True) if isinstance(each, Fault)]
    missing = sum(isinstance(each, Missing) for each in said)
    tolerated = (len(rows) - missing) * (1 - Fraction(str(arguments.get("mostly", 1.0))))
    reasons = Counter(reason for _, fault in faults for reason in (fault.reason, *fault.also))
    reasons.update(besides or {})
    return Judged(
        success=len(faults) <= tolerated and not besides and not in_part,
        rows=len(rows),
        missing=missing,
        reasons=dict(reasons),
        unexpected=[(row.shard, row.number, fault.reason, fault.position) for row, fault in faults],
    )


def each(one: Callable[[Row, Arguments], Said]) -> Judge:
    """Return the judge that judges each row by itself."""
    return lambda rows, arguments: [one(row, arguments) for row in rows]
