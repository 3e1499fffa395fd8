"""Columns that differ from shard to shard stop a loader in the middle of a run, or change what it yields there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeVar

import pyarrow as pa

from dataguard.expectations.base import Expectation, Level, Outcome, intact_shards
from dataguard.expectations.context import Context, MetricTable, ShardFacts
from dataguard.result import MOST_ENTRIES, Finding
from dataguard.shards.roles import is_list

Told = TypeVar("Told")

MOST_NAMED = 3
Meaning = str | tuple[Any, ...] | None
"""What a type holds, whatever its layout: None for nothing but nulls, a tuple for what has other types inside."""

_TEXTS: Mapping[pa.DataType, str | None] = {
    pa.null(): None,
    **dict.fromkeys((pa.string(), pa.large_string(), pa.string_view()), "string"),
    **dict.fromkeys((pa.binary(), pa.large_binary(), pa.binary_view()), "binary"),
}


class ExpectSchemasToMatch(Expectation):
    """All shards have the same columns with the same types of values; other layouts of the same values are only noted."""

    level: ClassVar[Level] = "dataset"
    default_severity: ClassVar[Literal["warning"]] = "warning"
    reasons: ClassVar[tuple[str, ...]] = ("missing_column", "different_dtype")
    fix: ClassVar[str] = "write these shards again with the columns and types of the others"
    value_name: ClassVar[str] = "type"

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        shards = _with_types(intact_shards(context))
        columns = dict.fromkeys(name for _, types in shards for name in types)
        found: list[Finding] = []
        layouts: dict[str, dict[str, int]] = {}
        for column in columns:
            here = [(shard, types[column]) for shard, types in shards if column in types]
            if len(here) < len(shards):
                there = {shard.name for shard, _ in here}
                detail = _who_has_it([shard.name for shard, _ in here], len(shards))
                found += [
                    Finding(shard=shard.name, column=column, reason="missing_column", detail=detail)
                    for shard, _ in shards
                    if shard.name not in there
                ]
            others = _different(column, here)
            found += others
            kinds = Counter(_of_each(str, [kind for _, kind in here]))
            if len(kinds) > 1 and not others:
                layouts[column] = dict(sorted(kinds.items()))
        places = {shard.name: place for place, (shard, _) in enumerate(shards)}
        found.sort(key=lambda each: places[str(each.shard)])
        reasons = dict(sorted(Counter(each.reason for each in found).items()))
        details = {"reasons": reasons, "layouts": layouts}
        return Outcome(
            success=not found,
            element_count=len(shards),
            unexpected_count=len({each.shard for each in found}),
            missing_count=0,
            findings=tuple(found[:MOST_ENTRIES]),
            details={key: value for key, value in details.items() if value},
        )


def _with_types(shards: Iterable[ShardFacts]) -> list[tuple[ShardFacts, Mapping[str, pa.DataType]]]:
    """Return the shards that have columns, with the types of those: the same objects where they share a schema."""
    known: dict[int, Mapping[str, pa.DataType]] = {}
    found = []
    for shard in shards:
        if shard.schema is not None:
            if id(shard.schema) not in known:
                known[id(shard.schema)] = {field.name: field.type for field in shard.schema}
            found.append((shard, known[id(shard.schema)]))
    return found


def _of_each(told: Callable[[pa.DataType], Told], kinds: Sequence[pa.DataType]) -> list[Told]:
    """Return what is told of each type, asked once of those that are one object."""
    known: dict[int, Told] = {}
    for kind in kinds:
        if id(kind) not in known:
            known[id(kind)] = told(kind)
    return [known[id(kind)] for kind in kinds]


def _who_has_it(names: Sequence[str], shards: int) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"{len(names):,} of {shards:,} shards have it: {', '.join(names[:MOST_NAMED])}{more}"


def _different(column: str, here: Sequence[tuple[ShardFacts, pa.DataType]]) -> list[Finding]:
    """Return the shards whose values do not fit those of the most shards (on a tie, of the first)."""
    meanings = _of_each(meaning, [kind for _, kind in here])
    usual, count = Counter([each for each in meanings if _is_known(each)] or meanings).most_common(1)[0]
    like = next(kind for (_, kind), each in zip(here, meanings, strict=True) if each == usual)
    detail = f"{count:,} of {len(here):,} shards have {like}"
    return [
        Finding(shard=shard.name, column=column, reason="different_dtype", value=str(kind), detail=detail)
        for (shard, kind), each in zip(here, meanings, strict=True)
        if not fits(each, usual)
    ]


def _is_known(held: Meaning) -> bool:
    """Whether a type says of all its values what they are."""
    return held is not None and (isinstance(held, str) or all(map(_is_known, held)))


def meaning(kind: pa.DataType) -> Meaning:
    """Return what a type holds, whatever its layout."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    held: Meaning = _TEXTS.get(kind, str(kind))
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        held = meaning(kind.value_type)
    elif is_list(kind):
        held = ("list", meaning(kind.value_type))
    elif pa.types.is_struct(kind):
        held = ("struct", *((field.name, meaning(field.type)) for field in sorted(kind, key=lambda each: each.name)))
    elif pa.types.is_map(kind):
        held = ("map", meaning(kind.key_type), meaning(kind.item_type))
    return held


def fits(one: Meaning, other: Meaning) -> bool:
    """Whether two types hold the same values; nulls fit everything."""
    if one is None or other is None:
        return True
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return len(one) == len(other) and all(map(fits, one, other))
