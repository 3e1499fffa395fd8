"""Tokens that n-grams cover which stood before, against the plainest loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.repetition import LEAST, STEP, Repetition, count_repeated
from dataguard.shards.batch import frozen
from dataguard.vocabulary.model import CharacterTable
from tests.builders import batch_of, numbers, table_of_characters
from tests.metrics.strategies import Given, attended, batches, ids, quick

WHITE_0_AND_1 = table_of_characters(b" ", b"\n", b"a", b"b ", b"", b"c")


def metric(
    ngram: int = 10, at_least: float = 0.0, special: tuple[int, ...] = (), ignored: CharacterTable | None = None
) -> Repetition:
    return Repetition(Attention("input_ids"), special, ignored, ngram, at_least)


def by_hand(runs: list[list[int]], ngram: int, at_least: float = 0.0) -> tuple[int, int]:
    """Return covered and counted tokens of a row's runs of tokens that nothing ends; 0 and 0 below at_least."""
    seen: set[tuple[int, ...]] = set()
    covered = 0
    for run in runs:
        own = [False] * len(run)
        for start in range(len(run) - ngram + 1):
            some = tuple(run[start : start + ngram])
            if some in seen:
                own[start : start + ngram] = [True] * ngram
            seen.add(some)
        covered += sum(own)
    counted = sum(map(len, runs))
    return (covered, counted) if covered >= at_least * counted else (0, 0)


def runs_of(row: list[int], seen: list[bool], special: tuple[int, ...], white: set[int]) -> list[list[int]]:
    runs: list[list[int]] = [[]]
    for token, see in zip(row, seen, strict=True):
        if not see or token in special:
            runs.append([])
        elif token not in white:
            runs[-1].append(token)
    return runs


def of_row(row: list[int], **arguments: Any) -> tuple[int, int]:
    (own,) = numbers(metric(**arguments), batch_of(input_ids=[row]))
    return own["covered"], own["counted"]


@quick
@given(
    batches(companion="attention_mask", values=lambda kind: ids(kind, 3), most=40),
    st.integers(1, 6),
    st.sampled_from([(), (0,), (2, 3)]),
    st.booleans(),
    st.sampled_from([0.0, 0.3, 0.6, 1.0]),
)
def test_agrees_with_the_plain_loop(
    rows: Given, ngram: int, special: tuple[int, ...], ignore_white: bool, at_least: float
):
    measured = numbers(metric(ngram, at_least, special, WHITE_0_AND_1 if ignore_white else None), rows.batch)
    for row, seen, own in zip(rows.rows, attended(rows, None), measured, strict=True):
        if seen is not None:
            runs = runs_of(row or [], seen, special, {0, 1} if ignore_white else set())
            assert (own["covered"], own["counted"]) == by_hand(runs, ngram, at_least)


