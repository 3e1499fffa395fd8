"""Positions and boundaries of packed rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tests.expectations.reference.judging import MISSING, Arguments, Fault, Said
from tests.expectations.reference.terms import (
    Documents,
    Row,
    bounds_fault,
    by_bounds,
    by_document_ids,
    documents,
    sound,
)
from tests.expectations.reference.tokens import end_ids


def boundaries(row: Row, arguments: Arguments) -> Said:
    roles = [role for role in ("cu_seqlens", "seq_lengths") if row.has(role)]
    told = [role for role in roles if sound(row.beside(role))]
    if row.is_missing() or row.attended is None or not told:
        return MISSING
    order = ("beyond_row", "not_rising", "missing_boundary", "wrong_sum")
    faults = [fault for role in told if (fault := bounds_fault(row, role)) is not None]
    if faults:
        return Fault(min(faults, key=order.index), None)
    sayings = [by_document_ids(row) if row.has("document_ids") else None, *(by_bounds(row, role) for role in roles)]
    known = [each for each in sayings if each is not None]
    for one, other in pairwise(known):
        both = [place for place in one.inside if place in other.inside]
        wrong = [place for place in both if (place in one.starts) != (place in other.starts)]
        if wrong:
            return Fault("missing_boundary", wrong[0])
    return None


def positions(rows: Sequence[Row], arguments: Arguments) -> list[Said]:
    restart = arguments.get("restart", "document")
    across = arguments.get("across_rows", False) and restart == "document"
    found = [documents_of(row, restart) for row in rows]
    said: list[Said] = []
    for place, (row, own) in enumerate(zip(rows, found, strict=True)):
        if own is None:
            said.append(MISSING)
            continue
        before, last = (rows[place - 1], found[place - 1]) if place else (None, None)
        following = None
        if before is not None and last is not None and (restart == "never" or (across and continues(before, row))):
            following = before.beside("position_ids")[last.inside[-1]] + 1
        neighbours = before is not None and before.shard == row.shard
        said.append(one_row(row, own, arguments, following, neighbours=neighbours))
    return said


def documents_of(row: Row, restart: str) -> Documents | None:
    if row.is_missing() or not row.pairs("position_ids"):
        return None
    found = documents(row, by_eos=restart == "document")
    return found if found is not None and found.inside else None


def continues(before: Row, row: Row) -> bool:
    """Whether a row's first document is the last one of the row before."""
    one, other = end_ids(before), end_ids(row)
    return one is not None and other is not None and one[1] == other[0]


def one_row(row: Row, own: Documents, arguments: Arguments, following: int | None, *, neighbours: bool) -> Said:
    """Judge one row.

    Args:
        following: The position id that goes on where the row before it ended; None where the row need not go on.
        neighbours: Whether the row before stands in the same shard.
    """
    restart, start = arguments.get("restart", "document"), arguments.get("start", 0)
    ids, inside = row.beside("position_ids"), own.inside
    first = ids[inside[0]]
    negative = [place for place in inside if ids[place] < 0]
    if negative:
        return Fault("negative", negative[0])
    fresh = start in ("any", first)
    held = fresh if following is None else first == following or (fresh and not neighbours)
    if restart == "never" and following is None and neighbours:
        held = True  # where the row before ended is not known
    if not held:
        return Fault("wrong_start", inside[0])
    before = dict(zip(inside[1:], inside, strict=False))
    later = [place for place in own.starts if place in before] if restart == "document" else []
    stale = [p for p in later if (ids[p] == ids[before[p]] + 1 if start == "any" else ids[p] != start)]
    if stale:
        return Fault("not_restarted", stale[0])
    steps = [(place, q) for place, q in before.items() if place not in later]
    gaps = [place for place, q in steps if ids[place] - ids[q] not in (1, place - q)]
    return Fault("not_consecutive", gaps[0]) if gaps else None
