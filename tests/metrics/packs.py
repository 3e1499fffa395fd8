"""Packed rows, told in every way that documents can be told, and the plainest loops over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from dataguard.shards.batch import Batch
from tests.builders import list_array
from tests.metrics.strategies import unpadded

PAD, BOS, EOS = 0, 1, 2
IGNORED = -100
TELLINGS = ("nothing", "document_ids", "cu_seqlens", "seq_lengths", "segments")


@dataclass(frozen=True)
class Pack:
    """One row: its tokens, which of them are attended, and the number of the document of each (None: in none)."""

    ids: list[int]
    attended: list[bool]
    documents: list[int | None]
    by: int


@dataclass(frozen=True)
class Packs:
    """Rows of one shard, and the batch that holds them."""

    rows: list[Pack]
    batch: Batch
    columns: dict[str, list[Any]]


@st.composite
def packs(draw: st.DrawFn, **companions: st.SearchStrategy[int]) -> Packs:
    """Return sound packed rows, padded on the right, with one more column of the ids' lengths for each companion."""
    telling = draw(st.sampled_from(TELLINGS))
    masked = telling == "segments" or draw(st.booleans())
    token = st.sampled_from([BOS, EOS, EOS, 5, 6])
    short = st.lists(token, min_size=1, max_size=5)
    long = st.builds(lambda a, filler, b: [*a, *[5] * filler, *b], short, st.integers(60, 200), short)
    document = st.one_of(short, short, short, long)
    rows, columns = [], {name: [] for name in ("input_ids", "attention_mask", "told", *companions)}
    for _ in range(draw(st.integers(1, 5))):
        parts = draw(st.lists(document, min_size=1, max_size=3))
        pads, own_segment = draw(st.integers(0, 3)), draw(st.booleans())
        numbers = [number for number, part in enumerate(parts) for _ in part]
        ids = [token for part in parts for token in part] + [PAD] * pads
        real = len(numbers)
        seen = [place < real for place in range(len(ids))]
        lengths = [len(part) for part in parts] + ([pads] if pads and own_segment else [])
        told = {
            "document_ids": numbers + [numbers[-1] + own_segment] * pads,
            "cu_seqlens": [sum(lengths[:place]) for place in range(len(lengths) + 1)],
            "seq_lengths": lengths,
        }
        columns["input_ids"].append(ids)
        segments = [number + 1 for number in numbers] if telling == "segments" else [1] * real
        columns["attention_mask"].append(segments + [0] * pads)
        columns["told"].append(told.get(telling, []))
        for name, values in companions.items():
            columns[name].append(draw(st.lists(values, min_size=len(ids), max_size=len(ids))))
        known, by = numbers, 1
        if telling == "nothing" or (telling == "segments" and len(parts) == 1):
            known, by = [0] * real, 0
        elif telling == "segments":
            by = 2
        rows.append(Pack(ids, seen, [*known, *[None] * pads], by))
    kinds = {"input_ids": draw(st.sampled_from([pa.int32(), pa.int64(), pa.uint16()]))}
    arrays = {
        name: list_array(cells, kinds.get(name, pa.int64()), skip=draw(st.integers(0, 1)))
        for name, cells in columns.items()
        if name != "told"
    }
    if telling in ("document_ids", "cu_seqlens", "seq_lengths"):
        arrays[telling] = list_array(columns["told"], draw(st.sampled_from([pa.int32(), pa.int64()])))
    if not masked:
        del arrays["attention_mask"]
        assert all(row.attended == unpadded(row.ids, PAD) for row in rows)
    return Packs(rows, Batch(arrays, len(rows)), columns)


def divided(row: Pack, eos: int | None) -> tuple[list[int | None], int]:
    """Return the document of each token, and what divides the row: where nothing else does, eos."""
    if row.by != 0 or eos is None:
        return row.documents, row.by
    number, found = 0, []
    for place, document in enumerate(row.documents):
        if document is not None and place and row.ids[place - 1] == eos and row.ids[place] != eos:
            number += 1
        found.append(None if document is None else number)
    return found, 3 if number else 0


def begins(documents: list[int | None]) -> list[int]:
    """Return the positions at which a document begins."""
    return [
        place
        for place, each in enumerate(documents)
        if each is not None and (place == 0 or documents[place - 1] != each)
    ]
