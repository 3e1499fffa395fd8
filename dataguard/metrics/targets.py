"""Labels where there should be none, or where there should be one: on padding, on eos, at the border of two documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from dataguard.metrics.base import Metric, Numbers, OfAttended, as_value, kernel
from dataguard.metrics.documents import BEGINS, BY_EOS, OUTSIDE, WHOLE, Documents
from dataguard.shards.batch import Batch
from dataguard.shards.roles import LABELS, companion


class _OfLabels(OfAttended):
    """A metric of the attended positions and the labels at them."""

    def reads(self) -> tuple[str, ...]:
        return (*super().reads(), companion(self.attention.column, LABELS))


@dataclass(frozen=True)
class SupervisedPadding(_OfLabels):
    """Supervised labels of a row that stand on padding.

    `paired` is false where ids, labels and mask do not pair; then the rest means nothing. `masked` counts the supervised
    positions that are not attended. Of the attended ones whose label is the pad id, `runs` counts those in a run of at least
    two pads, `single` the others, and `inner` those of the others that stand neither first nor last in the row's attended
    part. `*_position` is the first of each (-1: none).
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "paired": pl.Boolean,
        "masked": pl.Int32,
        "masked_position": pl.Int32,
        "runs": pl.Int32,
        "runs_position": pl.Int32,
        "single": pl.Int32,
        "single_position": pl.Int32,
        "inner": pl.Int32,
    }
    pad: int | None
    ignore_index: int

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.attention.column)
        attended, masked = self.attention.of(batch)
        labels, paired = batch.beside(self.attention.column, LABELS)
        pad, ignored = as_value(labels, self.pad), np.int64(self.ignore_index)
        numbers = np.zeros((7, batch.rows), np.int64)
        supervised_padding(column.values, column.offsets, attended, labels, pad, ignored, numbers)
        return {"paired": paired & masked, **dict(zip(list(self.gives)[1:], numbers, strict=True))}


@kernel
def supervised_padding(values, offsets, attended, labels, pad, ignore_index, numbers):  # type: ignore[no-untyped-def]
    """Count each row's supervised padding. numbers, shape (7, R), in the order of `SupervisedPadding.gives` from masked."""
    for row in range(offsets.size - 1):
        start, stop = offsets[row], offsets[row + 1]
        masked, runs, single, inner, hits = 0, 0, 0, 0, np.int32(0)
        masked_position, runs_position, single_position = -1, -1, -1
        targets, seen = labels[start:stop], attended[start:stop]
        for place in range(targets.size):
            target = targets[place]
            hits = np.int32(hits + ((target != ignore_index) & ((target == pad) | (seen[place] == 0))))
        if hits == 0:
            stop = start
        for place in range(start, stop):
            label = np.int64(labels[place])
            if label == ignore_index:
                continue
            if not attended[place]:
                if masked == 0:
                    masked_position = place - start
                masked += 1
            elif label == pad:
                before = place > start and attended[place - 1]
                behind = place + 1 < stop and attended[place + 1]
                if (before and values[place - 1] == pad) or (behind and values[place + 1] == pad):
                    if runs == 0:
                        runs_position = place - start
                    runs += 1
                else:
                    if single == 0:
                        single_position = place - start
                    single += 1
                    inner += before and behind
        numbers[0, row], numbers[1, row], numbers[2, row] = masked, masked_position, runs
        numbers[3, row], numbers[4, row], numbers[5, row] = runs_position, single, single_position
        numbers[6, row] = inner


@dataclass(frozen=True)
class EndTarget(_OfLabels):
    """Whether the id that a row ends with is supervised there.

    `paired` is false where ids, labels and mask do not pair, or nothing is attended. `last` is the last attended id. It is
    `supervised` where one of the labels in the run of it at the row's end is supervised (of a run of eos that is pad too only
    the first may be meant), or the label before that run is supervised and is that id (labels that are shifted already).
    """

    gives: ClassVar[Mapping[str, Any]] = {"paired": pl.Boolean, "last": pl.Int64, "supervised": pl.Boolean}
    ignore_index: int

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.attention.column)
        attended, masked = self.attention.of(batch)
        labels, paired = batch.beside(self.attention.column, LABELS)
        numbers = np.zeros((3, batch.rows), np.int64)
        end_target(column.values, column.offsets, attended, labels, self.ignore_index, numbers)
        return {"paired": paired & masked & (numbers[0] > 0), "last": numbers[1], "supervised": numbers[2] > 0}


