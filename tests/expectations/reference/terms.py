"""What the catalogue's terms mean, in plain Python over lists: rows, attended, content, characters, documents.

Written from the catalogue's words and from the docstrings of the expectations; nothing of dataguard is imported.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

INT64_MAX = (1 << 63) - 1
PER_TOKEN = ("attention_mask", "labels", "position_ids", "document_ids", "loss_mask")

Cells = Mapping[str, Any]


@dataclass(frozen=True)
class Vocabulary:
    """What is known of the vocabulary. `spelled` gives the bytes of each id; empty where they are not known."""

    size: int | None = None
    embedding_rows: int | None = None
    pad: int | None = None
    bos: int | None = None
    eos: int | None = None
    unk: int | None = None
    special: Mapping[str, int] = field(default_factory=dict)
    reserved: frozenset[int] = frozenset()
    spelled: Sequence[bytes] = field(default=(), repr=False)

    @property
    def limit(self) -> int | None:
        return self.size if self.embedding_rows is None else self.embedding_rows

    @property
    def special_ids(self) -> set[int]:
        """Ids that are no content: unk is content, unless it is pad, bos or eos as well."""
        named = {each for each in (self.pad, self.bos, self.eos) if each is not None}
        return named | {each for each in self.special.values() if each != self.unk}

    @property
    def pad_is_own(self) -> bool:
        """Whether pad differs from every other special id."""
        others = [self.bos, self.eos, self.unk, *self.special.values()]
        return self.pad is not None and others.count(self.pad) <= (self.pad in self.special.values())


@dataclass(frozen=True)
class Row:
    """One row: its shard (place in the data set), its number, its source, and a cell for each column of its shard."""

    shard: int
    number: int
    source: str | None
    cells: Cells
    column: str
    vocabulary: Vocabulary

    def companion(self, role: str) -> str:
        return self.column.removesuffix("input_ids") + role

    def has(self, role: str) -> bool:
        """Whether the shard has a column of this role, beside the token column."""
        return self.companion(role) in self.cells

    def beside(self, role: str) -> Any:
        """Return the cell of a role that goes with the token column."""
        return clipped(self.cells[self.companion(role)])

    @cached_property
    def ids(self) -> Any:
        return clipped(self.cells[self.column])

    @property
    def tokens(self) -> list[int]:
        """The ids of a row that is sound."""
        found: list[int] = self.ids
        return found

    def is_missing(self) -> bool:
        """Whether the row is null, holds a null, or has no tokens."""
        return not sound(self.ids) or not self.ids

    def pairs(self, role: str) -> bool:
        """Whether the ids and a companion have one length, and neither is null or holds a null."""
        other = self.beside(role)
        return sound(self.ids) and sound(other) and len(self.ids) == len(other)

    @cached_property
    def attended(self) -> list[bool] | None:
        """Return which positions are attended; None where ids and mask do not pair."""
        if self.has("attention_mask"):
            return [bool(each) for each in self.beside("attention_mask")] if self.pairs("attention_mask") else None
        return unpadded(self.ids, self.vocabulary.pad if self.vocabulary.pad_is_own else None)

    @cached_property
    def places(self) -> list[int]:
        """The attended positions."""
        return [place for place, seen in enumerate(self.attended or []) if seen]

    @property
    def first(self) -> int:
        return self.places[0]

    @property
    def last(self) -> int:
        return self.places[-1]

    @cached_property
    def content(self) -> list[int]:
        """The attended ids that are no special tokens."""
        return [self.ids[place] for place in self.places if self.ids[place] not in self.vocabulary.special_ids]

    @cached_property
    def is_blank(self) -> bool:
        """Whether the content spells text of white space alone."""
        spelled = self.vocabulary.spelled
        if not spelled or any(not 0 <= token < len(spelled) for token in self.content):
            return False
        text = b"".join(spelled[token] for token in self.content).decode("utf-8", "ignore")
        return bool(text) and text.isspace()

    @cached_property
    def has_content(self) -> bool:
        """Whether the row pairs with its mask and holds attended content: else it is left to others."""
        return not self.is_missing() and self.attended is not None and bool(self.content) and not self.is_blank

    @property
    def left(self) -> int:
        """Positions before the first attended one; all of them where nothing is attended."""
        return self.first if self.places else len(self.ids)

    @property
    def right(self) -> int:
        """Positions behind the last attended one."""
        return len(self.ids) - 1 - self.last if self.places else 0


def clipped(cell: Any) -> Any:
    """Return a cell as comparisons in 64 bits see it."""
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, int):
        return min(cell, INT64_MAX)
    return [clipped(each) for each in cell] if isinstance(cell, list) else cell


def sound(cell: Any) -> bool:
    """Whether a list is there, and no element of it is null."""
    return cell is not None and None not in cell


def unpadded(ids: Sequence[Any], pad: int | None) -> list[bool]:
    """Return which positions are no padding: those that have something else than a pad on both sides, or are none."""
    real = [place for place, token in enumerate(ids) if pad is None or token != pad]
    return [bool(real) and real[0] <= place <= real[-1] for place in range(len(ids))]


def characters(row: Row) -> list[str]:
    """Return the pieces of text that a row spells: one for each stretch of content ids."""
    spelled, special = row.vocabulary.spelled, row.vocabulary.special_ids
    pieces, piece = [], b""
    for place, token in enumerate(row.ids):
        if place in row.places and token not in special and 0 <= token < len(spelled):
            piece += spelled[token]
        else:
            pieces.append(piece)
            piece = b""
    return [each.decode("utf-8", "ignore") for each in (*pieces, piece)]


def kind_of(character: str) -> str:
    """Return white, letter, digit, symbol or other."""
    major = unicodedata.category(character)[0]
    if character.isspace() and major in "CZ":
        return "white"
    return {"L": "letter", "M": "letter", "N": "digit", "P": "symbol", "S": "symbol"}.get(major, "other")


@dataclass(frozen=True)
class Documents:
    """The documents of a row.

    Args:
        numbers: The number of each position's document, None where it is in none.
        by: What tells them: column, mask, eos, or nothing (the row is one).
    """

    numbers: list[int | None]
    by: str

    @property
    def starts(self) -> list[int]:
        """The first position of each document."""
        seen: set[int] = set()
        return [p for p, n in enumerate(self.numbers) if n is not None and not (n in seen or seen.add(n))]  # type: ignore[func-returns-value]

    def of(self, number: int) -> list[int]:
        """Return the positions of a document."""
        return [place for place, each in enumerate(self.numbers) if each == number]

    @property
    def inside(self) -> list[int]:
        """Return all positions that are in a document."""
        return [place for place, each in enumerate(self.numbers) if each is not None]


def numbered(parts: Sequence[Sequence[int]], length: int) -> list[int | None]:
    """Return the number of each position's document, of those that have any position."""
    numbers: list[int | None] = [None] * length
    for number, part in enumerate(part for part in parts if part):
        for place in part:
            numbers[place] = number
    return numbers


