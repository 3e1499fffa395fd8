"""Which labels are supervised, and how they lie against the inputs under both shift conventions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from dataguard.metrics.base import Metric, Numbers, kernel
from dataguard.shards.batch import Batch
from dataguard.shards.roles import LABELS, companion


@dataclass(frozen=True)
class Labels(Metric):
    """Supervised labels of a row against its inputs.

    With shift 0 labels[i] stands against input_ids[i], with shift 1 against input_ids[i + 1] (the last one then has no
    counterpart). `paired` is false where the two columns differ in length, or one is null; then the rest means nothing.

    `supervised` counts the labels that are not ignored, `at_start` is 1 where the one at position 0 is among them;
    `equal_0`/`equal_1` and `differ_0`/`differ_1` count the agreements and disagreements of each convention, `position_0`/
    `position_1` and `value_0`/`value_1` are those of the first disagreement (-1, 0: none). `equal_both` counts the labels
    that agree with both (a doubled token): they tell nothing.
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "paired": pl.Boolean,
        "supervised": pl.Int32,
        "at_start": pl.Int32,
        "equal_0": pl.Int32,
        "differ_0": pl.Int32,
        "position_0": pl.Int32,
        "value_0": pl.Int64,
        "equal_1": pl.Int32,
        "differ_1": pl.Int32,
        "position_1": pl.Int32,
        "value_1": pl.Int64,
        "equal_both": pl.Int32,
    }
    column: str
    ignore_index: int

    def reads(self) -> tuple[str, ...]:
        return (self.column, companion(self.column, LABELS))

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.column)
        labels, paired = batch.beside(self.column, LABELS)
        numbers = np.zeros((len(self.gives) - 1, batch.rows), np.int64)
        against_inputs(column.values, column.offsets, labels, paired, self.ignore_index, numbers)
        return {"paired": paired, **dict(zip(list(self.gives)[1:], numbers, strict=True))}


@kernel
def against_inputs(values, offsets, labels, paired, ignore_index, numbers):  # type: ignore[no-untyped-def]
    """Compare each row's labels with its inputs. numbers, shape (11, R), zeros, in the order of `Labels.gives` from supervised.

    Counting has no branches, so that it uses the whole width of a core; first disagreements are looked for where there are any.
    """
    for row in range(offsets.size - 1):
        own, targets = values[offsets[row] : offsets[row + 1]], labels[offsets[row] : offsets[row + 1]]
        numbers[4, row] = numbers[8, row] = -1
        if not paired[row] or own.size == 0:
            continue
        supervised, equal_0, equal_1, equal_both = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
        following = own[1:]
        for place in range(following.size):
            label = targets[place]
            counts, agrees, agrees_next = label != ignore_index, label == own[place], label == following[place]
            supervised = np.int32(supervised + counts)
            equal_0 = np.int32(equal_0 + (counts & agrees))
            equal_1 = np.int32(equal_1 + (counts & agrees_next))
            equal_both = np.int32(equal_both + (counts & agrees & agrees_next))
        before_last = supervised
        if targets[own.size - 1] != ignore_index:
            supervised += 1
            equal_0 += targets[own.size - 1] == own[own.size - 1]
        numbers[0, row], numbers[1, row] = supervised, targets[0] != ignore_index
        numbers[2, row], numbers[3, row] = equal_0, supervised - equal_0
        numbers[6, row], numbers[7, row] = equal_1, before_last - equal_1
        numbers[10, row] = equal_both
        for shift in range(2):
            place = 0
            while numbers[3 + 4 * shift, row] and numbers[4 + 4 * shift, row] < 0:
                label = targets[place]
                if label != ignore_index and label != own[place + shift]:
                    numbers[4 + 4 * shift, row], numbers[5 + 4 * shift, row] = place, label
                place += 1