@kernel
def end_target(values, offsets, attended, labels, ignore_index, numbers):  # type: ignore[no-untyped-def]
    """Look at each row's end. numbers, shape (3, R): 1 where anything is attended, the last attended id, 1 if supervised."""
    for row in range(offsets.size - 1):
        place = offsets[row + 1] - 1
        while place >= offsets[row] and not attended[place]:
            place -= 1
        if place < offsets[row]:
            continue
        last = np.int64(values[place])
        numbers[0, row], numbers[1, row] = 1, last
        while place >= offsets[row] and attended[place] and values[place] == last:
            if labels[place] != ignore_index:
                numbers[2, row] = 1
            place -= 1
        if place >= offsets[row] and labels[place] != ignore_index and labels[place] == last:
            numbers[2, row] = 1


@dataclass(frozen=True)
class Crossing(Metric):
    """Targets of a row whose context is another document: how many, the first one's position and label (-1, 0: none).

    `known` is false where ids and labels do not pair, or the row's documents are not known. With shift 0 the label at a later
    document's first token is one, with shift 1 the label at a document's last token that another one follows. Where eos alone
    divides the row, the label at an eos that nothing follows is one too, unless it is the padding behind. `by` says what
    divides the row.
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "known": pl.Boolean,
        "by": pl.UInt8,
        "crossing": pl.Int32,
        "position": pl.Int32,
        "value": pl.Int64,
    }
    documents: Documents
    shift: int
    ignore_index: int

    def reads(self) -> tuple[str, ...]:
        return (self.documents.attention.column, companion(self.documents.attention.column, LABELS))

    def may_read(self) -> tuple[str, ...]:
        return self.documents.roles

    def compute(self, batch: Batch) -> Numbers:
        column = batch.column(self.documents.attention.column)
        marked = self.documents.of(batch)
        labels, paired = batch.beside(self.documents.attention.column, LABELS)
        eos = as_value(column.values, self.documents.eos)
        by = marked.by.copy()
        numbers = np.zeros((3, batch.rows), np.int64)
        crossing(column.values, column.offsets, marked.marks, labels, by, eos, self.shift, self.ignore_index, numbers)
        return {"known": marked.known & paired, "by": by, **dict(zip(list(self.gives)[2:], numbers, strict=True))}


@kernel
def crossing(values, offsets, marks, labels, by, eos, shift, ignore_index, numbers):  # type: ignore[no-untyped-def]
    """Count each row's targets across documents. numbers, shape (3, R), in the order of `Crossing.gives` from crossing.

    by, shape (R,), becomes BY_EOS where an eos that nothing follows makes a target one.
    """
    for row in range(offsets.size - 1):
        start = offsets[row]
        count, position, value, before = 0, -1, np.int64(0), -1
        for place in range(start, offsets[row + 1]):
            if marks[place] == OUTSIDE:
                continue
            if marks[place] == BEGINS and before >= 0:
                target = before if shift else place
                if labels[target] != ignore_index:
                    if count == 0:
                        position, value = target - start, np.int64(labels[target])
                    count += 1
            before = place
        ends = shift and before >= 0 and by[row] in (WHOLE, BY_EOS) and values[before] == eos
        if ends and labels[before] != ignore_index:
            padding = before + 1 < offsets[row + 1] and labels[before] == values[before + 1]
            if not padding:
                if count == 0:
                    position, value = before - start, np.int64(labels[before])
                count += 1
                by[row] = BY_EOS
        numbers[0, row], numbers[1, row], numbers[2, row] = count, position, value
