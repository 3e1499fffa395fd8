"""One row of a batch, as what a report shows of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from dataguard.expectations.context import ShardFacts
from dataguard.reports.rows import Mark, ShownRow, ShownTokens
from dataguard.run.dataset import source_of_rows
from dataguard.shards.model import Shard
from dataguard.shards.roles import INPUT_IDS, PER_TOKEN, companion, is_integer_list
from dataguard.vocabulary.model import CharacterTable, Vocabulary


def shown_row(
    shard: Shard, facts: ShardFacts, row: int, batch: pa.RecordBatch, *, marks: Sequence[Mark], vocabulary: Vocabulary
) -> ShownRow:
    """Return a row with its tokens and their companions under each other.

    Args:
        shard, facts: The shard that it stands in.
        row: Its number there.
        batch: The row alone, all columns.
        marks: What is wrong with it.
        vocabulary: Gives each token's text, and says which ids there are.
    """
    columns = _token_columns(facts, marks)
    shown = [_tokens(role, facts, batch, marks, vocabulary) for role in columns]
    told = {name for each in shown for name in (each.name, *each.beside)}
    others = {name: batch.column(name)[0].as_py() for name in batch.schema.names if name not in told}
    source, column = source_of_rows(shard, facts, None)
    if column is not None:
        source = None if (said := batch.column(column)[0].as_py()) is None else str(said)
    return ShownRow(shard.name, row, source, tuple(marks), tuple(shown), others)


def _token_columns(facts: ShardFacts, marks: Sequence[Mark]) -> list[str]:
    """Return the roles of token columns: input_ids, prefixed ones, and those that something is wrong with."""
    roles = [role for role in facts.roles if role == INPUT_IDS or role.endswith(f"_{INPUT_IDS}")]
    beside = {companion(role, each) for role in roles for each in PER_TOKEN}
    marked = [mark.column for mark in marks if mark.column is not None and mark.column in facts.roles]
    roles += [role for role in dict.fromkeys(marked) if role not in roles and role not in beside]
    return [role for role in roles if (kind := facts.type_of(role)) is not None and is_integer_list(kind)]


def _tokens(
    role: str, facts: ShardFacts, batch: pa.RecordBatch, marks: Sequence[Mark], vocabulary: Vocabulary
) -> ShownTokens:
    ids = batch.column(facts.roles[role])[0].as_py()
    beside = {
        facts.roles[other]: batch.column(facts.roles[other])[0].as_py()
        for each in PER_TOKEN
        if (other := companion(role, each)) in facts.roles and other != role and facts.can_read(other)
    }
    owned = {role, *(companion(role, each) for each in PER_TOKEN)}
    guilty = {mark.position for mark in marks if mark.position is not None and mark.column in owned}
    limit = vocabulary.limit
    if ids is not None and limit is not None:
        guilty |= {place for place, each in enumerate(ids) if each is not None and not 0 <= each < limit}
    special = set(vocabulary.special_ids)
    return ShownTokens(
        name=facts.roles[role],
        ids=ids,
        texts=None if ids is None or vocabulary.characters is None else _texts(ids, vocabulary.characters),
        beside=beside,
        guilty=frozenset(guilty),
        special=frozenset(place for place, each in enumerate(ids or ()) if each in special),
    )


def _texts(ids: Sequence[Any], table: CharacterTable) -> list[bytes]:
    """Return the bytes of each token; none of an id that has none."""
    data, offsets = table.data, table.offsets
    return [
        data[offsets[each] : offsets[each + 1]].tobytes() if each is not None and 0 <= each < len(table) else b""
        for each in ids
    ]
