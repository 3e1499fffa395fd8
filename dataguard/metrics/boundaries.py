"""Boundaries of a row's documents as `cu_seqlens` or `seq_lengths` tell them, and whether they fit the row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dataguard.metrics.base import Attention, kernel
from dataguard.metrics.padding import padding
from dataguard.shards.batch import Batch, Offsets, frozen
from dataguard.shards.roles import companion

FITS, BEYOND, NOT_RISING, MISSING, WRONG_SUM = range(5)
"""What is wrong with a row's boundaries; the first that fits, in the order of the catalogue."""
FAR = np.int64(1 << 31)
"""A length beyond it counts as this: no row is as long, and no sum of them runs over."""


@dataclass(frozen=True)
class Boundaries:
    """Where the documents of each row begin, and where the last one ends, as the row tells it.

    Args:
        bounds: Every row's boundaries, joined; those of a row that fits rise from 0. Shape (B,), int64.
        offsets: Row r owns bounds[offsets[r]:offsets[r + 1]]. Shape (R + 1,), int64.
        faults: FITS, or what is wrong. Shape (R,), int64.
        values: The number that is wrong. Shape (R,), int64.
        told: False where the row's list is null. Shape (R,), bool.
    """

    bounds: Offsets
    offsets: Offsets
    faults: npt.NDArray[np.int64]
    values: npt.NDArray[np.int64]
    told: npt.NDArray[np.bool_]


def boundaries_of(batch: Batch, attention: Attention, role: str, pad: int | None) -> Boundaries:
    """Return the boundaries that go with a token column.

    They end at the last attended token, counted from the first; or at the end of the row, and then every side's padding is a
    segment of its own.

    Args:
        role: `cu_seqlens` or `seq_lengths`; the shard has the column.
        pad: An id that may be padding though it is attended, so that boundaries may end before a run of it; None for none.
    """
    key = ("boundaries", repr(attention), role, str(pad))
    return batch.once(key, lambda: _boundaries_of(batch, attention, role, pad))


def _boundaries_of(batch: Batch, attention: Attention, role: str, pad: int | None) -> Boundaries:
    own, told = batch.column(attention.column), batch.column(companion(attention.column, role))
    attended, _ = attention.of(batch)
    numbers = frozen(told.values.astype(np.int64))
    offsets = told.offsets
    lengths = role == "seq_lengths"
    if lengths:
        sums = np.zeros(len(numbers) + batch.rows, np.int64)
        add_up(numbers, offsets, sums)
        numbers, offsets = frozen(sums), frozen(offsets + np.arange(batch.rows + 1))
    room = np.zeros((4, batch.rows), np.int64)
    padding(own.offsets, attended, room)
    slack = np.zeros(batch.rows, np.int64)
    if pad is not None:
        trailing(own.values, own.offsets, pad, slack)
    faults, values = np.zeros(batch.rows, np.int64), np.zeros(batch.rows, np.int64)
    fit(numbers, offsets, own.offsets, frozen(room), frozen(slack), lengths, faults, values)
    return Boundaries(numbers, offsets, frozen(faults), frozen(values), frozen(told.nulls == 0))


@kernel
def add_up(lengths, offsets, sums):  # type: ignore[no-untyped-def]
    """Add up each row's lengths from 0. sums, shape (V + R,): one number more for each row than it has lengths."""
    for row in range(offsets.size - 1):
        total = 0
        into = offsets[row] + row
        sums[into] = 0
        for place in range(offsets[row], offsets[row + 1]):
            total += min(max(lengths[place], -FAR), FAR)
            into += 1
            sums[into] = total


@kernel
def trailing(values, offsets, pad, runs):  # type: ignore[no-untyped-def]
    """Measure the run of pad at the end of each row. runs, shape (R,)."""
    for row in range(offsets.size - 1):
        place = offsets[row + 1]
        while place > offsets[row] and values[place - 1] == pad:
            place -= 1
        runs[row] = offsets[row + 1] - place


@kernel
def fit(bounds, bound_offsets, offsets, room, slack, lengths, faults, values):  # type: ignore[no-untyped-def]
    """Say what is wrong with each row's boundaries, and which number is.

    room, shape (4, R): as `padding` measures it. slack, shape (R,): positions at the row's end where boundaries may end too.
    lengths: the boundaries were added up from lengths. faults and values, shape (R,).
    """
    for row in range(offsets.size - 1):
        low, high = bound_offsets[row], bound_offsets[row + 1]
        length = offsets[row + 1] - offsets[row]
        left, right = room[0, row], room[1, row]
        rising, beyond, left_cut, right_cut = True, False, left == 0, right == 0
        wrong, far = 0, 0
        for place in range(low, high):
            bound = bounds[place]
            if rising and (bound < 0 or (place > low and bound <= bounds[place - 1])):
                rising = False
                wrong = bound
            if not beyond and bound > length:
                beyond = True
                far = bound
            left_cut = left_cut or bound == left
            right_cut = right_cut or bound == length - right
        end = bounds[high - 1] if high > low else 0
        reached = end == length - left - right or length - slack[row] <= end < length
        whole = end == length and left_cut and right_cut
        if beyond and not lengths:
            faults[row], values[row] = BEYOND, far
        elif not rising:
            faults[row], values[row] = NOT_RISING, wrong
        elif lengths and end != length and not reached:
            faults[row], values[row] = WRONG_SUM, end
        elif high == low or bounds[low] != 0 or not (reached or whole):
            faults[row], values[row] = MISSING, bounds[low] if high > low and bounds[low] != 0 else end
