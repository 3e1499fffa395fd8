"""Prompts and answers: which tokens of a row are one or the other by what its columns say, and which labels they have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from dataguard.metrics.base import Metric, Numbers, OfAttended, clear_pads, kernel
from dataguard.shards.batch import Batch, ListColumn, Offsets, frozen
from dataguard.shards.roles import LABELS, TARGET_SPANS, companion, is_number, is_span_list

UNKNOWN = -1
"""Stands for the length of a prompt that is not known."""


@dataclass(frozen=True)
class PromptLabels(OfAttended):
    """Labels of a row's prompt, and the label of the first token behind it.

    The prompt is counted from the first attended token: by the column `length`, where that is null (or there is none) by how
    many ids the column `ids` has there, pads at its ends left out where `attention` knows what padding is. A token's label
    stands at its own position, one before it with shift 1.

    `paired` is false where ids, labels and mask do not pair, or nothing is attended; `told` where the prompt's length is null
    or negative; then the rest means nothing. `supervised` counts the prompt's labels that are not ignored, `position` and
    `value` are those of the first (-1, 0: none). `masked` is the position of the label of the first token behind the prompt
    that a loss can use, where that is attended and its label is ignored (-1: it is not).
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "paired": pl.Boolean,
        "told": pl.Boolean,
        "supervised": pl.Int32,
        "position": pl.Int32,
        "value": pl.Int64,
        "masked": pl.Int32,
    }
    length: str
    ids: str
    shift: int
    ignore_index: int

    def reads(self) -> tuple[str, ...]:
        return (*super().reads(), companion(self.attention.column, LABELS))

    def may_read(self) -> tuple[str, ...]:
        return (*super().may_read(), self.length, self.ids)

    def accepts(self, role: str, kind: pa.DataType) -> bool:
        return is_number(kind) if role == self.length else super().accepts(role, kind)

    def compute(self, batch: Batch) -> Numbers:
        attended, masked = self.attention.of(batch)
        labels, paired = batch.beside(self.attention.column, LABELS)
        prompts = self._lengths(batch)
        offsets = batch.column(self.attention.column).offsets
        numbers = np.zeros((5, batch.rows), np.int64)
        prompt_labels(offsets, attended, labels, frozen(prompts), self.shift, np.int64(self.ignore_index), numbers)
        pairs = paired & masked & (numbers[0] > 0)
        return {
            "paired": pairs,
            "told": prompts >= 0,
            **dict(zip(list(self.gives)[2:], numbers[1:], strict=True)),
        }

    def _lengths(self, batch: Batch) -> Offsets:
        """Return how many tokens each row's prompt has, UNKNOWN where nothing says it. Shape (R,), int64."""
        lengths: Offsets = np.full(batch.rows, UNKNOWN, np.int64)
        if batch.has(self.ids):
            prompt = prompt_column(batch, self.ids, self.attention.pad)
            lengths = np.where(prompt.nulls == 0, prompt.lengths, UNKNOWN)
        if batch.has(self.length):
            told, there = batch.scalars(self.length)
            lengths = np.where(there, told, lengths)
        return lengths


@kernel
def prompt_labels(offsets, attended, labels, prompts, shift, ignore_index, numbers):  # type: ignore[no-untyped-def]
    """Look at the labels of each row's prompt and behind it. prompts, shape (R,): its tokens, or a negative number.

    numbers, shape (5, R): attended tokens, then as `PromptLabels.gives` from supervised.
    """
    for row in range(offsets.size - 1):
        begin, start, stop = offsets[row], offsets[row], offsets[row + 1]
        while start < stop and not attended[start]:
            start += 1
        while stop > start and not attended[stop - 1]:
            stop -= 1
        count, position, value, masked = 0, -1, np.int64(0), -1
        prompt = min(prompts[row], stop - start + 1)  # whether it is longer still makes no difference
        for place in range(start, min(start + prompt - shift, stop)):
            if attended[place] and labels[place] != ignore_index:
                if count == 0:
                    position, value = place - begin, np.int64(labels[place])
                count += 1
        first = start + max(prompt, 1)
        if prompt >= 0 and first < stop and attended[first] and labels[first - shift] == ignore_index:
            masked = first - shift - begin
        numbers[0, row], numbers[1, row], numbers[2, row] = stop - start, count, position
        numbers[3, row], numbers[4, row] = value, masked


@dataclass(frozen=True)
class PromptPrefix(OfAttended):
    """Whether a row begins with its prompt, as far as both reach.

    `told` is false where the prompt is null, or a number in it, or nothing of the row is attended; then the rest means
    nothing. `place` is the first position at which the row has another id than the prompt (-1: none), `value` that id,
    `wanted` the prompt's. The prompt may stand at the row's start as it is; else both are compared without padding.
    """

    gives: ClassVar[Mapping[str, Any]] = {"told": pl.Boolean, "place": pl.Int32, "value": pl.Int64, "wanted": pl.Int64}
    ids: str

    def reads(self) -> tuple[str, ...]:
        return (*super().reads(), self.ids)

    def compute(self, batch: Batch) -> Numbers:
        own = batch.column(self.attention.column)
        attended, paired = self.attention.of(batch)
        whole = prompt_column(batch, self.ids, None)
        bare = prompt_column(batch, self.ids, self.attention.pad)
        numbers = np.zeros((4, batch.rows), np.int64)
        prefix(own.values, own.offsets, attended, whole.values, whole.offsets, bare.values, bare.offsets, numbers)
        told = paired & (own.nulls == 0) & (whole.nulls == 0) & (numbers[0] > 0)
        return {"told": told, **dict(zip(list(self.gives)[1:], numbers[1:], strict=True))}


