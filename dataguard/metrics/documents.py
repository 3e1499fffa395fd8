"""Where the documents of a row begin: by its document ids, else boundaries, else lengths, else a segment mask, else eos."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.metrics.base import Attention, Metric, Numbers, kernel
from dataguard.metrics.boundaries import FITS, MISSING, boundaries_of
from dataguard.shards.batch import Batch, attention_of, frozen
from dataguard.shards.roles import ATTENTION_MASK, companion

OUTSIDE, INSIDE, BEGINS = range(3)
"""What a position is: padding, a token of a document, or the first token of one."""
WHOLE, BY_COLUMN, BY_MASK, BY_EOS = range(4)
"""What says where the documents of a row begin: nothing (the row is one), a column, a segment mask, or eos."""
DOCUMENT_IDS, CU_SEQLENS, SEQ_LENGTHS = "document_ids", "cu_seqlens", "seq_lengths"
TELLING = (DOCUMENT_IDS, CU_SEQLENS, SEQ_LENGTHS)
"""Roles that say where documents begin; the first that a shard has decides."""
NO_FAULT = 9
"""Stands above every fault while the worst is looked for."""


@dataclass(frozen=True)
class Marked:
    """The documents of a batch's rows.

    Args:
        marks: OUTSIDE, INSIDE or BEGINS, laid out like the column's values. Shape (V,), uint8.
        known: False where a row does not pair with its mask or document ids, or its boundaries do not fit it; then none of
            it is inside a document. Shape (R,), bool.
        by: WHOLE, BY_COLUMN, BY_MASK or BY_EOS. Shape (R,), uint8.
    """

    marks: npt.NDArray[np.uint8]
    known: npt.NDArray[np.bool_]
    by: npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Documents:
    """What decides where the documents of a token column begin.

    Args:
        attention: Which positions are attended; the others are in no document.
        pad: The pad id, where known: without a mask, a last segment of nothing but pads is no document, even where pad is
            also eos, so that attention cannot tell.
        eos: Ends a document where nothing else says it; None leaves such a row whole.
    """

    attention: Attention
    pad: int | None = None
    eos: int | None = None

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that are read where a shard has them."""
        column = self.attention.column
        return (self.attention.mask, *(companion(column, role) for role in TELLING))

    def of(self, batch: Batch) -> Marked:
        """Return where the documents of a batch begin, worked out once for all metrics that ask."""
        return batch.once(("documents", repr(self)), lambda: self._of(batch))

    def _of(self, batch: Batch) -> Marked:
        if self.eos is not None:
            whole = Documents(self.attention, self.pad).of(batch)
            marks, by = whole.marks.copy(), whole.by.copy()
            own = batch.column(self.attention.column)
            split_at(own.values, own.offsets, self.eos, marks, by)
            return Marked(frozen(marks), whole.known, frozen(by))
        column = self.attention.column
        telling = next((role for role in TELLING if batch.has(companion(column, role))), None)
        if telling is None:
            return self._by_mask(batch)
        return self._by_ids(batch) if telling == DOCUMENT_IDS else self._by_boundaries(batch, telling)

    def maybe_pad(self, batch: Batch) -> int | None:
        """Return the pad id where padding may be attended: there is no mask, and pad alone does not tell."""
        masked = attention_of(batch, self.attention.column) is not None
        return None if masked or self.attention.pad is not None else self.pad

    def _by_ids(self, batch: Batch) -> Marked:
        own = batch.column(self.attention.column)
        attended, paired = self.attention.of(batch)
        ids, told = batch.beside(self.attention.column, DOCUMENT_IDS)
        known = frozen(paired & told)
        marks = np.zeros(len(own.values), np.uint8)
        mark_changes(ids, own.offsets, attended, np.flatnonzero(known), marks)
        return self._told(batch, marks, known)

    def by_boundaries(self, batch: Batch, role: str) -> Marked:
        """Return the documents as one of the columns of boundaries tells them, whatever other columns there are."""
        return batch.once(("documents", repr(self), role), lambda: self._by_boundaries(batch, role))

    def _by_boundaries(self, batch: Batch, role: str) -> Marked:
        own = batch.column(self.attention.column)
        attended, paired = self.attention.of(batch)
        told = boundaries_of(batch, self.attention, role, self.maybe_pad(batch))
        known = frozen(paired & told.told & (told.faults == FITS))
        marks = np.zeros(len(own.values), np.uint8)
        mark_segments(told.bounds, told.offsets, own.offsets, attended, known, marks)
        return self._told(batch, marks, known)

    def _told(self, batch: Batch, marks: npt.NDArray[np.uint8], known: npt.NDArray[np.bool_]) -> Marked:
        pad = self.maybe_pad(batch)
        if pad is not None:
            own = batch.column(self.attention.column)
            drop_pads(own.values, own.offsets, pad, marks)
        return Marked(frozen(marks), known, frozen(np.full(batch.rows, BY_COLUMN, np.uint8)))

    def _by_mask(self, batch: Batch) -> Marked:
        """Take a mask that goes beyond 1 for segment numbers; a row of a plain mask, or of none, is one document."""
        own = batch.column(self.attention.column)
        attended, paired = self.attention.of(batch)
        marks, by = attended.copy(), np.full(batch.rows, WHOLE, np.uint8)
        mark_first(own.offsets, marks)
        role = attention_of(batch, self.attention.column)
        if role is None or batch.column(role).is_binary:
            return Marked(frozen(marks), paired, frozen(by))
        mask, _ = batch.beside(self.attention.column, ATTENTION_MASK)
        segmented = np.zeros(batch.rows, np.bool_)
        segmented[np.searchsorted(own.offsets, np.flatnonzero(mask > 1), side="right") - 1] = True
        by[segmented] = BY_MASK
        mark_changes(mask, own.offsets, attended, np.flatnonzero(segmented & paired), marks)
        return Marked(frozen(marks), paired, frozen(by))


