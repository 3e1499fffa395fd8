"""Rules on files, columns and whole rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import reduce

from dataguard.expectations.mixture import tokens_by_source
from dataguard.run.rule import (
    FEW,
    MOST_NAMED,
    Fits,
    Fitted,
    cap_of,
    mostly,
    percent,
    share_unexpected,
)
from dataguard.run.seen import Kwargs, Seen, Spread, token_columns
from dataguard.shards.roles import INPUT_IDS, LABELS, PER_TOKEN, ROLES, role_of

SEEN = 5
"""Rows that the rarest source must have for all to have been seen: by Good and Turing, sources of one row tell of others."""


def columns(seen: Seen) -> Fits:
    """Propose the columns that most shards have."""
    why = "the columns that most shards have"
    return [Fitted(kwargs, why) for kwargs in columns_asked(seen)] or "no column of a known role is in most shards"


def columns_asked(seen: Seen) -> Iterable[Kwargs]:
    """Return these columns as an argument; nothing where there are none."""
    wanted = columns_wanted(seen)
    return ({"columns": wanted},) if wanted else ()


def columns_wanted(seen: Seen) -> list[str]:
    """Return the roles that more than half of the shards have a column for, the token columns first."""
    shards = [shard for shard in seen.context.intact if shard.rows]
    known = {role for shard in shards for role in shard.roles if shard.has(role) and _is_known(role)}
    most = [role for role in known if 2 * sum(shard.has(role) for shard in shards) > len(shards)]
    order = (*token_columns(seen.context), *ROLES)
    return sorted(most, key=lambda role: (order.index(role) if role in order else len(order), role))


def _is_known(role: str) -> bool:
    return role in ROLES or role.endswith(tuple(f"_{each}" for each in (INPUT_IDS, *PER_TOKEN)))


def dtypes(seen: Seen) -> Fits:
    """Propose that ids and labels fit their types."""
    shards = seen.context.intact
    typed = [role for role in seen.roles if role_of(role) in {INPUT_IDS, LABELS}]
    kinds = {role: sorted({str(kind) for shard in shards if (kind := shard.type_of(role))}) for role in typed}
    return [Fitted({"column": role}, f"{role} is {' and '.join(kinds[role])}") for role in typed]


def row_count(seen: Seen) -> Fits:
    """Propose that there are rows."""
    return [Fitted({"min_value": 1}, f"{seen.rows:,} rows here; raise it to what a run needs at least")]


def sources(seen: Seen) -> Fits:
    """Propose the sources by name, where all of them have been seen."""
    names = sorted(seen.context.sources)
    lacking = share_unexpected(seen.trial("expect_sources_to_be_known"))
    if len(names) == 1 or lacking > FEW:
        return "there is one source" if not lacking else f"{percent(lacking)} of the rows have no source"
    if len(names) > MOST_NAMED:
        return [Fitted({}, f"{len(names):,} sources, too many to name")]
    rarest = int(tokens_by_source(seen.table, seen.context, seen.column).drop_nulls("source")["rows"].to_numpy().min())
    if rarest < SEEN:
        why = f"a source of {rarest:,} rows says that there are others which were not seen: none is named"
        return [Fitted({}, why)]
    return [Fitted({"allowed": names}, "the sources that were seen; add one when it joins the mixture")]


def each_list(why: str) -> Callable[[Seen], Fits]:
    """Return a fit that proposes a rule for each list of the token column."""
    return lambda seen: [Fitted({"column": role}, why) for role in seen.roles]


def equal_lengths(seen: Seen) -> Fits:
    """Propose equal lengths where there is more than one column."""
    beside = [role for role in seen.roles if role_of(role) in PER_TOKEN]
    why = f"{seen.column} has {', '.join(beside)} beside it"
    return [Fitted({}, why)] if beside else "there is one column of tokens"


def lengths(seen: Seen) -> Fits:
    """Propose the length at which rows end, else the next power of two; and what all lengths are multiples of."""
    spread = seen.spread("tokens")
    if spread is None:
        return "no row has a token"
    cap, reach = cap_of(spread), f"{spread.lowest:,} to {spread.highest:,} tokens"
    if cap is not None and (spread.lowest == cap or spread.share_at(cap) > 1 - FEW / 5):
        return _of_one_length(spread, cap)
    if cap is not None:
        found = {"max_length": cap}
        why = f"{reach}; {percent(spread.share_at(cap))} of the rows end at {cap:,}"
    else:
        found = {"max_length": 1 << max(int(spread.highest) - 1, 1).bit_length()}
        why = f"{reach}, half of them up to {spread.quantile(0.5):,}; the next power of two"
    step = reduce(math.gcd, spread.steps.tolist(), 0)
    if step >= 8 and len(spread.steps) >= 3:
        found["multiple_of"] = step
        why += f"; all of them multiples of {step}"
    return [Fitted(found, why)]


def _of_one_length(spread: Spread, cap: int) -> Fits:
    """Propose one length for all rows; a few shorter ones, as at the ends of shards, are tolerated."""
    why = f"{percent(spread.share_at(cap))} of the rows have {cap:,} tokens"
    if spread.lowest == cap:
        return [Fitted({"min_length": cap, "max_length": cap}, why)]
    shorter = 1 - spread.share_at(cap) - spread.share_above(cap)
    whole = Fitted({"min_length": cap, **mostly(shorter)}, f"{percent(shorter)} of the rows have fewer")
    return [Fitted({"max_length": cap}, why), whole]


def unique_columns(seen: Seen) -> Iterable[Kwargs]:
    """Return what is compared: the ids, or both sides of a pair."""
    sides = token_columns(seen.context)
    return [{} if sides == [INPUT_IDS] else {"columns": sides}]


def unique(seen: Seen) -> Fits:
    """Propose that rows are unique, but for as many copies as real corpora have."""
    if seen.column != token_columns(seen.context)[0]:
        return "a pair is compared as a whole"
    (kwargs,) = unique_columns(seen)
    copies = share_unexpected(seen.trial("expect_rows_to_be_unique", kwargs))
    if copies >= FEW:
        return [Fitted(kwargs, f"{percent(copies)} of the rows are copies: more than real corpora have")]
    why = f"{percent(copies)} of the rows are copies; twice as many are tolerated" if copies else "no row is a copy"
    return [Fitted({**kwargs, **mostly(copies)}, why)]


def token_share(seen: Seen) -> Fits:
    """Propose that no row holds most of all tokens."""
    attended = seen.spread("attended_tokens")
    if attended is None or attended.total < 20:
        return "there are fewer than 20 rows"
    whole = float((attended.steps * attended.rows).sum())
    return [Fitted({}, f"the longest row holds {percent(attended.highest / whole)} of all tokens")]
