"""A row's ids against the ids that its text has under the tokenizer.

Where a row is its text, or a piece of it, its ids stand in the text's as they are, and nothing is aligned. Else the two are
walked side by side. Where they part, the walk goes on at the nearest place where GRAM ids in a row agree again: what the
row has before it, or what the text has before it where that is more, are other ids. So one different id is one, a passage that
is missing in the middle is as long as it is, and under another tokenizer nothing goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from dataguard.metrics.base import Numbers, OfAttended, kernel
from dataguard.metrics.tables import flags
from dataguard.shards.batch import Batch, frozen
from dataguard.shards.roles import companion, is_number_list, is_text
from dataguard.vocabulary.encoder import AT_ONCE, Encoder, Ids, cut_before

GRAM = 4
"""Ids in a row that must agree for a walk to go on."""
REACH = 32
"""Ids of the row among which a place to go on is looked for."""
MOST_PLACES, MOST_AGREEING = 1024, 4096
"""Places of a text at which the beginning of a row is tried that is not its own, and ids that are compared at each."""
MOST_BETWEEN = 64
"""Finds between two ids after which a row is walked: each costs as much as a search, and real rows have none."""
JUDGED, NO_TEXT, REFUSED = 0, 1, 2
WINDOW = 1 << 23
"""Bytes of a text that are compared with a row at once: its ids, their hashes and places take some 20 bytes each byte."""
_HEAD, _MARGIN = 8, 64
"""Characters of a text that are encoded at first for each id of its row, and in any case: a cut row needs no more."""


@dataclass(frozen=True)
class TextIds(OfAttended):
    """Attended, non-special ids of a row, and how they agree with those of its text.

    `state` is 0 where they were compared, 1 where the row has no text, and 2 where the tokenizer refuses it. `equal` counts the
    ids that agree, `other` those that do not: of the row, or of the text inside what the row has of it. What a text has before
    and behind the row is no difference. `position` and `value` are those of the first other id of the row (-1, 0: none).
    """

    gives: ClassVar[Mapping[str, Any]] = {
        "state": pl.Int32,
        "equal": pl.Int32,
        "other": pl.Int32,
        "position": pl.Int32,
        "value": pl.Int64,
    }
    special: tuple[int, ...]
    encoder: Encoder

    @property
    def text(self) -> str:
        """The role of the text that goes with the column."""
        return companion(self.attention.column, "text")

    def reads(self) -> tuple[str, ...]:
        return (self.attention.column, self.text)

    def accepts(self, role: str, kind: pa.DataType) -> bool:
        return is_text(kind) if role == self.text else is_number_list(kind)

    def compute(self, batch: Batch) -> Numbers:
        column, texts = batch.column(self.attention.column), batch.texts(self.text)
        attended, _ = self.attention.of(batch)
        counted = (attended != 0) & ~self._are_special(column.values)
        numbers = np.zeros((len(self.gives), batch.rows), np.int64)
        numbers[0], numbers[3] = NO_TEXT, -1

        def places_of(row: int) -> npt.NDArray[np.int64]:
            start, stop = column.offsets[row : row + 2]
            return np.flatnonzero(counted[start:stop]) + int(start)

        def compare(rows: Iterable[tuple[int, str]]) -> None:
            for group in _groups(rows):
                encoded = self.encoder.encode([text for _, text in group])
                for (row, _), ids in zip(group, encoded, strict=True):
                    numbers[:, row] = self._compared(column.values, places_of(row), ids, column.offsets[row])

        def compare_windows(row: int) -> None:
            verdicts = []
            for window in _windows(texts[row], _most(places_of(row))):
                compare([(row, window)])
                verdicts.append(numbers[:, row].copy())
                if verdicts[-1][0] == JUDGED and not verdicts[-1][2]:
                    break
            numbers[:, row] = min(verdicts, key=_worse)

        cut: list[int] = []
        compare(_heads(texts, places_of, cut))
        open_rows = [row for row in cut if numbers[0, row] == REFUSED or numbers[2, row]]
        large = [row for row in open_rows if texts[row].as_buffer().size > WINDOW]
        compare((row, texts[row].as_py()) for row in open_rows if row not in large)
        for row in large:
            compare_windows(row)
        return dict(zip(self.gives, numbers, strict=True))

    def _are_special(self, ids: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        table = flags(self.special)
        if not table.size:
            return np.zeros(ids.size, np.bool_)
        known = (ids >= 0) & (ids < table.size)
        special: npt.NDArray[np.bool_] = known & (table[np.where(known, ids, 0)] != 0)
        return special

    def _compared(
        self, values: npt.NDArray[Any], places: npt.NDArray[np.int64], ids: Ids | None, start: int
    ) -> tuple[int, int, int, int, int]:
        """Return the numbers of a row.

        Args:
            places: Of the row's ids that count, among `values`.
            ids: Of its text.
            start: Place of the row's first id.
        """
        if ids is None:
            return REFUSED, 0, 0, -1, 0
        equal, other, first = aligned(values[places].astype(np.int64), ids[~self._are_special(ids)])
        if first < 0:
            return JUDGED, equal, other, -1, 0
        return JUDGED, equal, other, int(places[first] - start), int(values[places[first]])


def _heads(
    texts: pa.Array, places_of: Callable[[int], npt.NDArray[np.int64]], cut: list[int]
) -> Iterator[tuple[int, str]]:
    """Yield each row that has a text, with as much of its beginning as the row may be; `cut` takes in those with more."""
    for row in np.flatnonzero(texts.is_valid().to_numpy(zero_copy_only=False)).tolist():
        most = _most(places_of(row))
        text = _beginning(texts[row], 2 * most + 1)
        if len(text) > 2 * most:
            text = text[: cut_before(text, 0, most)]
            cut.append(row)
        yield row, text


def _most(places: npt.NDArray[np.int64]) -> int:
    """Return how many characters the ids at these places have at most, but for rare rows."""
    return _HEAD * places.size + _MARGIN


def _beginning(text: pa.Scalar, characters: int) -> str:
    """Return so many characters of a text, or some more; all of it where it has fewer."""
    return bytes(memoryview(text.as_buffer())[: 4 * characters]).decode(errors="ignore")


def _windows(text: pa.Scalar, most: int) -> Iterator[str]:
    """Yield a long text piece by piece, cut at white space where there is any.

    Each stretch of at most twice `most` bytes lies inside one of them.
    """
    data, size = memoryview(text.as_buffer()), max(WINDOW, 6 * most)
    for start in range(0, max(1, len(data) - 3 * most), size - 3 * most):
        window = bytes(data[start : start + size]).decode(errors="ignore")
        begin = re.search(r"\s", window[: most // 2]) if start else None
        stop = cut_before(window, len(window) - most // 2, len(window) - 1) if start + size < len(data) else len(window)
        yield window[begin.start() if begin else 0 : stop]


def _worse(verdict: npt.NDArray[np.int64]) -> tuple[bool, float]:
    """Return what is larger the less a verdict says of a row: one that matches comes before a refusal, that before others."""
    state, equal, other = verdict[:3].tolist()
    matches = state == JUDGED and not other
    return not matches and state == JUDGED, other / max(1, equal + other)


def _groups(rows: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Yield rows with their texts, some of them together: as much as is encoded at once."""
    group: list[tuple[int, str]] = []
    size = 0
    for row, text in rows:
        group.append((row, text))
        size += len(text)
        if size >= AT_ONCE:
            yield group
            group, size = [], 0
    if group:
        yield group


