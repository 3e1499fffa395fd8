"""A row's ids against those of its text, against the plainest walk; and what the walk promises."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics import text_ids as module
from dataguard.metrics.base import Attention
from dataguard.metrics.text_ids import GRAM, JUDGED, NO_TEXT, REACH, REFUSED, TextIds, aligned
from dataguard.shards.batch import Batch
from dataguard.vocabulary.encoder import Encoder
from tests.builders import ids_of, list_array, numbers
from tests.metrics.strategies import quick

SPECIAL = (0, 1, 2)
WORDS = {"<pad>": 0, "<s>": 1, "</s>": 2, "?": 3, **{f"w{number}": 4 + number for number in range(200)}}


def words(unknown: str | None = "?") -> Encoder:
    """Return a tokenizer of whole words: w0 is the id 4."""
    model = {"type": "WordLevel", "vocab": WORDS, "unk_token": unknown or "none"}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    document = {
        "version": "1.0",
        "added_tokens": [{"id": each, "content": list(WORDS)[each], **flags} for each in SPECIAL],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": model,
    }
    return Encoder("words", lambda: json.loads(json.dumps(document)), lambda: str(unknown))


WORDS_ENCODER = words()


def spelled(ids: list[int]) -> str:
    return " ".join(f"w{each - 4}" for each in ids)


def compared(row: list[int], text: str | None, **columns: Any) -> dict[str, Any]:
    arrays = {"input_ids": list_array([row]), "text": pa.array([text], pa.string())}
    arrays |= {name: list_array(rows, pa.int8()) for name, rows in columns.items()}
    (found,) = numbers(TextIds(Attention("input_ids", 0), SPECIAL, WORDS_ENCODER), Batch(arrays, 1))
    return found


def agreeing(own: list[int], text: list[int], place: int, there: int, count: int) -> int:
    spots = [(place + each, there + each) for each in range(count)]
    return sum(0 <= spot < len(text) and own[each] == text[spot] for each, spot in spots)


def run(own: list[int], text: list[int], place: int, there: int) -> int:
    pairs = zip(own[place:], text[there:], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def ways_on(own: list[int], text: list[int], place: int, there: int | None) -> list[tuple[int, int, int]]:
    """Return each way to go on: its cost, the ids of the row to skip, and the place of the text; `there` is None at first."""
    ways = []
    for more in range(min(REACH, len(own) - GRAM + 1 - place)):
        gram = own[place + more : place + more + GRAM]
        found = [each for each in range(there or 0, len(text) - GRAM + 1) if text[each : each + GRAM] == gram]
        if found and there is None:
            ways.append((more, more, max(found, key=lambda each: (run(own, text, place + more, each), -each))))
        elif found:
            ways.append((max(more, found[0] - there), more, found[0]))
    return [each for each in ways if each[0] <= len(own) - place]


def by_hand(own: list[int], text: list[int]) -> tuple[int, int, int]:
    """Walk as `metrics/text_ids.py` says, by looking everywhere."""
    if any(text[start : start + len(own)] == own for start in range(len(text) + 1)):
        return len(own), 0, -1
    if len(own) < GRAM:
        most = max((agreeing(own, text, 0, start, len(own)) for start in range(1 - len(own), len(text))), default=0)
        return most, len(own) - most, 0
    begun = run(own, text, 0, 0) >= GRAM
    equal = place = run(own, text, 0, 0) if begun else 0
    there = place if begun else None
    other, first = 0, -1
    while place < len(own):
        ways = ways_on(own, text, place, there)
        if ways:
            cost, more, goes_on = min(ways)
            spots = [goes_on - more + each for each in range(more)]
            inside = [
                (spot >= (there or 0)) * agreeing(own, text, place + each, spot, 1) for each, spot in enumerate(spots)
            ]
            if first < 0 and cost > sum(inside):
                first = place + (inside.index(0) if there is None else 0)
            length = run(own, text, place + more, goes_on)
            equal, other = equal + sum(inside) + length, other + cost - sum(inside)
            place, there = place + more + length, goes_on + length
            continue
        first = place if first < 0 else first
        rest = min(REACH, len(own) - place)
        agree = 0
        if there is not None and place + rest == len(own):
            agree = max(agreeing(own, text, place, there + each, rest) for each in range(REACH))
        equal, other, place = equal + agree, other + rest - agree, place + rest
    return equal, other, first


IDS = st.lists(st.integers(4, 9), max_size=60)


@st.composite
def changed(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Return a row and its text: a piece of it, in which passages were changed, lost or put in."""
    text = draw(st.lists(st.integers(4, draw(st.sampled_from([6, 60]))), max_size=120))
    start = draw(st.integers(0, len(text)))
    own = text[start : start + draw(st.integers(0, len(text)))]
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(own)))
        own = [*own[:place], *draw(st.lists(st.integers(4, 60), max_size=40)), *own[place + draw(st.integers(0, 40)) :]]
    return own, text


