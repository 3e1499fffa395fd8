"""Packed rows, told in every way that documents can be told, and the plainest loops over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from dataguard.metrics.base import Metric
from dataguard.shards.batch import Batch
from tests.builders import list_array, numbers
from tests.metrics.strategies import RAGGED, unpadded

PAD, BOS, EOS = 0, 1, 2
IGNORED = -100
KINDS = st.sampled_from([pa.int16(), pa.int32(), pa.int64()])
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
    """Sound rows of one shard, and the batch that holds them, with null and empty rows in between."""

    rows: list[Pack]
    batch: Batch
    columns: dict[str, list[Any]]
    """The cells of the sound rows."""
    places: list[int]
    """Where the sound rows stand in the batch."""

    def numbers(self, metric: Metric) -> list[dict[str, Any]]:
        """Return what a metric gives for the sound rows."""
        measured = numbers(metric, self.batch)
        return [measured[place] for place in self.places]


@st.composite
def among_gaps(draw: st.DrawFn, columns: dict[str, list[Any]], rows: int) -> tuple[dict[str, list[Any]], list[int]]:
    """Return the cells of rows with null and empty ones in between, and where the rows stand now."""
    stored: dict[str, list[Any]] = {name: [] for name in columns}
    places = []
    for place in range(rows + 1):
        gaps = draw(st.sampled_from([(), (), (), (None,), ([],)]))
        own = [place] if place < rows else []
        places += [len(stored["input_ids"]) + len(gaps) for _ in own]
        for name, cells in stored.items():
            cells += [*gaps, *(columns[name][each] for each in own)]
    return stored, places


@st.composite
def packs(draw: st.DrawFn, **companions: st.SearchStrategy[int]) -> Packs:
    """Return sound packed rows, padded on the right, with one more column of the ids' lengths for each companion.

    The columns are of many types and layouts, and a null or an empty row may stand before each row and behind the last.
    """
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
        owners = [number for number, part in enumerate(parts) for _ in part]
        ids = [token for part in parts for token in part] + [PAD] * pads
        real = len(owners)
        seen = [place < real for place in range(len(ids))]
        lengths = [len(part) for part in parts] + ([pads] if pads and own_segment else [])
        told = {
            "document_ids": owners + [owners[-1] + own_segment] * pads,
            "cu_seqlens": [sum(lengths[:place]) for place in range(len(lengths) + 1)],
            "seq_lengths": lengths,
        }
        columns["input_ids"].append(ids)
        segments = [number + 1 for number in owners] if telling == "segments" else [1] * real
        columns["attention_mask"].append(segments + [0] * pads)
        columns["told"].append(told.get(telling, []))
        for name, values in companions.items():
            columns[name].append(draw(st.lists(values, min_size=len(ids), max_size=len(ids))))
        known, by = owners, 1
        if telling == "nothing" or (telling == "segments" and len(parts) == 1):
            known, by = [0] * real, 0
        elif telling == "segments":
            by = 2
        rows.append(Pack(ids, seen, [*known, *[None] * pads], by))
    stored, places = draw(among_gaps(columns, len(rows)))
    if telling in ("document_ids", "cu_seqlens", "seq_lengths"):
        stored[telling] = stored["told"]
    if not masked:
        del stored["attention_mask"]
    arrays = {
        name: list_array(cells, draw(KINDS), draw(RAGGED), draw(st.integers(0, 2)))
        for name, cells in stored.items()
        if name != "told"
    }
    if not masked:
        assert all(row.attended == unpadded(row.ids, PAD) for row in rows)
    return Packs(rows, Batch(arrays, len(stored["input_ids"])), columns, places)


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