def without_pads(row: Row, numbers: list[int | None]) -> list[int | None]:
    """Take away a last document that is exactly the padding, where attention cannot tell what padding is."""
    pad, told = row.vocabulary.pad, [number for number in numbers if number is not None]
    if row.has("attention_mask") or row.vocabulary.pad_is_own or pad is None or not told or told[-1] == told[0]:
        return numbers
    last = [place for place, number in enumerate(numbers) if number == told[-1]]
    if all(row.ids[place] == pad for place in last):
        return [None if number == told[-1] else number for number in numbers]
    return numbers


def runs(values: Mapping[int, int]) -> list[list[int]]:
    """Return places in runs of one value."""
    found: list[list[int]] = []
    for place, value in values.items():
        if found and values[found[-1][-1]] == value:
            found[-1].append(place)
        else:
            found.append([place])
    return found


def documents(row: Row, *, by_eos: bool) -> Documents | None:
    """Return the documents of a row; None where they are not known.

    Args:
        row: One that is not missing.
        by_eos: Whether eos ends a document where nothing else tells any.
    """
    if row.attended is None:
        return None
    if row.has("document_ids"):
        return by_document_ids(row)
    for role in ("cu_seqlens", "seq_lengths"):
        if row.has(role):
            return by_bounds(row, role)
    mask = row.beside("attention_mask") if row.has("attention_mask") else []
    if any(each > 1 for each in mask):
        return Documents(numbered(runs({place: mask[place] for place in row.places}), len(row.ids)), "mask")
    numbers: list[int | None] = [0 if seen else None for seen in row.attended]
    eos = row.vocabulary.eos
    if by_eos and eos is not None:
        number, before = 0, None
        for place in row.places:
            number += before == eos and row.ids[place] != eos
            numbers[place], before = number, row.ids[place]
        if number:
            return Documents(numbers, "eos")
    return Documents(numbers, "nothing")


def by_document_ids(row: Row) -> Documents | None:
    if row.attended is None or not row.pairs("document_ids"):
        return None
    ids = row.beside("document_ids")
    numbers = numbered(runs({place: ids[place] for place in row.places}), len(row.ids))
    return Documents(without_pads(row, numbers), "column")


def by_bounds(row: Row, role: str) -> Documents | None:
    """Return the documents that boundaries, or lengths, tell; None where they do not fit the row."""
    told = row.beside(role)
    if row.attended is None or not sound(told) or bounds_fault(row, role) is not None:
        return None
    bounds = told if role == "cu_seqlens" else [sum(told[:place]) for place in range(len(told) + 1)]
    first = 0 if bounds[-1] == len(row.ids) else row.left
    spans = pairwise(bounds)
    parts = [[place for place in row.places if first + low <= place < first + high] for low, high in spans]
    return Documents(without_pads(row, numbered(parts, len(row.ids))), "column")


def bounds_fault(row: Row, role: str) -> str | None:
    """Return what is wrong with boundaries or lengths by themselves; None where they fit the row."""
    told, length = row.beside(role), len(row.ids)
    lengths = role == "seq_lengths"
    bounds = [sum(told[:place]) for place in range(len(told) + 1)] if lengths else told
    if not lengths and any(bound > length for bound in bounds):
        return "beyond_row"
    if any(low >= high for low, high in pairwise(bounds)) or any(bound < 0 for bound in bounds):
        return "not_rising"
    end = bounds[-1] if bounds else 0
    slack = 0
    if not row.has("attention_mask") and not row.vocabulary.pad_is_own and row.vocabulary.pad is not None:
        while slack < length and row.ids[length - 1 - slack] == row.vocabulary.pad:
            slack += 1
    attended = length - row.left - row.right
    reached = end == attended or length - slack <= end < length
    ends = (row.left == 0 or row.left in bounds) and (row.right == 0 or length - row.right in bounds)
    if lengths and not (reached or end == length):
        return "wrong_sum"
    if not bounds or bounds[0] != 0 or not (reached or (end == length and ends)):
        return "missing_boundary"
    return None
