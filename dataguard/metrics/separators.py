"""bos and eos against the documents of a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from dataguard.metrics.base import Metric, Numbers, as_value, kernel
from dataguard.metrics.documents import BEGINS, BY_EOS, DOCUMENT_IDS, OUTSIDE, WHOLE, Documents
from dataguard.shards.batch import Batch
from dataguard.shards.roles import companion

BLOCK = 64
"""Tokens that are looked through at once."""


@dataclass(frozen=True)
class Separators(Metric):
    """Where bos and eos stand in a row's documents; positions are -1 where there is none.

    `known` is false where the row's documents are not known; then the rest means nothing. `by` says what divides the row
    (`metrics.documents`), `documents` into how many. For bos an eos divides a row that nothing else does.

    `lacking` is the first document start without bos, `starting` the first one with it, `astray` the first bos elsewhere (and
    `strays` how many there are, the second of two in a row apart), `doubled` the second of the first two in a row.

    `inside` counts the eos before the last token of a document, as the columns tell documents (else the row is one), and
    `inside_position` is the first. `ending` is the position of the row's last token where that is eos.
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "known": pl.Boolean,
        "by": pl.UInt8,
        "documents": pl.Int32,
        "lacking": pl.Int32,
        "starting": pl.Int32,
        "astray": pl.Int32,
        "strays": pl.Int32,
        "doubled": pl.Int32,
        "inside": pl.Int32,
        "inside_position": pl.Int32,
        "ending": pl.Int32,
    }
    documents: Documents
    bos: int | None
    eos: int | None
    eos_pads: bool = False
    """eos is also pad, and padding may look like it: a run of eos at a document's end is its end."""

    def reads(self) -> tuple[str, ...]:
        return (self.documents.attention.column,)

    def may_read(self) -> tuple[str, ...]:
        return self.documents.roles

    def compute(self, batch: Batch) -> Numbers:
        own = batch.column(self.documents.attention.column)
        marked = self.documents.of(batch)
        bos, eos = (as_value(own.values, each) for each in (self.bos, self.eos))
        by = marked.by.copy()
        numbers = np.zeros((9, batch.rows), np.int64)
        separators(own.values, own.offsets, marked.marks, bos, eos, self.eos_pads, by, numbers)
        return {"known": marked.known, "by": by, **dict(zip(list(self.gives)[2:], numbers, strict=True))}


@kernel
def separators(values, offsets, marks, bos, eos, eos_pads, by, numbers):  # type: ignore[no-untyped-def]
    """Find bos and eos in each row's documents. numbers, shape (9, R), in the order of `Separators.gives` from documents.

    by, shape (R,), becomes BY_EOS where an eos divides a row. Where nothing depends on the next token, the next one that
    matters is looked for, block by block, in a loop without branches.
    """
    for row in range(offsets.size - 1):
        own, here = values[offsets[row] : offsets[row + 1]], marks[offsets[row] : offsets[row + 1]]
        whole = by[row] == WHOLE
        documents, strays, inside, run, run_start, last = 0, 0, 0, 0, 0, -1
        lacking, starting, astray, doubled, inside_position = -1, -1, -1, -1, -1
        after_bos, after_eos = False, False
        place = 0
        while place < own.size:
            if documents and not after_bos and not after_eos:
                matters = False
                while not matters and place + BLOCK <= own.size:
                    tokens = own[place : place + BLOCK]
                    for each in range(BLOCK):
                        matters |= (tokens[each] == bos) | (tokens[each] == eos)
                    if not whole:
                        block = here[place : place + BLOCK]
                        for each in range(BLOCK):
                            matters |= block[each] == BEGINS
                    if not matters:
                        place += BLOCK
                while place < own.size and own[place] != bos and own[place] != eos and (whole or here[place] != BEGINS):
                    place += 1
                if place == own.size:
                    break
            mark, token = here[place], own[place]
            place += 1
            if mark == OUTSIDE:
                continue
            is_bos, is_eos, last = token == bos, token == eos, place - 1
            if mark == BEGINS:
                run = 0
            elif run > 0 and not (is_eos and eos_pads):
                if inside == 0:
                    inside_position = run_start
                inside += run
                run = 0
            divided = whole and after_eos and not is_eos
            begins = mark == BEGINS or (divided and bos != eos)
            if divided:
                by[row] = BY_EOS
            if divided or begins:
                documents += 1
            if begins:
                if is_bos and starting < 0:
                    starting = last
                elif not is_bos and lacking < 0:
                    lacking = last
            if is_bos:
                if after_bos:
                    if doubled < 0:
                        doubled = last
                elif not begins and bos != eos:
                    if strays == 0:
                        astray = last
                    strays += 1
            if is_eos:
                if run == 0:
                    run_start = last
                run += 1
            after_bos, after_eos = is_bos, is_eos
        numbers[0, row], numbers[1, row], numbers[2, row] = documents, lacking, starting
        numbers[3, row], numbers[4, row], numbers[5, row] = astray, strays, doubled
        numbers[6, row], numbers[7, row] = inside, inside_position
        numbers[8, row] = last if after_eos else -1


@dataclass(frozen=True)
class DocumentEnds(Metric):
    """The document ids of a row's first and last token. `known` is false where nothing of it is in a document."""

    gives: ClassVar[Mapping[str, Any]] = {"known": pl.Boolean, "first": pl.Int64, "last": pl.Int64}
    documents: Documents

    def reads(self) -> tuple[str, ...]:
        column = self.documents.attention.column
        return (column, companion(column, DOCUMENT_IDS))

    def may_read(self) -> tuple[str, ...]:
        return self.documents.roles

    def compute(self, batch: Batch) -> Numbers:
        column = self.documents.attention.column
        marked = self.documents.of(batch)
        ids, _ = batch.beside(column, DOCUMENT_IDS)
        numbers = np.zeros((3, batch.rows), np.int64)
        document_ends(ids, batch.column(column).offsets, marked.marks, numbers)
        return {"known": marked.known & (numbers[0] > 0), "first": numbers[1], "last": numbers[2]}


@kernel
def document_ends(ids, offsets, marks, numbers):  # type: ignore[no-untyped-def]
    """Find the document ids of each row's ends. numbers, shape (3, R): tokens in documents, first id, last id."""
    for row in range(offsets.size - 1):
        for place in range(offsets[row], offsets[row + 1]):
            if marks[place] != OUTSIDE:
                if numbers[0, row] == 0:
                    numbers[1, row] = ids[place]
                numbers[0, row] += 1
                numbers[2, row] = ids[place]