def aligned(own: Ids, text: Ids) -> tuple[int, int, int]:
    """Return how many ids are equal and other, and the place of the first other one in `own` (-1: none).

    Args:
        own: Ids of the row. Shape (n,).
        text: Ids of the text. Shape (m,).
    """
    if is_inside(own, text):
        return own.size, 0, -1
    grams = hashed(text)
    places = np.argsort(grams, kind="stable")
    equal, other, first = walk(frozen(own), frozen(text), hashed(own), grams[places], places)
    return int(equal), int(other), int(first)


def is_inside(own: Ids, text: Ids) -> bool:
    """Whether the row's ids stand in the text's as they are: all of it, its beginning, its end, or a piece."""
    if np.array_equal(own, text[: own.size]):
        return True
    sought, there, width = own.tobytes(), text.tobytes(), own.itemsize
    place = there.find(sought)
    for _ in range(MOST_BETWEEN):
        if place < 0 or place % width == 0:
            break
        place = there.find(sought, place + 1)
    return place >= 0 and place % width == 0


def hashed(ids: Ids) -> npt.NDArray[np.uint64]:
    """Return a hash of every GRAM ids in a row. Shape (max(0, n - GRAM + 1),)."""
    grams = np.zeros(max(0, ids.size - GRAM + 1), np.uint64)
    hash_grams(frozen(ids), grams)
    return grams


@kernel
def hash_grams(ids, grams):  # type: ignore[no-untyped-def]
    """Write the hashes of `hashed`."""
    for place in range(grams.size):
        state = np.uint64(0)
        for more in range(GRAM):
            state = (state + np.uint64(ids[place + more])) * np.uint64(0x9E3779B97F4A7C15)
            state ^= state >> np.uint64(29)
        grams[place] = state


