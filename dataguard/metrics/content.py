"""What a row holds beside padding and special tokens: whether there is anything to learn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.metrics.base import Attention, Metric, Numbers, kernel
from dataguard.metrics.characters import OTHER, WHITE, summaries
from dataguard.metrics.tables import Flags, flags
from dataguard.shards.batch import Batch, frozen
from dataguard.vocabulary.model import CharacterTable


@dataclass(frozen=True)
class Content(Metric):
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
    attention: Attention
    special: tuple[int, ...]
    characters: CharacterTable | None

    def reads(self) -> tuple[str, ...]:
        return (self.attention.column,)

    def may_read(self) -> tuple[str, ...]:
        return (self.attention.mask,)

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.attention.column)
        attended, paired = self.attention.of(batch)
        special, counts = flags(self.special), np.zeros((5, batch.rows), np.int64)
        count_content(column.values, column.offsets, attended, special, _invisible(self.characters), counts)
        blank = (counts[1] > 0) & (counts[4] == 0)
        for row in np.flatnonzero(blank):
            own = slice(column.offsets[row], column.offsets[row + 1])
            blank[row] = self._spells_white(column.values[own][attended[own] != 0])
        names = ("attended", "content", "first", "last")
        return {"paired": paired, **dict(zip(names, counts[:4], strict=True)), "blank": blank}

    def _spells_white(self, ids: npt.NDArray[Any]) -> bool:
        """Join the bytes of the ids that are content; only rows of no visible id, or of cut characters, come here."""
        table = self.characters
        if table is None:
            return False
        content = [token for token in ids.tolist() if token not in self.special]
        spelled = b"".join(table.data[table.offsets[i] : table.offsets[i + 1]].tobytes() for i in content)
        text = spelled.decode("utf-8", errors="ignore")
        return text != "" and text.isspace()


@lru_cache(maxsize=4)
def _invisible(table: CharacterTable | None) -> Flags:
    """Return 1 at each id that spells no visible character by itself; ids behind the end are taken as visible."""
    if table is None:
        return frozen(np.zeros(0, np.uint8))
    return frozen((summaries(table)[:, OTHER:WHITE].sum(axis=1) == 0).astype(np.uint8))


@kernel
def count_content(values, offsets, attended, special, invisible, counts):  # type: ignore[no-untyped-def]
    """Count each row's attended, content and visible tokens, and find its first and last attended id.

    counts, shape (5, R): attended, content, first id, last id (-1 where nothing is attended), visible.
    """
    for row in range(offsets.size - 1):
        some, content, first, last, visible = 0, 0, -1, -1, 0
        for place in range(offsets[row], offsets[row + 1]):
            if attended[place]:
                token = np.int64(values[place])
                if some == 0:
                    first = token
                last = token
                some += 1
                if not (0 <= token < special.size and special[token]):
                    content += 1
                    if not (0 <= token < invisible.size and invisible[token]):
                        visible += 1
        counts[0, row], counts[1, row], counts[2, row] = some, content, first
        counts[3, row], counts[4, row] = last, visible
