"""Labels of prompts and spans, and prompts against rows, against the plainest loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.prompts import PromptLabels, PromptPrefix, SpanLabels
from dataguard.shards.batch import Batch
from tests.builders import list_array, numbers
from tests.metrics.strategies import quick, unpadded

X, PAD = -100, 0
INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
IDS = st.sampled_from([PAD, PAD, 5, 6, 7])
LABELS = st.sampled_from([X, X, 5, 6])


@dataclass(frozen=True)
class Rows:
    """Rows by role, and the batch that holds them."""

    columns: dict[str, list[Any]]
    batch: Batch

    def each(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, cells, strict=True)) for cells in zip(*self.columns.values(), strict=True)]


@st.composite
def prompted(draw: st.DrawFn) -> Rows:
    """Return rows with labels, maybe a mask, and one or both of what tells a prompt."""
    roles = draw(st.sampled_from([("prompt_length",), ("prompt_ids",), ("prompt_length", "prompt_ids")]))
    masked, skip = draw(st.booleans()), draw(st.integers(0, 2))
    columns: dict[str, list[Any]] = {role: [] for role in ("input_ids", "labels", "attention_mask", *roles)}
    for _ in range(draw(st.integers(0, 4))):
        ids = draw(st.one_of(st.none(), *[st.lists(IDS, max_size=7)] * 5))
        size = len(ids or [])
        equal = st.lists(LABELS, min_size=size, max_size=size)
        columns["input_ids"].append(ids)
        columns["labels"].append(draw(st.one_of(st.none(), st.lists(LABELS, max_size=2), *[equal] * 5)))
        pads = draw(st.integers(0, size)), draw(st.integers(0, 2))
        mask = [int(pads[0] <= place < size - pads[1]) for place in range(size)]
        columns["attention_mask"].append(draw(st.sampled_from([mask, mask, mask, [1] * size, None])))
        if "prompt_length" in roles:
            columns["prompt_length"].append(draw(st.one_of(st.none(), st.integers(-2, 9), st.just(2**62))))
        if "prompt_ids" in roles:
            own = (ids or [])[: draw(st.integers(0, 7))]
            other = st.lists(st.one_of(IDS, IDS, IDS, st.none()), max_size=8)
            columns["prompt_ids"].append(draw(st.one_of(st.none(), st.just(own), st.just([PAD, *own]), other)))
    if not masked:
        del columns["attention_mask"]
    kinds = {role: draw(st.sampled_from([pa.int32(), pa.int64()])) for role in columns}
    arrays = {
        role: list_array(rows, kinds[role], skip=skip) for role, rows in columns.items() if role != "prompt_length"
    }
    if "prompt_length" in roles:
        arrays["prompt_length"] = pa.array([1, *columns["prompt_length"]], pa.int64()).slice(1)
    return Rows(columns, Batch(arrays, len(columns["input_ids"])))


def attended_places(row: dict[str, Any], pad: int | None) -> list[int] | None:
    """Return the attended positions; None where the row does not pair with its mask."""
    ids = row["input_ids"]
    if ids is None:
        return None
    if "attention_mask" not in row:
        return [place for place, seen in enumerate(unpadded(ids, pad)) if seen]
    mask = row["attention_mask"]
    return None if mask is None or len(mask) != len(ids) else [place for place, seen in enumerate(mask) if seen]


def stripped(ids: list[int], pad: int | None) -> list[int]:
    return [token for token, seen in zip(ids, unpadded(ids, pad), strict=True) if seen]


def length_of(row: dict[str, Any], pad: int | None) -> int | None:
    """Return how many tokens the prompt has; None where nothing says it."""
    if row.get("prompt_length") is not None:
        return int(row["prompt_length"])
    prompt = row.get("prompt_ids")
    return None if prompt is None or None in prompt else len(stripped(prompt, pad))


@quick
@given(prompted(), st.sampled_from([0, 1]), st.sampled_from([PAD, None]))
def test_labels_of_the_prompt_agree_with_the_plain_loop(rows: Rows, shift: int, pad: int | None):
    metric = PromptLabels(Attention("input_ids", pad), "prompt_length", "prompt_ids", shift, X)
    for row, own in zip(rows.each(), numbers(metric, rows.batch), strict=True):
        places, labels, length = attended_places(row, pad), row["labels"], length_of(row, pad)
        if not places or labels is None or len(labels) != len(row["input_ids"]):
            assert not own["paired"]
            continue
        assert own["paired"]
        assert own["told"] == (length is not None and length >= 0)
        if length is None or length < 0:
            continue
        start, last = places[0], places[-1]
        prompt = [p for p in places if p < start + length - shift]
        wrong = [p for p in prompt if labels[p] != X]
        first = start + max(length, 1)
        masked = first <= last and first in places and labels[first - shift] == X
        assert own["supervised"] == len(wrong)
        assert (own["position"], own["value"]) == ((wrong[0], labels[wrong[0]]) if wrong else (-1, 0))
        assert own["masked"] == (first - shift if masked else -1)


def differs(ids: list[int], prompt: list[int]) -> int | None:
    """Return the first place where one does not go on as the other does; None where both agree as far as both reach."""
    return next((place for place, pair in enumerate(zip(ids, prompt, strict=False)) if pair[0] != pair[1]), None)


@quick
@given(prompted(), st.sampled_from([PAD, None]))
def test_prefixes_agree_with_the_plain_loop(rows: Rows, pad: int | None):
    if "prompt_ids" not in rows.columns:
        return
    metric = PromptPrefix(Attention("input_ids", pad), "prompt_ids")
    for row, own in zip(rows.each(), numbers(metric, rows.batch), strict=True):
        places, ids, prompt = attended_places(row, pad), row["input_ids"], row["prompt_ids"]
        told = bool(places) and prompt is not None and None not in prompt
        assert own["told"] == told
        if not told or places is None:
            continue
        bare = stripped(prompt, pad)
        start, stop = places[0], places[-1] + 1
        place = differs(ids[start:stop], bare)
        if differs(ids, prompt) is None or place is None:
            assert (own["place"], own["value"], own["wanted"]) == (-1, 0, 0)
        else:
            assert (own["place"], own["value"], own["wanted"]) == (start + place, ids[start + place], bare[place])


def spans_array(rows: list[Any], layout: str, kind: pa.DataType) -> pa.Array:
    """Return rows of spans in a layout; one more row stands before and behind them."""
    padded = [[[7, 9]], *rows, [[1, 2]]]
    if layout == "struct":
        named = [r if r is None else [s if s is None else {"end": s[1], "start": s[0]} for s in r] for r in padded]
        return pa.array(named, pa.list_(pa.struct([("end", kind), ("start", kind)]))).slice(1, len(rows))
    kinds = {
        "list": pa.list_(pa.list_(kind)),
        "large": pa.large_list(pa.large_list(kind)),
        "views": pa.list_view(pa.list_view(kind)),
        "fixed": pa.list_(pa.list_(kind, 2)),
    }
    return pa.array(padded, kinds[layout]).slice(1, len(rows))


LAYOUTS = ("list", "large", "views", "fixed", "struct")


@st.composite
def spanned(draw: st.DrawFn) -> Rows:
    """Return rows with labels and spans, sound or not."""
    number = st.one_of(st.integers(-1, 9), st.integers(0, 5), st.none(), st.just(2**62))
    span = st.one_of(st.none(), *[st.tuples(number, number).map(list)] * 6)
    columns: dict[str, list[Any]] = {"input_ids": [], "labels": [], "target_spans": []}
    for _ in range(draw(st.integers(0, 4))):
        ids = draw(st.one_of(st.none(), *[st.lists(IDS, max_size=7)] * 5))
        size = len(ids or [])
        equal = st.lists(LABELS, min_size=size, max_size=size)
        columns["input_ids"].append(ids)
        columns["labels"].append(draw(st.one_of(st.none(), st.lists(LABELS, max_size=2), *[equal] * 5)))
        columns["target_spans"].append(draw(st.one_of(st.none(), *[st.lists(span, max_size=3)] * 5)))
    skip = draw(st.integers(0, 1))
    arrays = {role: list_array(columns[role], pa.int32(), skip=skip) for role in ("input_ids", "labels")}
    arrays["target_spans"] = spans_array(columns["target_spans"], draw(st.sampled_from(LAYOUTS)), pa.int64())
    return Rows(columns, Batch(arrays, len(columns["input_ids"])))


@quick
@given(spanned(), st.sampled_from([0, 1]))
def test_labels_of_spans_agree_with_the_plain_loop(rows: Rows, shift: int):
    for row, own in zip(rows.each(), numbers(SpanLabels("input_ids", shift, X), rows.batch), strict=True):
        ids, labels, spans = row["input_ids"], row["labels"], row["target_spans"]
        paired = ids is not None and labels is not None and len(ids) == len(labels)
        assert (own["paired"], own["told"]) == (paired, spans is not None)
        if not paired or spans is None:
            continue
        pairs = [span for span in spans if span is not None and None not in span]
        sound = [(start, end) for start, end in pairs if 0 <= start <= end]
        judged = range(len(ids) - shift)
        inside = [place for place in judged if any(start <= place + shift < end for start, end in sound)]
        outside = [place for place in judged if place not in inside and labels[place] != X]
        ignored = [place for place in inside if labels[place] == X and place + shift > 0]
        assert own["broken"] == len(spans) - len(sound)
        assert own["outside"] == len(outside)
        assert (own["position"], own["value"]) == ((outside[0], labels[outside[0]]) if outside else (-1, 0))
        assert own["ignored"] == len(ignored)
        assert own["ignored_position"] == min(ignored, default=-1)


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_spans_of_every_type_and_layout(kind: pa.DataType, layout: str):
    spans = spans_array([[[0, 1], [2, 4]], None, [], [None]], layout, kind)
    batch = Batch(
        {"input_ids": list_array([[5] * 4] * 4), "labels": list_array([[5, 5, X, X]] * 4), "target_spans": spans}, 4
    )
    found = numbers(SpanLabels("input_ids", 0, X), batch)
    assert [(row["told"], row["outside"], row["ignored"], row["broken"]) for row in found] == [
        (True, 1, 2, 0),
        (False, 2, 0, 0),
        (True, 2, 0, 0),
        (True, 2, 0, 1),
    ]


@pytest.mark.parametrize("kind", [pa.list_(pa.null()), pa.list_(pa.list_(pa.null())), pa.list_(pa.list_(pa.null(), 2))])
def test_spans_of_which_there_is_none_have_no_type(kind: pa.DataType):
    batch = Batch(
        {"input_ids": list_array([[5]]), "labels": list_array([[5]]), "target_spans": pa.array([[]], kind)}, 1
    )
    (row,) = numbers(SpanLabels("input_ids", 0, X), batch)
    assert (row["told"], row["outside"], row["broken"]) == (True, 1, 0)


@pytest.mark.parametrize("spans", [[[1]], [[1, 2, 3]], [[]], [[None, 2]], [[2, None]], [[2, 1]], [[-1, 3]], [None]])
def test_what_is_no_span_is_broken(spans: list[Any]):
    array = pa.array([spans, [[0, 1]]], pa.list_(pa.list_(pa.int32())))
    columns = {"input_ids": list_array([[5], [5]]), "labels": list_array([[5], [5]]), "target_spans": array}
    found = numbers(SpanLabels("input_ids", 0, X), Batch(columns, 2))
    assert [(row["broken"], row["outside"]) for row in found] == [(1, 1), (0, 0)]


def test_a_span_behind_a_broken_one_is_read_at_its_own_place():
    array = pa.array([[[9, 9, 9], [0, 1], None, [1, 2]]], pa.list_(pa.list_(pa.int32())))
    columns = {"input_ids": list_array([[5, 5, 5]]), "labels": list_array([[5, 5, X]]), "target_spans": array}
    (row,) = numbers(SpanLabels("input_ids", 0, X), Batch(columns, 1))
    assert (row["broken"], row["outside"], row["ignored"]) == (2, 0, 0)


def test_a_span_type_is_read_and_another_is_not():
    types = {"input_ids": pa.list_(pa.int32()), "labels": pa.list_(pa.int32())}
    metric = SpanLabels("input_ids", 0, X)
    numbered, named = pa.list_(pa.int64()), pa.struct([("start", pa.int32()), ("end", pa.int32())])
    for kind in (pa.list_(numbered), pa.list_(named), pa.large_list(pa.list_(pa.int8(), 2)), pa.list_(pa.null())):
        assert metric.can_compute({**types, "target_spans": kind})
    other = pa.struct([("from", pa.int32()), ("to", pa.int32())])
    for kind in (numbered, pa.int32(), pa.list_(pa.list_(pa.float32())), pa.list_(other), pa.null(), named):
        assert not metric.can_compute({**types, "target_spans": kind})
