"""A column of texts as kernels see it: UTF-8 bytes and offsets, whatever its layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataguard.errors import ShardFault
from dataguard.shards.batch import Offsets, frozen

_MOST_VIEW_BYTES = 1 << 28
_VIEW = np.dtype([("length", "<i4"), ("rest", "<i4", 3)])


@dataclass(frozen=True)
class TextColumn:
    """Texts of rows; rows of one text may share it.

    Args:
        data: UTF-8 bytes. Shape (B,), uint8.
        offsets: Text i owns data[offsets[i]:offsets[i + 1]]. Shape (T + 1,), int64.
        of_rows: The text of each row. Shape (R,), int64; None where text r is row r's.
        present: Whether each row has one, and not null. Shape (R,), bool.
    """

    data: npt.NDArray[np.uint8]
    offsets: Offsets
    of_rows: npt.NDArray[np.int64] | None
    present: npt.NDArray[np.bool_]


def text_column(array: pa.Array) -> TextColumn:
    """Return a column of texts (`roles.is_text`) as bytes and offsets.

    Raises:
        ShardFault: `unsupported_layout`: string views spell out far more than there is.
    """
    present = frozen(np.asarray(array.is_valid().to_numpy(zero_copy_only=False)))
    if not present.any():
        return TextColumn(frozen(np.zeros(0, np.uint8)), frozen(np.zeros(len(array) + 1, np.int64)), None, present)
    of_rows = None
    if pa.types.is_dictionary(array.type):  # each text once, however many rows have it
        places = array.indices.fill_null(0).to_numpy().astype(np.int64)
        used, of_rows = np.unique(places, return_inverse=True)
        texts = array.dictionary
        texts = _copied(texts) if pa.types.is_string_view(texts.type) else texts
        array, of_rows = texts.take(pa.array(used)), frozen(of_rows.astype(np.int64))
        present = frozen(present & np.asarray(array.is_valid().to_numpy(zero_copy_only=False))[of_rows])
    data, offsets = _bytes_of(array)
    return TextColumn(data, offsets, of_rows, present)


def _bytes_of(array: pa.Array) -> tuple[npt.NDArray[np.uint8], Offsets]:
    if pa.types.is_string_view(array.type):
        array = _copied(array)
    wide = pa.types.is_large_string(array.type)
    _, places, content = array.buffers()
    every: npt.NDArray[Any] = np.frombuffer(places, np.int64 if wide else np.int32)
    offsets = every[array.offset : array.offset + len(array) + 1].astype(np.int64)
    data = np.zeros(0, np.uint8) if content is None else np.frombuffer(content, np.uint8)
    return frozen(data), frozen(offsets)


def _copied(array: pa.Array) -> pa.Array:
    """Return string views as strings, one behind the other; views may all stand for the same bytes."""
    views = np.frombuffer(array.buffers()[1], _VIEW)[array.offset : array.offset + len(array)]
    total = int(views["length"].astype(np.int64)[array.is_valid().to_numpy(zero_copy_only=False)].sum())
    if total > _MOST_VIEW_BYTES:
        detail = f"string views that spell out {total:,} bytes in one batch (at most {_MOST_VIEW_BYTES:,} are read)"
        raise ShardFault("unsupported_layout", detail)
    return array.cast(pa.large_string())
