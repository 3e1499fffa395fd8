"""Rows of tokens as values: what there is to show of them, and the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dataguard.reports.json_report import plain


@dataclass(frozen=True)
class Mark:
    """What is wrong with a row: an expectation's type, the column, the reason, where, and what stands there."""

    type: str
    column: str | None
    reason: str
    position: int | None
    value: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return what is known of it, as plain values."""
        names = ("type", "column", "reason", "position", "value")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass(frozen=True)
class ShownTokens:
    """A column of tokens of one row, and the columns beside it.

    Args:
        name: Of the column.
        ids: Null elements are None; None for a null row.
        texts: The bytes of each token; None where nobody knows them.
        beside: Values by column: mask, labels, ….
        guilty: Positions at which something is wrong.
        special: Positions of special tokens.
    """

    name: str
    ids: Sequence[int | None] | None
    texts: Sequence[bytes] | None = None
    beside: Mapping[str, Sequence[Any] | None] = field(default_factory=dict)
    guilty: frozenset[int] = frozenset()
    special: frozenset[int] = frozenset()

    def __len__(self) -> int:
        """Positions of its longest column."""
        return max(len(values or ()) for values in (self.ids, *self.beside.values()))


@dataclass(frozen=True)
class ShownRow:
    """A row: where it stands, what is wrong with it, its tokens, and its other columns."""

    shard: str
    row: int
    source: str | None = None
    marks: tuple[Mark, ...] = ()
    tokens: tuple[ShownTokens, ...] = ()
    others: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values: a token's text is decoded by itself, with bytes that are no text spelled out."""
        columns: dict[str, Any] = {}
        for each in self.tokens:
            texts = None if each.texts is None else [decoded(text) for text in each.texts]
            whole = None if each.texts is None else decoded(b"".join(each.texts))
            columns[each.name] = {"ids": each.ids, "text": whole, "tokens": texts, **each.beside}
        marks = [mark.to_dict() for mark in self.marks]
        found = {"shard": self.shard, "row": self.row, "source": self.source, "findings": marks}
        shown: dict[str, Any] = plain({**found, "columns": columns, "others": self.others})
        return shown


def rows_json(rows: Iterable[ShownRow]) -> str:
    """Return rows as JSON: a list of `ShownRow.to_dict`."""
    return json.dumps([row.to_dict() for row in rows], ensure_ascii=False, allow_nan=False) + "\n"


def decoded(content: bytes) -> str:
    """Return bytes as text, those that are no text spelled out."""
    return content.decode("utf-8", "backslashreplace")


TAIL, AROUND, MOST_AROUND = 8, 12, 4
"""Tokens that are shown of a long row's end and on each side of a guilty one, and of how many of those."""


def stretches(length: int, guilty: frozenset[int], *, whole: int, head: int, gap: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a row that are shown, as (first, last + 1).

    Args:
        whole: A row of so many tokens is shown whole.
        head: Tokens of the beginning of a longer one in which nothing is guilty.
        gap: Tokens between two stretches that are shown as well.
    """
    if length <= whole:
        yield 0, length
        return
    places = [place for place in sorted(guilty) if 0 <= place < length]
    apart = [each for at, each in enumerate(places) if at == 0 or each - places[at - 1] > AROUND]
    wanted = [(0, TAIL if guilty else head), (length - TAIL, length)]
    wanted += [(max(0, place - AROUND), min(length, place + AROUND + 1)) for place in apart[:MOST_AROUND]]
    start, stop = 0, 0
    for first, last in sorted(wanted):
        if first <= stop + gap:
            stop = max(stop, last)
        else:
            yield start, stop
            start, stop = first, last
    yield start, stop
