"""The most repeated pattern of a row, against every period and start, and against OLMo-core's own definition."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.periods import Periods
from dataguard.shards.batch import Batch
from dataguard.vocabulary.model import CharacterTable
from tests.builders import batch_of, numbers, table_of_characters
from tests.metrics.strategies import Given, attended, batches, ids, quick

WHITE_0_AND_1 = table_of_characters(b" ", b"\n", b"a", b"b ", b"", b"c")


def metric(
    special: tuple[int, ...] = (),
    ignored: CharacterTable | None = None,
    max_period: int = 13,
    at_least: int = 2,
    *,
    spare_ends: bool = False,
) -> Periods:
    return Periods(Attention("input_ids"), special, ignored, max_period, at_least, spare_ends)


def run_at_an_end(tokens: list[int | None], start: int, stop: int) -> bool:
    """Whether this stretch of one id fills an end of the row, but not all of its content."""
    if len(set(tokens[start:stop])) > 1 or (start > 0 and stop < len(tokens)):
        return False
    return any(each is not None for each in (*tokens[:start], *tokens[stop:]))


def by_hand(tokens: list[int | None], white: set[int], max_period: int, *, spare: bool = False) -> tuple[int, int, int]:
    """Return repeats, period and position; None is a token that repeats nothing."""
    best = (0, 0, -1)
    if spare:  # what may be padding repeats nothing
        for start, stop in ends_of(tokens):
            if run_at_an_end(tokens, start, stop):
                tokens = [None if start <= place < stop else token for place, token in enumerate(tokens)]
    for period in range(1, max_period + 1):
        for start in range(len(tokens) - 2 * period + 1):
            pattern = tokens[start : start + period]
            times = 1
            while tokens[start + times * period : start + (times + 1) * period] == pattern and None not in pattern:
                times += 1
            if times > max(1, best[0]) and not set(pattern) <= white:
                best = (times, period, start)
    return best


@quick
@given(
    batches(companion="attention_mask", values=lambda kind: ids(kind, 4), most=24),
    st.integers(1, 6),
    st.sampled_from([(), (0,), (2, 3)]),
    st.booleans(),
    st.integers(2, 5),
)
def test_agrees_with_every_period_and_start(
    rows: Given, max_period: int, special: tuple[int, ...], ignore_white: bool, at_least: int
):
    measured = numbers(metric(special, WHITE_0_AND_1 if ignore_white else None, max_period, at_least), rows.batch)
    for row, seen, own in zip(rows.rows, attended(rows, None), measured, strict=True):
        if seen is not None:
            tokens = [
                token if see and token not in special else None for token, see in zip(row or [], seen, strict=True)
            ]
            expected = by_hand(tokens, {0, 1} if ignore_white else set(), max_period)
            if expected[0] < at_least:
                expected = (0, 0, -1)
            assert (own["repeats"], own["period"], own["position"]) == expected


def ends_of(tokens: list[int | None]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of one id at both ends of a row, as (start, stop)."""
    if tokens:
        head = next((place for place, token in enumerate(tokens) if token != tokens[0]), len(tokens))
        tail = next((place for place, token in enumerate(tokens[::-1]) if token != tokens[-1]), len(tokens))
        yield from ((0, head), (len(tokens) - tail, len(tokens)))


@quick
@given(batches(values=lambda kind: ids(kind, 3), most=24), st.integers(1, 6), st.sampled_from([(), (0,), (2, 3)]))
def test_spares_runs_of_one_id_at_the_ends_and_nothing_behind_them(
    rows: Given, max_period: int, special: tuple[int, ...]
):
    measured = numbers(metric(special, None, max_period, 4, spare_ends=True), rows.batch)
    for row, own in zip(rows.rows, measured, strict=True):
        tokens = [None if token in special else token for token in row or []]
        expected = by_hand(tokens, set(), max_period, spare=True)
        expected = expected if expected[0] >= 4 else (0, 0, -1)
        assert (own["repeats"], own["period"], own["position"]) == expected
        spared = [
            stop - start
            for start, stop in ends_of(tokens)
            if tokens[start] is not None and run_at_an_end(tokens, start, stop)
        ]
        longest = max(spared, default=0)
        assert own["padding"] == (longest if longest >= 4 else 0)


def test_spares_nothing_under_a_mask():
    batch = batch_of(input_ids=[[5, 6, *[9] * 20]], attention_mask=[[1] * 22])
    assert [(each["repeats"], each["padding"]) for each in numbers(metric(spare_ends=True), batch)] == [(20, 0)]


