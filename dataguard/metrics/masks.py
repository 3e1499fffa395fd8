"""What values a mask holds, and whether it hides the text instead of the padding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pyarrow as pa

from dataguard.metrics.base import Metric, Numbers, kernel
from dataguard.shards.batch import NOT_WHOLE, Batch
from dataguard.shards.roles import is_list, is_number_list

ADDED = -1000
"""A mask that is added to the scores hides with numbers at or below this."""


@dataclass(frozen=True)
class MaskValues(Metric):
    """The values of a mask; whole numbers, booleans or floats (`Batch.rounded`).

    `position` and `value` are those of the first value that is neither 0 nor 1, `no_segment` and `no_segment_value` those of
    the first that is no segment number, which is negative or no whole number (-1, 0: none). `additive` is true where all
    values are 0 or at most ADDED, and some are that; `inverted` where pads are attended and nothing else is, in rows of ids
    without nulls.
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "length": pl.Int32,
        "nulls": pl.UInt8,
        "position": pl.Int32,
        "value": pl.Int64,
        "no_segment": pl.Int32,
        "no_segment_value": pl.Int64,
        "additive": pl.Boolean,
        "inverted": pl.Boolean,
    }
    mask: str
    column: str
    pad: int | None

    def reads(self) -> tuple[str, ...]:
        return (self.mask,)

    def may_read(self) -> tuple[str, ...]:
        return () if self.pad is None else (self.column,)

    def accepts(self, role: str, kind: pa.DataType) -> bool:
        floats = role == self.mask and is_list(kind) and pa.types.is_floating(kind.value_type)
        return floats or is_number_list(kind)

    def compute(self, batch: Batch) -> Numbers:
        mask = batch.rounded(self.mask)
        numbers = np.zeros((5, batch.rows), np.int64)
        if mask.is_binary:
            numbers[0] = numbers[2] = -1  # what the kernel says of such rows
        else:
            mask_values(mask.values, mask.offsets, batch.holds_floats(self.mask), numbers)
        inverted = np.zeros(batch.rows, np.bool_)
        if self.pad is not None and batch.has(self.column):
            ids = batch.column(self.column)
            pads_alone(mask.set, mask.offsets, ids.values, ids.offsets, self.pad, inverted)
            inverted[ids.nulls != 0] = False  # a null stands there as 0, which may be the pad id
        return {
            "length": mask.lengths,
            "nulls": mask.nulls,
            **dict(zip(list(self.gives)[2:6], numbers[:4], strict=True)),
            "additive": numbers[4] > 0,
            "inverted": inverted,
        }


@kernel
def mask_values(mask, offsets, fractions, numbers):  # type: ignore[no-untyped-def]
    """Look through each row's mask. numbers, shape (5, R): in the order of `MaskValues.gives` from position to additive.

    fractions: NOT_WHOLE stands for what is no whole number. Most rows are done after a first loop that has no branches.
    """
    for row in range(offsets.size - 1):
        start, stop, added, others, odd = offsets[row], offsets[row + 1], 0, 0, 0
        position, value, no_segment, no_segment_value = -1, 0, -1, 0
        own = mask[start:stop]
        for place in range(own.size):
            odd |= own[place] & ~1
        if odd == 0:
            stop = start
        for place in range(start, stop):
            number = np.int64(mask[place])
            if number == 0:
                continue
            if number > ADDED:
                others += 1
            else:
                added += 1
            if number != 1:
                if position < 0:
                    position, value = place - start, number
                if no_segment < 0 and (number < 0 or (fractions and number == NOT_WHOLE)):
                    no_segment, no_segment_value = place - start, number
        numbers[0, row], numbers[1, row] = position, value
        numbers[2, row], numbers[3, row] = no_segment, no_segment_value
        numbers[4, row] = added > 0 and others == 0


@kernel
def pads_alone(mask, mask_offsets, ids, offsets, pad, inverted):  # type: ignore[no-untyped-def]
    """Say of each row whether its mask, which is 0 where it hides, shows pads and hides everything else.

    inverted, shape (R,), bool.
    """
    for row in range(offsets.size - 1):
        start, mask_start = offsets[row], mask_offsets[row]
        length = offsets[row + 1] - start
        if mask_offsets[row + 1] - mask_start != length:
            continue
        pads, hidden = 0, 0
        for place in range(length):
            is_pad = ids[start + place] == pad
            if mask[mask_start + place] == 0:
                hidden += not is_pad
            elif is_pad:
                pads += 1
            else:
                pads = 0
                break
        inverted[row] = pads > 0 and hidden > 0
