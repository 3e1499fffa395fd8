"""What is known of each source: pile-up, ends, and who differs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.expectations.sources import Ends, Source, differing


def source(**known: Any) -> Source:
    nothing = dict.fromkeys(("cap", "bos_cut", "bos_uncut", "eos_cut", "eos_uncut"))
    return Source(
        **{"name": "web", "rows": 4, "tokens": 80, "pile_up": 0.5, "lengths": ((3, 2), (20, 2)), **nothing, **known}
    )


@pytest.mark.parametrize(
    ("opinions", "tokens", "agreed", "named"),
    [
        ({}, {}, None, []),
        ({"a": 1}, {"a": 5}, 1, []),
        ({"a": 1, "b": 1}, {"a": 5, "b": 5}, 1, []),
        ({"a": 1, "b": 2}, {"a": 5, "b": 4}, 1, ["b"]),
        ({"a": 1, "b": 2}, {"a": 5, "b": 5}, None, ["a", "b"]),
        ({"a": 1, "b": 2, "c": 2}, {"a": 5, "b": 3, "c": 3}, 2, ["a"]),
        ({"a": 1, "b": 2, "c": 3}, {"a": 5, "b": 5, "c": 1}, None, ["a", "b", "c"]),
        ({"a": True, "b": False}, {"a": 1, "b": 2}, False, ["a"]),
    ],
)
def test_most_tokens_agree_and_on_a_tie_all_are_named(
    opinions: dict[str, Any], tokens: dict[str, int], agreed: Any, named: list[str]
):
    assert differing(opinions, tokens) == (agreed, named)


@given(st.dictionaries(st.text(max_size=2), st.tuples(st.integers(1, 3), st.integers(1, 5)), max_size=6))
def test_the_named_and_the_others_never_agree(given_: dict[str, tuple[int, int]]):
    opinions, tokens = ({name: each[place] for name, each in given_.items()} for place in (0, 1))
    agreed, named = differing(opinions, tokens)
    if agreed is None:
        assert named == list(opinions)
    else:
        assert named == [name for name, opinion in opinions.items() if opinion != agreed]


@pytest.mark.parametrize(
    ("shares", "side", "keeps"),
    [
        ({"bos_cut": 0.0, "bos_uncut": 1.0, "eos_cut": 1.0, "eos_uncut": 1.0}, "left", None),
        ({"bos_cut": 1.0, "bos_uncut": 1.0, "eos_cut": 0.0, "eos_uncut": 1.0}, "right", False),
        ({"bos_cut": 1.0, "bos_uncut": 1.0, "eos_cut": 1.0, "eos_uncut": 1.0}, "right", True),
        ({"bos_cut": 0.0, "bos_uncut": 1.0, "eos_cut": 0.0, "eos_uncut": 1.0}, None, False),
        ({"bos_cut": 0.0, "bos_uncut": 0.0, "eos_cut": 1.0, "eos_uncut": 1.0}, None, True),
        ({"eos_cut": 0.0, "eos_uncut": 1.0}, "right", False),
        ({"eos_cut": 1.0, "eos_uncut": 1.0}, None, True),
        ({"bos_uncut": 1.0, "eos_uncut": 1.0}, None, None),
        ({"bos_cut": 0.0, "eos_cut": 1.0}, "left", None),
    ],
)
def test_the_end_that_cut_rows_lost(shares: dict[str, float], side: str | None, keeps: bool | None):
    ends, own = Ends(bos=True, eos=True), source(cap=20, **shares)
    assert ends.side(own) == side
    assert ends.keeps_eos(own) is keeps


def test_an_id_that_no_source_uses_shows_nothing():
    own = source(cap=20, bos_cut=0.1, bos_uncut=0.2, eos_cut=0.0, eos_uncut=0.4)
    ends = Ends.of([own])
    assert ends == Ends(bos=False, eos=False)
    assert (ends.side(own), ends.keeps_eos(own)) == (None, None)


def test_quantiles_are_lengths_that_occur():
    own = source(rows=100, lengths=((1, 4), (2, 1), (5, 45), (9, 44), (10, 6)))
    assert own.quantiles() == {"min": 1, "p5": 2, "p50": 5, "p95": 10, "max": 10}


def test_rows_over_a_cap():
    own = source(lengths=((3, 2), (20, 2), (21, 5)))
    assert (own.over(20), own.over(21), own.over(2)) == (5, 0, 9)
