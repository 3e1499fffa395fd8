"""What a row holds beside padding and special tokens: whether there is anything to learn from."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.metrics.base import Numbers, OfAttended, as_value, kernel
from dataguard.metrics.characters import summaries
from dataguard.metrics.tables import Flags, few_or_many
from dataguard.shards.batch import Batch, frozen
from dataguard.vocabulary.characters import OTHER, WHITE
from dataguard.vocabulary.model import CharacterTable

AT_ONCE = 1 << 16
"""Ids whose bytes are joined at once."""


@dataclass(frozen=True)
class Content(OfAttended):
    """Attended tokens of a row, those of them that are no special tokens, its first and last attended id.

    `blank` is true where there is content and it spells nothing but white space, as far as characters are known. `paired`
    is false where the mask has another length than the row: then nothing else means anything.
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "paired": pl.Boolean,
        "attended": pl.Int32,
        "content": pl.Int32,
        "first": pl.Int64,
        "last": pl.Int64,
        "blank": pl.Boolean,
    }
    special: tuple[int, ...]
    characters: CharacterTable | None

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.attention.column)
        attended, paired = self.attention.of(batch)
        counts = np.zeros((5, batch.rows), np.int64)
        few, many = few_or_many(self.special)
        few = frozen(np.array([as_value(column.values, each) for each in few.tolist()], column.values.dtype))
        count_content(column.values, column.offsets, attended, few, many, _invisible(self.characters), counts)
        blank = (counts[1] > 0) & (counts[4] == 0)
        for row in np.flatnonzero(blank):
            own = slice(column.offsets[row], column.offsets[row + 1])
            blank[row] = self._spells_white(column.values[own][attended[own] != 0])
        names = ("attended", "content", "first", "last")
        return {"paired": paired, **dict(zip(names, counts[:4], strict=True)), "blank": blank}

    def _spells_white(self, ids: npt.NDArray[Any]) -> bool:
        """Join the bytes of the ids that are content; only rows of no visible id, or of cut characters, come here."""
        if self.characters is None:
            return False
        decoder, start, some, any_text = getincrementaldecoder("utf-8")("ignore"), 0, 64, False
        while start < ids.size:  # most rows of cut characters show one that is visible at once
            text = decoder.decode(self._spelled(ids[start : start + some], self.characters))
            if text and not text.isspace():
                return False
            any_text = any_text or text != ""
            start, some = start + some, AT_ONCE
        return any_text

    def _spelled(self, ids: npt.NDArray[Any], table: CharacterTable) -> bytes:
        content = ids[~np.isin(ids, self.special)]
        starts = table.offsets[content]
        sizes = table.offsets[content + 1] - starts
        before = np.cumsum(sizes) - sizes
        return bytes(table.data[np.repeat(starts - before, sizes) + np.arange(sizes.sum())])


@lru_cache(maxsize=4)
def _invisible(table: CharacterTable | None) -> Flags:
    """Return 1 at each id that spells no visible character by itself; ids behind the end are taken as visible."""
    if table is None:
        return frozen(np.zeros(0, np.uint8))
    return frozen((summaries(table)[:, OTHER:WHITE].sum(axis=1) == 0).astype(np.uint8))


@kernel
def count_content(values, offsets, attended, few, many, invisible, counts):  # type: ignore[no-untyped-def]
    """Count each row's attended and content tokens, and find its first and last attended id.

    Special ids stand in `few`, which is compared with (in loops that use the whole width of a core), or in the table `many`.
    counts, shape (5, R): attended, content, first id, last id (-1 where nothing is attended), and whether any content is
    visible.
    """
    for row in range(offsets.size - 1):
        own, seen = values[offsets[row] : offsets[row + 1]], attended[offsets[row] : offsets[row + 1]]
        some = np.int32(0)
        for place in range(own.size):
            some = np.int32(some + seen[place])
        content = some
        for special in few:
            for place in range(own.size):
                content = np.int32(content - ((own[place] == special) & (seen[place] != 0)))
        if many.size:
            for place in range(own.size):
                token = own[place]
                if 0 <= token < many.size and many[token] and seen[place]:
                    content = np.int32(content - 1)
        first, last, visible = -1, -1, 0
        if some:
            left, right = 0, own.size - 1
            while not seen[left]:
                left += 1
            while not seen[right]:
                right -= 1
            first, last = own[left], own[right]
        place = 0
        while content and place < own.size and not visible:
            token = own[place]
            hidden = not seen[place] or (0 <= token < invisible.size and invisible[token])
            hidden = hidden or (0 <= token < many.size and many[token])
            for special in few:
                hidden = hidden or token == special
            visible = 0 if hidden else 1
            place += 1
        counts[0, row], counts[1, row], counts[2, row] = some, content, first
        counts[3, row], counts[4, row] = last, visible