@quick
@given(st.one_of(changed(), st.tuples(IDS, IDS)))
def test_agrees_with_the_plain_walk(case: tuple[list[int], list[int]]):
    own, text = case
    assert aligned(np.array(own, np.int64), np.array(text, np.int64)) == by_hand(own, text)


@quick
@given(st.one_of(changed(), st.tuples(IDS, IDS)))
def test_every_id_of_the_row_is_counted_once_at_least(case: tuple[list[int], list[int]]):
    own, text = (np.array(each, np.int64) for each in case)
    equal, other, first = aligned(own, text)
    assert equal + other >= own.size >= equal
    assert (first >= 0) == (other > 0)


TEXT = list(range(4, 204))


@pytest.mark.parametrize("cut", [slice(None), slice(0, 50), slice(150, None), slice(70, 120)])
def test_a_row_cut_at_either_end_or_both_is_equal(cut: slice):
    found = compared(TEXT[cut], spelled(TEXT))
    assert (found["state"], found["equal"], found["other"]) == (JUDGED, len(TEXT[cut]), 0)


@pytest.mark.parametrize("place", [0, 1, 3, 4, 100, 196, 197, 199])
@pytest.mark.parametrize("cut", [slice(None), slice(0, 200), slice(0, 201)])
def test_one_different_id_is_one_wherever_it_stands(place: int, cut: slice):
    row = [*TEXT[:place], 3, *TEXT[place + 1 :]]
    found = compared(row[cut], spelled([*TEXT, *TEXT]))
    assert (found["equal"], found["other"], found["position"], found["value"]) == (199, 1, place, 3)


def test_a_missing_passage_is_as_long_as_it_is():
    found = compared([*TEXT[:50], *TEXT[90:]], spelled(TEXT))
    assert (found["equal"], found["other"]) == (160, 40)


def test_a_foreign_passage_is_as_long_as_it_is():
    found = compared([*TEXT[:50], *[3] * 100, *TEXT[50:]], spelled(TEXT))
    assert (found["equal"], found["other"], found["position"]) == (200, 100, 50)


def test_a_passage_that_stands_twice_is_other_once():
    found = compared([*TEXT[:20], *TEXT[:20], *TEXT[20:40]], spelled(TEXT))
    assert (found["equal"], found["other"], found["position"]) == (40, 20, 20)


@pytest.mark.parametrize("own", [[256] * 500 + [9], [9] + [256] * 500, [1] * 500 + [9], [256, 257] * 250])
def test_ids_that_look_alike_between_two_of_the_text_are_other(own: list[int]):
    text = [1] * 3000
    equal, other, _ = aligned(np.array(own, np.int64), np.array(text, np.int64))
    assert (equal, other) == (own.count(1), len(own) - own.count(1))


