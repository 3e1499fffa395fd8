"""Rules on labels, and on documents that are packed into one row."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dataguard.run.rule import (
    FEW,
    Fits,
    Fitted,
    first_that_holds,
    percent,
    share_unexpected,
)
from dataguard.run.seen import Kwargs, Seen

SHIFTS: tuple[Kwargs, ...] = ({}, {"shift": 1})
"""Both conventions."""


def _shift(seen: Seen) -> Kwargs:
    return first_that_holds(seen, "expect_labels_to_align_with_input_ids", SHIFTS)


def align(seen: Seen) -> Fits:
    """Propose the convention that more rows follow."""
    kwargs = _shift(seen)
    return [Fitted(kwargs, "labels[i] is input_ids[i + 1]" if kwargs else "labels[i] is input_ids[i]: the loss shifts")]


def supervised(seen: Seen) -> Fits:
    """Propose that every row has a target."""
    targets, share = seen.spread("targets"), seen.spread("supervised_fraction")
    if targets is None or share is None:
        return "no row has labels"
    why = f"{targets.lowest:,} to {targets.highest:,} targets a row, half of the rows at least {percent(share.quantile(0.5))}"
    return [Fitted({"min_value": 1, **_shift(seen)}, why)]


def eos_supervised(seen: Seen) -> Fits:
    """Propose half of the share of ends that are learned."""
    result = seen.trial("expect_eos_to_be_supervised")
    observed = result.observed_value or {}
    if not observed.get("rows"):
        return "no row ends with eos"
    share = observed["fraction"]
    least = {"min_fraction": math.floor(share * 50) / 100} if share >= 0.5 else {}
    return [Fitted(least, f"{percent(share)} of the rows that end with eos learn it")]


def shifts(_: Seen) -> Iterable[Kwargs]:
    """Return both conventions."""
    return SHIFTS


def prompts(seen: Seen) -> Fits:
    """Propose that prompts are not learned: who trains on them on purpose says so."""
    return [Fitted(_shift(seen), "prompts are not learned; train_on_prompt: true where they shall be", "warning")]


def prefix(_: Seen) -> Fits:
    """Propose that prompts begin their rows, but for ids that differ where prompt and answer meet."""
    return [Fitted({"mostly": 0.99}, "rows begin with their prompts", "warning")]


def spans(seen: Seen) -> Fits:
    """Propose that answers alone are learned, and all of them."""
    return [Fitted(_shift(seen), "answers alone are learned, and all of them")]


def crossing(seen: Seen) -> Fits:
    """Propose that labels stay inside documents, where they do."""
    kwargs = {"shift": 0, **_shift(seen)}
    if share_unexpected(seen.trial("expect_labels_not_to_cross_documents", kwargs)) >= FEW:
        return "labels go on across documents, as most trainers allow"
    return [Fitted(kwargs, "the first label of each document is ignored")]


def crossings(_: Seen) -> Iterable[Kwargs]:
    """Return both conventions, as `_shift` chooses them."""
    return ({"shift": 0}, {"shift": 1})


def positions(seen: Seen) -> Fits:
    """Propose where positions begin anew."""
    kwargs = first_that_holds(seen, "expect_position_ids_to_be_consistent", restarts(seen))
    begin = {"document": "with each document", "row": "with each row", "never": "never"}[kwargs["restart"]]
    return [Fitted(kwargs, f"positions begin anew {begin}")]


def restarts(seen: Seen) -> Iterable[Kwargs]:
    """Return where positions may begin anew, the strictest first."""
    known = ["document"] if seen.missing(("documents",)) is None else []
    return [{"restart": restart} for restart in (*known, "row", "never")]
