"""Lookup tables by token id, made once and shared by every batch."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dataguard.errors import VocabularyError
from dataguard.shards.batch import frozen
from dataguard.vocabulary.characters import white_ids
from dataguard.vocabulary.model import CharacterTable

Flags = npt.NDArray[np.uint8]
MOST_IDS = 1 << 26
"""Ids that a table may be asked for; vocabularies have some hundred thousand."""


@lru_cache(maxsize=64)
def flags(ids: tuple[int, ...]) -> Flags:
    """Return 1 at each of the ids, 0 elsewhere. Shape (highest id + 1,), uint8; ids behind its end are none of them.

    Raises:
        VocabularyError: An id is so high that it must be a mistake.
    """
    if max(ids, default=0) >= MOST_IDS:
        why = f"special ids up to {MOST_IDS - 1:,} can be told apart, and no vocabulary reaches so far"
        raise VocabularyError(
            f"{max(ids):,} cannot be a special id", why=why, fix="correct the tokenizer or the suite's vocabulary"
        )
    table = np.zeros(max(ids, default=-1) + 1, np.uint8)
    table[list(ids)] = 1
    return frozen(table)


FEW = 8
"""Ids up to which comparing with each is faster than looking up a table."""


@lru_cache(maxsize=64)
def few_or_many(ids: tuple[int, ...]) -> tuple[npt.NDArray[np.int64], Flags]:
    """Return ids to compare with, and a table of ids (`flags`): one of the two is empty."""
    if len(ids) <= FEW:
        return frozen(np.array(ids, np.int64)), frozen(np.zeros(0, np.uint8))
    return frozen(np.zeros(0, np.int64)), flags(ids)


@lru_cache(maxsize=8)
def white(table: CharacterTable | None) -> Flags:
    """Return 1 at each id that stands for white space alone; nothing where no characters are known."""
    return frozen(np.zeros(0, np.uint8) if table is None else white_ids(table))
