"""Columns that somebody asked for by name: a role that there is, a column that some shard has, or a refusal.

A mapping that leads nowhere would leave out, in silence, whatever judges the role.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from dataguard.errors import DataError, UsageError, nearest
from dataguard.expectations.context import ShardFacts
from dataguard.run.request import Request
from dataguard.shards.roles import INPUT_IDS, ROLES, is_integer_list, is_role
from dataguard.suite.model import Suite

MOST_NAMED = 12
ALIKE = 0.6


def refuse_unknown_roles(columns: Mapping[str, str]) -> None:
    """Refuse columns that are given for something else than a role.

    Raises:
        UsageError: There is one; it names the nearest role.
    """
    for role, column in columns.items():
        if not is_role(role):
            raise UsageError(f"there is no role {role}", where=f"--column {role}={column}", fix=nearest(role, ROLES))


def demand_columns(shards: Sequence[ShardFacts], suite: Suite, request: Request) -> None:
    """Refuse a data set that lacks a column which was asked for by name, or has none of token ids.

    Raises:
        DataError: No intact shard has the column; it says who asked for it, and which columns there are.
    """
    intact = [shard for shard in shards if shard.fault is None and shard.schema is not None]
    if not intact:
        return
    names = {field.name for shard in intact for field in shard.schema or ()}
    for role, column, where in _asked(suite, request):
        if column not in names:
            by_likeness = sorted(names, key=lambda name: (-SequenceMatcher(None, column, name).ratio(), name))
            near = by_likeness and SequenceMatcher(None, column, by_likeness[0]).ratio() >= ALIKE
            fix = f"did you mean {by_likeness[0]}?" if near else f"give --column {role}=NAME with one of these"
            what = f"no shard has a column {column}, which was asked for as {role}"
            raise DataError(what, where=where, why=_seen(intact, by_likeness), fix=fix)
    _demand_token_column(intact, [each.expectation.column for each in suite.expectations])


def _asked(suite: Suite, request: Request) -> Iterator[tuple[str, str, str]]:
    """Yield each role with its column, and who asked for it."""
    for role, column in {**suite.columns, **request.columns}.items():
        if role in request.columns_from:
            yield role, column, f"{request.columns_from[role]}, columns: {{{role}: {column}}}"
        elif role in request.columns:
            yield role, column, f"--column {role}={column}"
        else:
            yield role, column, f"the suite {suite.name} ({suite.origin}), columns: {{{role}: {column}}}"


def _seen(shards: Sequence[ShardFacts], names: Sequence[str]) -> str:
    """Return which columns the shards have."""
    who = f"{shards[0].name} has" if len(shards) == 1 else f"the {len(shards):,} shards have"
    more = f", and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"{who} {', '.join(names[:MOST_NAMED])}{more}" if names else f"{who} no columns"


def _demand_token_column(intact: Sequence[ShardFacts], columns: Sequence[str]) -> None:
    """Refuse a data set in which nothing can be taken for token ids, nor for any other column that is judged."""
    if any(column in shard.roles for shard in intact for column in {INPUT_IDS, *columns}):
        return
    names = {field.name: None for shard in intact for field in shard.schema or ()}
    lists = {field.name for shard in intact for field in shard.schema or () if is_integer_list(field.type)}
    why = f"columns of integer lists: {', '.join(sorted(lists))}" if lists else _seen(intact, [*names])
    fix = "say which column holds the token ids: --column input_ids=NAME"
    raise DataError("no column of token ids was found", where=intact[0].name, why=why, fix=fix)