def olmo_core(row: npt.NDArray[np.int64], max_period: int) -> Iterator[int]:
    """Yield how often each periodic sequence repeats, as `find_periodic_sequences` of OLMo-core defines it."""
    for period in range(1, min(max_period, len(row) // 3) + 1):
        padded = np.pad(row, (0, period - len(row) % period), constant_values=-1)
        lines = padded.reshape(-1, period)
        same = (lines == np.roll(lines, 1, axis=0)).all(axis=1)
        places = np.flatnonzero(same)
        for group in np.split(places, np.flatnonzero(np.diff(places) != 1) + 1):
            if not group.size:
                continue
            start, end = (group[0] - 1) * period, (group[-1] + 1) * period
            while start > 0 and row[start - 1] == row[start - 1 + period]:
                start -= 1
            while end < len(row) and row[end] == row[end - period]:
                end += 1
            if (times := (end - start) // period) > 2:
                yield times


def olmo_core_of_many(rows: npt.NDArray[np.int64], max_period: int) -> npt.NDArray[np.int64]:
    """Return for each row what `olmo_core` yields at most, 0 where it yields nothing. rows, shape (R, length)."""
    most, length = np.zeros(len(rows), np.int64), rows.shape[1]
    for period in range(1, min(max_period, length // 3) + 1):
        padded = np.pad(rows, ((0, 0), (0, period - length % period)), constant_values=-1)
        lines = padded.reshape(len(rows), -1, period)
        same = np.zeros((len(rows), lines.shape[1] + 1), np.int8)
        same[:, 1:-1] = (lines[:, 1:] == lines[:, :-1]).all(axis=2)
        row, first = np.nonzero(np.diff(same, prepend=0) == 1)
        _, behind = np.nonzero(np.diff(same) == -1)
        start, end = (first - 1) * period, (behind + 1) * period
        for _ in range(period - 1):
            start -= (start > 0) & (rows[row, start - 1] == rows[row, start - 1 + period])
            end += (end < length) & (rows[row, np.minimum(end, length - 1)] == rows[row, end - period])
        times = (end - start) // period
        np.maximum.at(most, row, np.where(times > 2, times, 0))
    return most


ROWS_AT_ONCE = 10_000


def many_planted(length: int) -> npt.NDArray[np.int64]:
    """Return rows of one length, most with a pattern of 1 to 15 tokens that stands 20 to 45 times, ragged at both ends.

    A row draws its other tokens from two ids, so that short repetitions are everywhere, or from up to 50,000.
    """
    random = np.random.default_rng(length)
    rows = random.integers(0, random.choice([2, 3, 5, 50, 50_000], (ROWS_AT_ONCE, 1)), (ROWS_AT_ONCE, length))
    for row in rows[: ROWS_AT_ONCE * 4 // 5]:
        pattern = random.integers(0, random.choice([2, 5, 50_000]), random.integers(1, 16))
        size = min(length, int(random.integers(20 * len(pattern), 45 * len(pattern) + 1)))
        start = random.integers(0, length - size + 1)
        row[start : start + size] = np.resize(np.roll(pattern, random.integers(len(pattern))), size)
    return rows


@pytest.mark.parametrize("length", [1, 2, 31, 33, 64, 150, 320, 416, 500, 700])
def test_the_verdict_at_32_is_that_of_olmo_core_on_100_000_rows(length: int):
    rows = many_planted(length)
    offsets = np.arange(0, rows.size + 1, length, np.int32)
    batch = Batch({"input_ids": pa.ListArray.from_arrays(offsets, rows.astype(np.int32).ravel())}, len(rows))
    ours, theirs = metric().compute(batch)["repeats"], olmo_core_of_many(rows, 13)
    assert np.array_equal(ours >= 32, theirs >= 32)
    assert np.array_equal(np.where(ours > 2, ours, 0), theirs)
    assert length < 33 or 0.05 < (theirs >= 32).mean() < 0.95
    for row, most in zip(rows[::499], theirs[::499], strict=True):
        assert max(olmo_core(row, 13), default=0) == most


@st.composite
def planted(draw: st.DrawFn) -> list[int]:
    """Return a row with a pattern of 1 to 15 tokens that stands 20 to 45 times, ragged at both ends."""
    pattern = draw(st.lists(st.integers(0, 5), min_size=1, max_size=15))
    length = draw(st.integers(20 * len(pattern), 45 * len(pattern)))
    background = st.lists(st.integers(0, 30), max_size=20)
    return [*draw(background), *(pattern * 45)[:length], *draw(background)]


@quick
@given(planted())
def test_the_verdict_at_32_is_that_of_olmo_core(row: list[int]):
    (own,) = numbers(metric(), batch_of(input_ids=[row]))
    theirs = max(olmo_core(np.array(row, np.int64), 13), default=0)
    assert (own["repeats"] >= 32) == (theirs >= 32)
    assert own["repeats"] == theirs or max(own["repeats"], theirs) <= 2


@pytest.mark.parametrize(
    ("row", "repeats", "period", "position"),
    [
        ([], 0, 0, -1),
        ([1], 0, 0, -1),
        ([1, 2, 3], 0, 0, -1),
        ([9, 1, 2, 1, 2, 1, 2, 8], 3, 2, 1),
        ([1, 2, 1, 2, 1], 2, 2, 0),
        ([5, 5, 5, 5], 4, 1, 0),
        ([1, 1, 7, 2, 2, 2], 3, 1, 3),
    ],
)
def test_tells_repeats_period_and_position(row: list[int], repeats: int, period: int, position: int):
    assert numbers(metric(), batch_of(input_ids=[row])) == [
        {"repeats": repeats, "period": period, "position": position, "padding": 0}
    ]


def test_a_special_token_breaks_a_run():
    row = [5, 5, 5, 0, 5, 5]
    assert [each["repeats"] for each in numbers(metric(special=(0,)), batch_of(input_ids=[row, [0] * 9]))] == [3, 0]


def test_an_unattended_token_breaks_a_run():
    batch = batch_of(input_ids=[[5, 5, 5, 5]], attention_mask=[[1, 0, 1, 1]])
    assert [each["repeats"] for each in numbers(metric(), batch)] == [2]


def test_white_space_counts_only_with_something_visible():
    rows = [[0] * 9, [0, 2] * 4, [0] * 9 + [2, 2]]
    assert [each["repeats"] for each in numbers(metric(ignored=WHITE_0_AND_1), batch_of(input_ids=rows))] == [0, 4, 2]


def test_the_longest_row_of_a_slice_has_room():
    batch = batch_of(input_ids=[[5] * 200, [6], None], skip=3)
    assert [each["repeats"] for each in numbers(metric(), batch)] == [200, 0, 0]
