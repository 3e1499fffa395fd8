"""Whether position ids count on through a row, and begin anew with its documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from dataguard.metrics.base import Metric, Numbers, kernel
from dataguard.metrics.documents import BEGINS, OUTSIDE, Documents
from dataguard.shards.batch import Batch
from dataguard.shards.roles import companion

POSITION_IDS = "position_ids"


@dataclass(frozen=True)
class Positions(Metric):
    """The position ids of a row's tokens, padding left out.

    `known` is false where the ids do not pair with their positions, or the row's documents are not known, or nothing is in
    one; then the rest means nothing. `first` and `last` are the position ids of the row's first and last token, and `place`
    is where that first one stands.

    Of each fault the place of the first is given (-1: none), with its position id: `negative` (below 0), `stale` (a later
    document that does not begin at `start`; where `start` is None, one that goes on counting), `gap` (a token that does not
    count on from the one before; a step over padding may count it or not). `by` says what divides the row into documents.
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "known": pl.Boolean,
        "by": pl.UInt8,
        "first": pl.Int64,
        "last": pl.Int64,
        "place": pl.Int32,
        "negative": pl.Int32,
        "negative_value": pl.Int64,
        "stale": pl.Int32,
        "stale_value": pl.Int64,
        "gap": pl.Int32,
        "gap_value": pl.Int64,
    }
    documents: Documents
    by_document: bool
    """Whether each document begins anew; else a row counts on to its end."""
    start: int | None

    def reads(self) -> tuple[str, ...]:
        column = self.documents.attention.column
        return (column, companion(column, POSITION_IDS))

    def may_read(self) -> tuple[str, ...]:
        return self.documents.roles

    def compute(self, batch: Batch) -> Numbers:
        column = self.documents.attention.column
        marked = self.documents.of(batch)
        positions, paired = batch.beside(column, POSITION_IDS)
        numbers = np.zeros((9, batch.rows), np.int64)
        start = np.int64(0 if self.start is None else self.start)
        offsets = batch.column(column).offsets
        count_on(positions, offsets, marked.marks, self.by_document, self.start is None, start, numbers)
        known = marked.known & paired & (numbers[2] >= 0)
        return {"known": known, "by": marked.by, **dict(zip(list(self.gives)[2:], numbers, strict=True))}


@kernel
def count_on(positions, offsets, marks, by_document, anywhere, start, numbers):  # type: ignore[no-untyped-def]
    """Follow each row's position ids. numbers, shape (9, R), in the order of `Positions.gives` from first."""
    for row in range(offsets.size - 1):
        begin, first, last, last_place = offsets[row], np.int64(0), np.int64(0), -1
        place_first, negative, stale, gap = -1, -1, -1, -1
        negative_value, stale_value, gap_value = np.int64(0), np.int64(0), np.int64(0)
        for place in range(begin, offsets[row + 1]):
            if marks[place] == OUTSIDE:
                continue
            position = np.int64(positions[place])
            if position < 0 and negative < 0:
                negative, negative_value = place - begin, position
            step = position - last
            if place_first < 0:
                first, place_first = position, place - begin
            elif by_document and marks[place] == BEGINS:
                if stale < 0 and (step == 1 if anywhere else position != start):
                    stale, stale_value = place - begin, position
            elif gap < 0 and step != 1 and step != place - last_place:
                gap, gap_value = place - begin, position
            last, last_place = position, place
        numbers[0, row], numbers[1, row], numbers[2, row] = first, last, place_first
        numbers[3, row], numbers[4, row], numbers[5, row] = negative, negative_value, stale
        numbers[6, row], numbers[7, row], numbers[8, row] = stale_value, gap, gap_value