@st.composite
def phrases(draw: st.DrawFn) -> list[int]:
    """Return a row of some hundred tokens, made of phrases that come again, and of new tokens."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    known = [random.integers(0, 50_000, size).tolist() for size in random.integers(4, 30, draw(st.integers(1, 12)))]
    row: list[int] = []
    while len(row) < draw(st.sampled_from([40, 300, 700, 2048])):
        again = random.random() < draw(st.sampled_from([0.0, 0.3, 0.6, 0.8, 0.95]))
        row += known[random.integers(len(known))] if again else random.integers(0, 50_000, 7).tolist()
    return row


@quick
@given(
    st.lists(phrases(), max_size=4), st.sampled_from([1, 2, 3, 5, 10, 16, 40]), st.sampled_from([0.0, 0.5, 0.6, 0.7])
)
def test_rows_of_phrases_agree_with_the_plain_loop(rows: list[list[int]], ngram: int, at_least: float):
    measured = numbers(metric(ngram, at_least), batch_of(input_ids=rows))
    assert [(own["covered"], own["counted"]) for own in measured] == [by_hand([row], ngram, at_least) for row in rows]


@quick
@given(phrases(), st.sampled_from([1, 4, 10]), st.sampled_from([0.0, 0.6]))
def test_a_row_that_its_table_cannot_hold_is_looked_through_several_times(row: list[int], ngram: int, at_least: float):
    column, kept = batch_of(input_ids=[row]).column("input_ids"), np.zeros((2, 1), np.int64)
    none, first = frozen(np.zeros(1, np.uint8)), frozen(np.zeros(1, np.int64))
    every, all_of_it = frozen(np.ones(1, np.uint8)), frozen(np.ones(len(row), np.uint8))
    count_repeated(column.values, column.offsets, all_of_it, every, none, ngram, at_least, 1024, first, kept)
    assert tuple(kept[:, 0]) == by_hand([row], ngram, at_least)


def test_many_rows_one_after_the_other():
    """More rows than a byte has values, so that the table of those before is cleared in between."""
    new = np.arange(100_000).reshape(-1, 100).tolist()
    rows = [row if place % 3 else row[:20] * 5 for place, row in enumerate(new)]
    measured = numbers(metric(at_least=LEAST), batch_of(input_ids=rows))
    assert [own["covered"] for own in measured] == [0 if place % 3 else 80 for place in range(len(rows))]


def test_a_long_row_beside_many_short_ones():
    long = np.arange(200_000).tolist()
    rows = [*[[5, 6] * 20] * 300, long, *[[5, 6] * 20] * 300, long[:3000] * 30]
    measured = numbers(metric(at_least=LEAST), batch_of(input_ids=rows))
    assert [own["covered"] for own in measured] == [*[38] * 300, 0, *[38] * 300, 87_000]


@pytest.mark.parametrize(
    ("row", "covered", "counted"),
    [
        ([], 0, 0),
        ([1, 2, 3], 0, 3),
        (list(range(100)), 0, 100),
        ([7] * 100, 99, 100),
        (list(range(10)) * 2, 10, 20),
        ([*range(10), 99, *range(10)], 10, 21),
        ([*range(9), 99, *range(9)], 0, 19),
        ([*range(12), 99, *range(12), 98, *range(2, 12)], 22, 36),
    ],
)
def test_covered_and_counted(row: list[int], covered: int, counted: int):
    assert of_row(row) == (covered, counted)


def test_every_token_of_an_ngram_is_covered_once():
    assert of_row([*range(15), *range(100, 110), *range(5, 15), *range(10)]) == (20, 45)


def test_special_tokens_end_an_ngram_and_do_not_count():
    ten = list(range(10, 20))
    assert of_row([*ten, 0, *ten], special=(0,)) == (10, 20)
    assert of_row([*ten, *ten[:5], 0, *ten[5:]], special=(0,)) == (0, 20)
    assert of_row([*ten[:5], 0, *ten[5:], *ten], special=(0,)) == (0, 20)


def test_unattended_tokens_end_an_ngram_and_do_not_count():
    ten = list(range(10, 20))
    batch = batch_of(
        input_ids=[[*ten, *ten, 7], [*ten, *ten]], attention_mask=[[1] * 20 + [0], [1] * 15 + [0] + [1] * 4]
    )
    assert numbers(metric(), batch) == [{"covered": 10, "counted": 20}, {"covered": 0, "counted": 19}]


def test_white_space_is_left_out_of_ngrams_and_of_the_share():
    row = [2, 3, 0, 2, 3, 0, 1, 5, 2, 3, 0]
    assert of_row(row, ngram=2, ignored=WHITE_0_AND_1) == (4, 7)
    assert of_row(row, ngram=2) == (6, 11)
    assert of_row([0] * 100, ignored=WHITE_0_AND_1) == (0, 0)


def test_a_share_below_at_least_is_not_told_and_one_at_it_is():
    row = list(range(10)) * 2
    assert of_row(row, at_least=0.5) == (10, 20)
    assert of_row(row, at_least=0.51) == (0, 0)
    assert of_row(list(range(100)), at_least=0.51) == (0, 0)


@pytest.mark.parametrize("far", [2**32, -(2**32), 2**63 - 1, -(2**63)])
def test_ids_that_differ_in_their_high_half_alone_are_others(far: int):
    row = [*range(1, 11), *(each + far if abs(far) == 2**32 else far for each in range(1, 11))]
    assert of_row64(row) == (0, 20)
    assert of_row64(row * 2) == (20, 40)


def of_row64(row: list[int]) -> tuple[int, int]:
    (own,) = numbers(metric(), batch_of(input_ids=[row], kind=pa.int64()))
    return own["covered"], own["counted"]


@pytest.mark.parametrize("size", [STEP - 1, STEP, STEP + 1, 2 * STEP + 5, 2047, 2048, 8192])
@pytest.mark.parametrize("again", [0.5, 0.6, 0.7, 0.9])
def test_rows_around_the_limit_of_what_is_told(size: int, again: float):
    """The first part is new, the rest says it again: shares close to at_least, at lengths around a step."""
    new = round(size * (1 - again))
    row = [*range(new), *(place % new for place in range(size - new))]
    for at_least in (again - 0.02, again, again + 0.02):
        assert of_row(row, at_least=at_least) == by_hand([row], 10, at_least)
