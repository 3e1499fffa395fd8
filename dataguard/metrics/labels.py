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
    """Compare each row's labels with its inputs. numbers, shape (11, R), in the order of `Labels.gives` from supervised."""
    for row in range(offsets.size - 1):
        start, stop = offsets[row], offsets[row + 1]
        supervised, at_start = 0, 0
        equal_0, differ_0, position_0, value_0 = 0, 0, -1, 0
        equal_1, differ_1, position_1, value_1 = 0, 0, -1, 0
        equal_both = 0
        if paired[row]:
            for place in range(start, stop):
                label = np.int64(labels[place])
                if label == ignore_index:
                    continue
                supervised += 1
                if place == start:
                    at_start = 1
                if label == values[place]:
                    equal_0 += 1
                else:
                    if differ_0 == 0:
                        position_0, value_0 = place - start, label
                    differ_0 += 1
                if place + 1 < stop:
                    if label == values[place + 1]:
                        equal_1 += 1
                        if label == values[place]:
                            equal_both += 1
                    else:
                        if differ_1 == 0:
                            position_1, value_1 = place - start, label
                        differ_1 += 1
        numbers[0, row], numbers[1, row] = supervised, at_start
        numbers[2, row], numbers[3, row], numbers[4, row], numbers[5, row] = equal_0, differ_0, position_0, value_0
        numbers[6, row], numbers[7, row], numbers[8, row], numbers[9, row] = equal_1, differ_1, position_1, value_1
        numbers[10, row] = equal_both
