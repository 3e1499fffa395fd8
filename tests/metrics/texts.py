"""Texts as shards have them: a column in some layout, or ids that spell them byte by byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import strategies as st

from dataguard.metrics import text
from dataguard.metrics.base import Attention
from dataguard.metrics.text import OfText
from dataguard.shards.batch import Batch
from dataguard.vocabulary.model import CharacterTable
from tests.builders import list_array, table_of_characters

LAYOUTS = ("string", "large_string", "string_view", "dictionary", "ids")
SPECIAL = 256
BYTES = table_of_characters(*(bytes([byte]) for byte in range(256)), b"<special>")
"""Id b spells the byte b; one more is special."""


def array_of(texts: Sequence[str | None], layout: str, skip: int = 0) -> pa.Array:
    """Return texts as an Arrow array; `skip` cuts it out of a longer one."""
    kinds = {
        "string": pa.string(),
        "large_string": pa.large_string(),
        "string_view": pa.string_view(),
        "dictionary": pa.dictionary(pa.int16(), pa.string()),
    }
    return pa.array([*["before"] * skip, *texts, *["behind"] * skip], kinds[layout]).slice(skip, len(texts))


def batch_of_texts(texts: Sequence[str | None], layout: str = "string", skip: int = 0) -> Batch:
    """Return rows with a column of texts, or ids that spell them (`BYTES`)."""
    if layout == "ids":
        return Batch({"input_ids": list_array([list((each or "").encode()) for each in texts])}, len(texts))
    columns = {"input_ids": list_array([[1]] * len(texts)), "text": array_of(texts, layout, skip)}
    return Batch(columns, len(texts))


def batch_of_bytes(*rows: bytes) -> Batch:
    """Return rows of ids that spell these bytes."""
    return Batch({"input_ids": list_array([list(row) for row in rows])}, len(rows))


def of_text(kind: type[OfText], table: CharacterTable | None = BYTES) -> OfText:
    """Return a metric of texts."""
    return kind(Attention("input_ids"), (SPECIAL,), table)


def as_layout(row: dict[str, Any], text: str, layout: str, places: Sequence[str]) -> dict[str, Any]:
    """Return what is expected of a text: positions count bytes where ids spell them, and characters in a column."""
    count = (lambda at: len(text[:at].encode())) if layout == "ids" else (lambda at: at)
    return {name: count(value) if name in places and value >= 0 else value for name, value in row.items()}


@contextmanager
def small_pieces(size: int) -> Iterator[None]:
    """Join so few bytes at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "PIECE", size)
        yield


PIECES = st.sampled_from([17, 23, 64, 1 << 20])
"""Buffers that hold a few characters, some, or all."""