@kernel
def first_at(gram, least, grams, places):  # type: ignore[no-untyped-def]
    """Return where, in the sorted list of a text's grams, a gram stands that begins at place `least` or later; else -1."""
    low, high = 0, grams.size
    while low < high:
        middle = (low + high) // 2
        if grams[middle] < gram or (grams[middle] == gram and places[middle] < least):
            low = middle + 1
        else:
            high = middle
    return low if low < grams.size and grams[low] == gram else -1


@kernel
def run_of(own, text, place, there):  # type: ignore[no-untyped-def]
    """Return how many ids are equal from these places on."""
    length = 0
    while place + length < own.size and there + length < text.size and own[place + length] == text[there + length]:
        length += 1
    return length


@kernel
def best_begin(own, text, place, gram, grams, places):  # type: ignore[no-untyped-def]
    """Return the place of a text from which most ids agree with the row's from `place` on; -1 where a gram is not in it."""
    best, longest = -1, GRAM - 1
    entry = first_at(gram, 0, grams, places)
    for each in range(entry, min(entry + MOST_PLACES, grams.size)):
        if entry < 0 or grams[each] != gram:
            break
        length = run_of(own[: place + MOST_AGREEING], text, place, places[each])
        if length > longest:
            best, longest = places[each], length
    return best


@kernel
def agreeing(own, text, place, there, count):  # type: ignore[no-untyped-def]
    """Return how many of `count` ids agree one by one from these places on; outside a text nothing does."""
    equal = 0
    for more in range(count):
        equal += 0 <= there + more < text.size and own[place + more] == text[there + more]
    return equal


@kernel
def most_agreeing(own, text, place, least, most):  # type: ignore[no-untyped-def]
    """Return how many ids of the row from `place` on agree one by one, where most do among [least, most) of the text."""
    equal = 0
    for there in range(least, most):
        equal = max(equal, agreeing(own, text, place, there, own.size - place))
    return equal


@kernel
def way_on(own, text, place, there, is_begun, own_grams, grams, places):  # type: ignore[no-untyped-def]
    """Return the nearest place to go on: ids of the row to skip, and the place of the text; -1 and -1 where there is none.

    The nearest is where fewest ids are skipped, of the row or of the text; of the text none counts before the row has begun.
    """
    least, skip, found = own.size - place + 1, -1, -1
    for more in range(min(REACH, own_grams.size - place)):
        if more >= least:
            break
        if is_begun:
            entry = first_at(own_grams[place + more], there, grams, places)
            begin = places[entry] if entry >= 0 else -1
            if begin >= 0 and agreeing(own, text, place + more, begin, GRAM) < GRAM:
                begin = -1  # one hash of two grams: going on there would be no step
            price = max(more, begin - there)
        else:
            begin, price = best_begin(own, text, place + more, own_grams[place + more], grams, places), more
        if begin >= 0 and price < least:
            least, skip, found = price, more, begin
    return skip, found


@kernel
def walk(own, text, own_grams, grams, places):  # type: ignore[no-untyped-def]
    """Walk a row and its text side by side; returns equal, other, and the place of the first other id (-1: none).

    own_grams, shape (n - GRAM + 1,): hashes of the row's. grams, places, shape (m - GRAM + 1,): those of the text, sorted, and
    where each stands.
    """
    if own.size < GRAM:
        equal = most_agreeing(own, text, 0, 1 - own.size, text.size)
        return equal, own.size - equal, 0
    equal = run_of(own, text, 0, 0)
    is_begun = equal >= GRAM
    if not is_begun:
        equal = 0
    other, first, place, there = 0, -1, equal, equal
    while place < own.size:
        skip, found = way_on(own, text, place, there, is_begun, own_grams, grams, places)
        if skip >= 0:
            passed = max(skip, found - there) if is_begun else skip
            paired = min(skip, found - there) if is_begun else skip  # what the walk has passed is not met again
            agree = agreeing(own, text, place + skip - paired, found - paired, paired)
            if first < 0 and passed > agree:
                first = place
                while not is_begun and agreeing(own, text, first, found - skip + first, 1):
                    first += 1
            length = run_of(own, text, place + skip, found)
            equal, other = equal + agree + length, other + passed - agree
            place, there, is_begun = place + skip + length, found + length, True
            continue
        first = place if first < 0 else first
        rest = min(REACH, own.size - place)
        agree = most_agreeing(own, text, place, there, there + REACH) if is_begun and place + rest == own.size else 0
        equal, other, place = equal + agree, other + rest - agree, place + rest
    return equal, other, first