def test_a_hash_that_two_grams_share_leads_nowhere(monkeypatch: pytest.MonkeyPatch):
    def same(ids: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
        return np.zeros(max(0, ids.size - GRAM + 1), np.uint64)

    monkeypatch.setattr(module, "hashed", same)
    equal, other, _ = aligned(np.array([*TEXT[:50], 3, *TEXT[51:]]), np.array(TEXT))
    assert equal + other >= 200


def test_what_follows_behind_the_text_is_other():
    found = compared([*TEXT, *TEXT[::-1][:20]], spelled(TEXT))
    assert (found["equal"], found["other"], found["position"]) == (200, 20, 200)


def test_another_order_is_no_match():
    found = compared(TEXT[::-1], spelled(TEXT))
    assert found["other"] >= 195


def test_special_tokens_and_padding_are_left_aside():
    found = compared([0, 1, *TEXT[:20], 2, *TEXT[20:30], 2, 0, 0], spelled(TEXT[:30]))
    assert (found["equal"], found["other"]) == (30, 0)


def test_special_tokens_that_the_text_spells_are_left_aside():
    found = compared(TEXT[:30], f"<s> {spelled(TEXT[:30])}</s>")
    assert (found["equal"], found["other"]) == (30, 0)


def test_unattended_positions_are_left_aside_and_positions_are_those_of_the_row():
    mask = [[0, 0, *[1] * 10]]
    found = compared([9, 9, *TEXT[:6], 3, *TEXT[7:10]], spelled(TEXT[:10]), attention_mask=mask)
    assert (found["equal"], found["other"], found["position"]) == (9, 1, 8)


def test_without_a_text_nothing_is_compared():
    assert compared(TEXT, None)["state"] == NO_TEXT
    assert compared([5, 6], "") == {"state": JUDGED, "equal": 0, "other": 2, "position": 0, "value": 5}


def test_a_text_that_the_tokenizer_refuses_is_told_and_others_beside_it_are_judged():
    metric = TextIds(Attention("input_ids", 0), SPECIAL, words(unknown=None))
    batch = Batch({"input_ids": list_array([[4], [4], [5]]), "text": pa.array(["w0", "what", "w1"])}, 3)
    assert [each["state"] for each in numbers(metric, batch)] == [JUDGED, REFUSED, JUDGED]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_texts_of_every_type_and_sliced(kind: pa.DataType):
    texts = pa.array(["no", "w0 w1", None, "w2"], pa.string()).cast(kind).slice(1)
    batch = Batch({"input_ids": list_array([[4, 5], [4], [6]], skip=2), "text": texts}, 3)
    found = numbers(TextIds(Attention("input_ids", 0), SPECIAL, WORDS_ENCODER), batch)
    assert [(each["state"], each["equal"]) for each in found] == [(JUDGED, 2), (NO_TEXT, 0), (JUDGED, 1)]


def test_a_long_text_is_encoded_as_far_as_its_row_goes_and_whole_where_that_is_not_enough():
    text = spelled(TEXT * 200)
    rows = [TEXT * 2, [*TEXT, *TEXT[:100]], [*TEXT[100:], *TEXT], [*TEXT[::-1]]]
    batch = Batch({"input_ids": list_array(rows), "text": pa.array([text] * 4)}, 4)
    found = numbers(TextIds(Attention("input_ids", 0), SPECIAL, WORDS_ENCODER), batch)
    assert [each["other"] for each in found[:3]] == [0, 0, 0]
    assert found[3]["other"] > 150


def test_the_key_names_the_tokenizer_and_what_encodes():
    key = TextIds(Attention("input_ids", 0), SPECIAL, WORDS_ENCODER).key
    assert "words" in key
    assert "tokenizers-" in key
    assert key != TextIds(Attention("input_ids", 0), SPECIAL, words(unknown=None)).key


def test_ids_of_bytes_agree_with_their_text():
    assert ids_of("a") == [4 + ord("a")]


DICE = np.random.default_rng(3)
LONG = DICE.integers(4, 204, 4000).tolist()


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make every text that is longer than its row a large one; return the sizes of what is encoded."""
    sizes: list[int] = []
    encode = Encoder.encode

    def noting(self: Encoder, texts: list[str]) -> list[npt.NDArray[np.int64] | None]:
        sizes.extend(map(len, texts))
        return encode(self, texts)

    monkeypatch.setattr(module, "WINDOW", 64)
    monkeypatch.setattr(Encoder, "encode", noting)
    return sizes


@pytest.mark.parametrize("length", [1, 4, 50, 300])
def test_a_row_is_found_wherever_it_stands_in_a_text_that_is_read_in_windows(length: int, small_windows: list[int]):
    for start in (*DICE.integers(0, len(LONG) - length, 25).tolist(), 0, len(LONG) - length):
        found = compared(LONG[start : start + length], spelled(LONG))
        assert (found["state"], found["equal"], found["other"]) == (JUDGED, length, 0)
    assert max(small_windows) <= 6 * (8 * length + 64)


def test_one_different_id_is_one_in_a_window_too(small_windows: list[int]):
    row = LONG[2000:2100]
    found = compared([*row[:50], 3, *row[51:]], spelled(LONG))
    assert (found["state"], found["equal"], found["other"], found["position"]) == (JUDGED, 99, 1, 50)
    assert max(small_windows) < len(spelled(LONG))


def test_ids_of_another_text_are_in_no_window(small_windows: list[int]):
    found = compared([3] * 100, spelled(LONG))
    assert (found["state"], found["equal"], found["other"]) == (JUDGED, 0, 100)
    assert len(small_windows) > 5


def test_a_word_that_is_refused_behind_the_row_does_not_matter(small_windows: list[int]):
    metric = TextIds(Attention("input_ids", 0), SPECIAL, words(unknown=None))
    for row, state in ((LONG[500:520], JUDGED), ([3] * 20, REFUSED)):
        text = pa.array([f"{spelled(LONG)} foreign"], pa.string())
        (found,) = numbers(metric, Batch({"input_ids": list_array([row]), "text": text}, 1))
        assert found["state"] == state
    assert small_windows


@pytest.mark.parametrize("unit", ["a", "数", "🐈", "one word ", "数据 ", "a\n"])
def test_every_stretch_that_is_short_enough_lies_inside_a_window(unit: str, small_windows: list[int]):
    most, text = 40, "".join(f"{unit}{number}" if " " in unit else unit for number in range(1000))
    windows = list(module._windows(pa.scalar(text, pa.large_string()), most))
    assert max(len(each.encode()) for each in windows) <= 6 * most
    width = len(unit[0].encode())
    for start in range(len(text) - 2 * most // width):
        assert any(text[start : start + 2 * most // width - 1] in each for each in windows)
    assert small_windows == []
