"""A rule of a profile: which expectation may be proposed, and how its arguments follow from what was seen.

Two things hold for all of them. What is a matter of degree (a share of symbols, a longest run of digits) gets head room over
what nearly all rows have, and never beyond what no sound data has. What is a fault (an id beyond the vocabulary, a label beside
another token) is never learned: the rule stays as strict as it is, and fails on this data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dataguard.result import ExpectationResult, Severity
from dataguard.run.seen import Kwargs, Seen, Spread

FEW = 0.05
"""Share of unexpected rows below which a rule is taken to hold but for some faults."""
RARE = 0.999
"""All but one row in a thousand: what `mostly` of the shipped suites asks for."""
USUAL = 0.99
"""Share of the rows that limits follow; few enough to leave out faults, which are not to widen them."""
TIMES = 1.5
"""Head room over what those rows have."""
MOST_NAMED = 30
"""Sources that a suite may name."""
LEAST_ROWS = 100
"""Rows of a source below which its pile-up could be chance."""


@dataclass(frozen=True)
class Fitted:
    """Arguments of a proposed expectation, and what they were derived from."""

    kwargs: Kwargs
    why: str
    severity: Severity | None = None


Fits = Sequence[Fitted] | str
"""What is proposed of a type; or why nothing is."""


@dataclass(frozen=True)
class Rule:
    """A type of expectation that may be proposed.

    Args:
        fit: Derives its arguments.
        needs: Names (`Context.absent`) of what must be there.
        variants: Gives every choice of arguments on which its metrics depend.
        whole: It is on the data set, and proposed once, whatever token columns there are.
    """

    type: str
    fit: Callable[[Seen], Fits]
    needs: tuple[str, ...] = ()
    variants: Callable[[Seen], Iterable[Kwargs]] = lambda _: ({},)
    whole: bool = False


def as_it_is(why: str) -> Callable[[Seen], Fits]:
    """Return a fit that proposes a rule without arguments."""
    return lambda _: [Fitted({}, why)]


def share_unexpected(result: ExpectationResult) -> float:
    """Return the share of the judged rows that are unexpected; 1 where nothing could be judged."""
    if result.unjudged is not None or result.unexpected_count is None:
        return 1.0
    return result.unexpected_count / max(result.judged_count or 0, 1)


def first_that_holds(seen: Seen, kind: str, variants: Iterable[Kwargs]) -> Kwargs:
    """Return the first arguments under which all but a few rows hold, else those under which most do."""
    tried = [(share_unexpected(seen.trial(kind, kwargs)), kwargs) for kwargs in variants]
    return next((kwargs for share, kwargs in tried if share < FEW), min(tried, key=lambda each: each[0])[1])


def mostly(share: float) -> dict[str, float]:
    """Return the argument that tolerates twice the share that is unexpected here."""
    return {"mostly": math.floor((1 - 2 * share) * 1000) / 1000} if share else {}


def tolerant(seen: Seen, kind: str, kwargs: Kwargs, least: float) -> Kwargs:
    """Return arguments with a `mostly` that tolerates twice what is unexpected here: one row in a thousand, to 1 - least."""
    beyond = share_unexpected(seen.trial(kind, kwargs))
    return {**kwargs, "mostly": min(RARE, max(least, mostly(beyond).get("mostly", 1.0)))}


def rounded_up(value: float, step: float) -> float:
    """Round up to a step; what is a whole number of steps but for the last bit stays."""
    return round(math.ceil(value / step - 1e-9) * step, 6)


def percent(share: float) -> str:
    """Return a share as people say it."""
    return f"{100 * share:.3g} %"


def cap_of(lengths: Spread) -> int | None:
    """Return the length at which rows pile up: a fifth of them, three times as many as of the ten lengths below, few beyond."""
    longest = lengths.quantile(0.99)
    below = sum(lengths.share_at(longest - less) for less in range(1, 11)) / 10
    piled = lengths.share_at(longest) >= max(0.2, 3 * below) and lengths.total >= 2
    return int(longest) if piled else None


def list_columns(seen: Seen) -> Iterable[Kwargs]:
    """Return every list of the token column as an argument."""
    return [{"column": role} for role in seen.roles]