@kernel
def prefix(values, offsets, attended, whole, whole_offsets, bare, bare_offsets, numbers):  # type: ignore[no-untyped-def]
    """Compare each row's beginning with its prompt, as it is (whole) and without padding (bare).

    numbers, shape (4, R): attended tokens, then as `PromptPrefix.gives` from place.
    """
    for row in range(offsets.size - 1):
        begin, start, stop = offsets[row], offsets[row], offsets[row + 1]
        low, high = whole_offsets[row], whole_offsets[row + 1]
        same = 0
        while begin + same < stop and low + same < high and values[begin + same] == whole[low + same]:
            same += 1
        differs = begin + same < stop and low + same < high
        while start < stop and not attended[start]:
            start += 1
        while stop > start and not attended[stop - 1]:
            stop -= 1
        place, value, wanted = -1, np.int64(0), np.int64(0)
        if differs:
            low, high, same = bare_offsets[row], bare_offsets[row + 1], 0
            while start + same < stop and low + same < high and values[start + same] == bare[low + same]:
                same += 1
            if start + same < stop and low + same < high:
                place, value, wanted = start + same - begin, np.int64(values[start + same]), bare[low + same]
        numbers[0, row], numbers[1, row], numbers[2, row], numbers[3, row] = stop - start, place, value, wanted


def prompt_column(batch: Batch, role: str, pad: int | None) -> ListColumn:
    """Return the prompts of a batch, values as int64; without the pads at their ends where `pad` says what those are."""
    return batch.once(("prompt", role, str(pad)), lambda: _prompt_column(batch.column(role), pad))


def _prompt_column(prompt: ListColumn, pad: int | None) -> ListColumn:
    values = frozen(prompt.values.astype(np.int64, copy=False))
    if pad is None:
        return ListColumn(values, prompt.offsets, prompt.nulls)
    keep: npt.NDArray[np.uint8] = np.ones(len(values), np.uint8)
    clear_pads(values, prompt.offsets, np.int64(pad), keep)
    before = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))
    return ListColumn(frozen(values[keep != 0]), frozen(before[prompt.offsets]), prompt.nulls)


@dataclass(frozen=True)
class SpanLabels(Metric):
    """Labels of a row against the spans of its tokens that are targets.

    A token's label stands at its own position, one before it with shift 1; then the last label has no token in the row, and
    is neither inside a span nor outside. Spans are cut at the row's ends; one that is no range of positions (negative, or
    ending before it starts) has no labels.

    `paired` is false where ids and labels do not pair, `told` where the row has no spans, not even none; then the rest means
    nothing. `outside` counts the supervised labels outside all spans, `position` and `value` are those of the first; `ignored`
    counts the positions inside a span whose label is ignored, `ignored_position` is the first (-1, 0: none). The label at
    position 0 of an unshifted row is not used by a loss, so that no span needs it. `broken` counts the spans that are no range.
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "paired": pl.Boolean,
        "told": pl.Boolean,
        "outside": pl.Int32,
        "position": pl.Int32,
        "value": pl.Int64,
        "ignored": pl.Int32,
        "ignored_position": pl.Int32,
        "broken": pl.Int32,
    }
    column: str
    shift: int
    ignore_index: int

    @property
    def spans(self) -> str:
        """The role of the spans that go with the column."""
        return companion(self.column, TARGET_SPANS)

    def reads(self) -> tuple[str, ...]:
        return (self.column, companion(self.column, LABELS), self.spans)

    def accepts(self, role: str, kind: pa.DataType) -> bool:
        return is_span_list(kind) if role == self.spans else super().accepts(role, kind)

    def compute(self, batch: Batch) -> Numbers:
        own, spans = batch.column(self.column), batch.spans(self.spans)
        labels, paired = batch.beside(self.column, LABELS)
        open_spans = np.zeros(len(own.values) + 1, np.int32)
        numbers = np.zeros((6, batch.rows), np.int64)
        ignored = np.int64(self.ignore_index)
        bounds = spans.starts, spans.ends, spans.offsets
        span_labels(own.offsets, labels, *bounds, open_spans, self.shift, ignored, numbers)
        return {"paired": paired, "told": spans.there, **dict(zip(list(self.gives)[2:], numbers, strict=True))}


@kernel
def span_labels(offsets, labels, starts, ends, span_offsets, open_spans, shift, ignore_index, numbers):  # type: ignore[no-untyped-def]
    """Compare each row's labels with its spans. numbers, shape (6, R), in the order of `SpanLabels.gives` from outside.

    open_spans, shape (V + 1,), zeros: how many more spans are open at a position than at the one before it.
    """
    for row in range(offsets.size - 1):
        begin, size = offsets[row], offsets[row + 1] - offsets[row]
        broken = 0
        for span in range(span_offsets[row], span_offsets[row + 1]):
            start, end = starts[span], ends[span]
            if start < 0 or end < start:
                broken += 1
            elif start < size + shift:
                open_spans[begin + max(start - shift, 0)] += 1
                open_spans[begin + min(max(end - shift, 0), size)] -= 1
        outside, position, value, ignored, ignored_position, inside = 0, -1, np.int64(0), 0, -1, 0
        for place in range(size):
            inside += open_spans[begin + place]
            supervised = labels[begin + place] != ignore_index
            if shift and place == size - 1:
                continue
            if supervised and inside == 0:
                if outside == 0:
                    position, value = place, np.int64(labels[begin + place])
                outside += 1
            elif inside > 0 and not supervised and (shift or place):
                if ignored == 0:
                    ignored_position = place
                ignored += 1
        open_spans[begin + size] = 0
        numbers[0, row], numbers[1, row], numbers[2, row] = outside, position, value
        numbers[3, row], numbers[4, row], numbers[5, row] = ignored, ignored_position, broken