@kernel
def mark_first(offsets, marks):  # type: ignore[no-untyped-def]
    """Turn the first 1 of each row into BEGINS. marks, shape (V,), uint8: 1 where a position is attended, else 0."""
    for row in range(offsets.size - 1):
        for place in range(offsets[row], offsets[row + 1]):
            if marks[place]:
                marks[place] = BEGINS
                break


@kernel
def mark_changes(numbers, offsets, attended, rows, marks):  # type: ignore[no-untyped-def]
    """Mark where the number of the attended tokens changes, in some rows. marks, shape (V,), uint8."""
    for row in rows:
        seen, last = False, np.int64(0)
        for place in range(offsets[row], offsets[row + 1]):
            if attended[place]:
                number = np.int64(numbers[place])
                marks[place] = INSIDE if seen and number == last else BEGINS
                seen, last = True, number


@kernel
def mark_segments(bounds, bound_offsets, offsets, attended, known, marks):  # type: ignore[no-untyped-def]
    """Mark the first attended token of each segment, in the rows whose boundaries fit. marks, shape (V,), uint8.

    Boundaries that end before a row does are counted from its first attended token.
    """
    for row in range(offsets.size - 1):
        low, high = bound_offsets[row], bound_offsets[row + 1]
        if not known[row] or high == low:
            continue
        start, stop = offsets[row], offsets[row + 1]
        if bounds[high - 1] < stop - start:
            while start < stop and not attended[start]:
                start += 1
        for segment in range(low, high - 1):
            mark = BEGINS
            for place in range(start + bounds[segment], start + bounds[segment + 1]):
                if attended[place]:
                    marks[place] = mark
                    mark = INSIDE


@kernel
def drop_pads(values, offsets, pad, marks):  # type: ignore[no-untyped-def]
    """Take the last document of a row away where it is nothing but pads, and not the only one."""
    for row in range(offsets.size - 1):
        start, place = offsets[row], offsets[row + 1] - 1
        while place >= start and marks[place] == OUTSIDE:
            place -= 1
        last = place
        while place > start and values[place] == pad and marks[place] == INSIDE:
            place -= 1
        if place > start and values[place] == pad and marks[place] == BEGINS:
            for each in range(place, last + 1):
                marks[each] = OUTSIDE


@kernel
def split_at(values, offsets, eos, marks, by):  # type: ignore[no-untyped-def]
    """Let a document begin behind each run of eos, in the rows that nothing else divides. marks (V,) and by (R,) change."""
    for row in range(offsets.size - 1):
        if by[row] != WHOLE:
            continue
        ended = False
        for place in range(offsets[row], offsets[row + 1]):
            if marks[place] == OUTSIDE:
                continue
            if values[place] == eos:
                ended = True
            elif ended:
                marks[place] = BEGINS
                by[row] = BY_EOS
                ended = False


@dataclass(frozen=True)
class BoundaryFaults(Metric):
    """What is wrong with a row's cu_seqlens or seq_lengths (`metrics.boundaries`), in the order of the faults.

    `told` is false where the row does not pair with its mask, or has neither. `value` is the number that is wrong. Where all
    that is wrong is that another column divides the row otherwise, `position` is the first token of a document in one of them
    alone (-1: none).
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "told": pl.Boolean,
        "fault": pl.UInt8,
        "value": pl.Int64,
        "position": pl.Int32,
    }
    documents: Documents

    def reads(self) -> tuple[str, ...]:
        return (self.documents.attention.column,)

    def may_read(self) -> tuple[str, ...]:
        return self.documents.roles

    def compute(self, batch: Batch) -> Numbers:
        attention = self.documents.attention
        own, (_, paired) = batch.column(attention.column), attention.of(batch)
        told, worst = np.zeros(batch.rows, np.bool_), np.full(batch.rows, NO_FAULT)
        value, position = np.zeros(batch.rows, np.int64), np.full(batch.rows, -1)
        sayings = []
        if batch.has(companion(attention.column, DOCUMENT_IDS)):
            sayings.append(self.documents.of(batch))
        for role in TELLING[1:]:
            if not batch.has(companion(attention.column, role)):
                continue
            found = boundaries_of(batch, attention, role, self.documents.maybe_pad(batch))
            sayings.append(self.documents.by_boundaries(batch, role))
            told |= found.told
            worse = found.told & (found.faults != FITS) & (found.faults < worst)
            worst[worse], value[worse] = found.faults[worse], found.values[worse]
        for one, other in itertools.pairwise(sayings):
            both = frozen(one.known & other.known & (worst == NO_FAULT))
            differ(own.offsets, one.marks, other.marks, both, position)
            worst[position >= 0] = MISSING
        worst[worst == NO_FAULT] = FITS
        return {"told": told & paired, "fault": worst, "value": value, "position": position}


@kernel
def differ(offsets, one, other, rows, position):  # type: ignore[no-untyped-def]
    """Find the first place that begins a document in one of two sayings alone, padding left out. position (R,) changes."""
    for row in range(offsets.size - 1):
        if not rows[row]:
            continue
        for place in range(offsets[row], offsets[row + 1]):
            inside = one[place] != OUTSIDE and other[place] != OUTSIDE
            if inside and one[place] != other[place]:
                position[row] = place - offsets[row]
                break
