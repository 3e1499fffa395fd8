"""expect_source_token_share_to_be_between."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.errors import SuiteError
from dataguard.suite.loading import load_suite
from tests.builders import judged, reasons, table_of
from tests.examples import examples

SHARE = "expect_source_token_share_to_be_between"


def rows(**tokens: list[int]) -> dict[str, Any]:
    """Return rows by source, each of so many tokens."""
    pairs = [(source, length) for source, lengths in tokens.items() for length in lengths]
    return {"input_ids": [[5] * length for _, length in pairs], "source": [source for source, _ in pairs]}


def named(result: Any) -> dict[str, tuple[str, float]]:
    assert all(each.shard is None and each.row is None for each in result.findings)
    return {each.source: (each.reason, each.value) for each in result.findings}


def test_shares_are_of_tokens_and_not_of_rows():
    data = rows(web=[6], code=[1, 1, 1, 1])
    assert judged(SHARE, data, shares={"web": [0.6, 0.6], "code": [0.4, 0.4]}).success
    result = judged(SHARE, data, shares={"web": [0.1, 0.2], "code": [0.5, 0.8]})
    assert named(result) == {"web": ("share_above", 0.6), "code": ("share_below", 0.4)}
    assert reasons(result) == {"share_above": 1, "share_below": 1}
    assert (result.element_count, result.unexpected_count, result.missing_count) == (2, 2, 0)
    assert result.severity == "warning"


def test_the_bounds_themselves_hold_as_they_are_written():
    data = rows(web=[1], code=[9])
    assert judged(SHARE, data, shares={"web": [0.1, 0.1], "code": [0.9, 0.9]}).success


def test_a_named_source_without_a_token_has_a_share_of_0():
    data = rows(web=[3], empty=[0])
    assert judged(SHARE, data, shares={"books": [0, 0.1], "empty": [0, 0]}).success
    assert named(judged(SHARE, data, shares={"books": [0.1, 1]})) == {"books": ("share_below", 0.0)}


def test_a_source_that_is_not_named_is_free():
    result = judged(SHARE, rows(web=[5], code=[5], chat=[90]), shares={"web": [0.05, 0.05]})
    assert result.success
    assert (result.element_count, result.missing_count) == (3, 2)


def test_tokens_without_a_source_are_tokens_of_the_whole():
    data = {"input_ids": [[5] * 4, [5] * 6], "source": ["web", None]}
    result = judged(SHARE, data, shares={"web": [0.4, 0.4]})
    assert result.success
    assert result.observed_value == [
        {"source": None, "rows": 1, "tokens": 6, "share": 0.6},
        {"source": "web", "rows": 1, "tokens": 4, "share": 0.4},
    ]


def test_padding_is_no_token():
    data = {
        "input_ids": [[5] * 8, [5] * 2],
        "attention_mask": [[1, 1, *[0] * 6], [1, 1]],
        "source": ["web", "code"],
    }
    assert judged(SHARE, data, shares={"web": [0.5, 0.5]}).success


def test_special_tokens_are_tokens_and_null_rows_are_none():
    data = {"input_ids": [[1, 2], None, [5, 5]], "source": ["web", "web", "code"]}
    assert judged(SHARE, data, shares={"web": [0.5, 0.5]}, vocabulary={"size": 9, "bos": 1, "eos": 2}).success


def test_without_a_source_it_cannot_be_judged():
    result = judged(SHARE, {"input_ids": [[5]]}, shares={"web": [0, 1]})
    assert not result.success
    assert result.unjudged is not None
    assert "no source" in result.unjudged.missing


def test_without_a_token_it_cannot_be_judged():
    result = judged(SHARE, {"input_ids": [[], None], "source": ["web", "web"]}, shares={"web": [0, 1]})
    assert result.unjudged is not None


def test_the_finding_tells_the_tokens_and_what_is_allowed():
    result = judged(SHARE, rows(web=[3], code=[1]), shares={"web": [0.1, 0.5]})
    assert result.findings[0].detail == "3 of 4 tokens, 0.1 to 0.5 allowed"


def test_folders_are_sources(tmp_path: Path):
    for source, length in (("web", 3), ("code", 1)):
        (tmp_path / source).mkdir()
        pq.write_table(table_of(input_ids=[[5] * length]), tmp_path / source / "a.parquet")
        pq.write_table(table_of(input_ids=[[5] * length]), tmp_path / source / "b.parquet")
    assert judged(SHARE, tmp_path, shares={"web": [0.75, 0.75]}).success


@pytest.mark.parametrize(
    "shares",
    [{}, None, {"web": [0.7, 0.5]}, {"web": [0.5]}, {"web": [0.5, 1.5]}, {"web": [-0.1, 1]}, {"web": 0.5}, ["web"]],
)
def test_shares_that_cannot_be_are_refused(shares: Any):
    with pytest.raises(SuiteError, match="shares"):
        load_suite({"expectations": [{"type": SHARE, "kwargs": {"shares": shares}}]})


def by_hand(data: dict[str, Any], shares: dict[str, list[float]]) -> dict[str, str]:
    tokens: dict[str | None, int] = {}
    for ids, mask, source in zip(data["input_ids"], data["attention_mask"], data["source"], strict=True):
        if ids is not None and mask is not None and len(ids) == len(mask):
            tokens[source] = tokens.get(source, 0) + sum(mask)
    whole = sum(tokens.values())
    found = {}
    for source, (low, high) in shares.items():
        share = Fraction(tokens.get(source, 0), whole)
        if share < Fraction(str(low)):
            found[source] = "share_below"
        elif share > Fraction(str(high)):
            found[source] = "share_above"
    return found


SHARES = st.lists(st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0]), min_size=2, max_size=2).map(sorted)


@examples(40)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.lists(st.integers(0, 1), max_size=5), st.lists(st.just(1), max_size=5)),
            st.sampled_from(["web", "code", None]),
        ),
        min_size=1,
        max_size=8,
    ),
    st.dictionaries(st.sampled_from(["web", "code", "books"]), SHARES, min_size=1),
)
def test_agrees_with_the_plain_judge(pairs: list[Any], shares: dict[str, list[float]]):
    masks = [mask for mask, _ in pairs]
    data = {
        "input_ids": [None if mask is None else [7] * len(mask) for mask in masks],
        "attention_mask": masks,
        "source": [source for _, source in pairs],
    }
    result = judged(SHARE, data, shares=json.loads(json.dumps(shares)))
    if not any(mask is not None and sum(mask) and source for mask, source in pairs):
        assert result.unjudged is not None
        return
    assert {source: reason for source, (reason, _) in named(result).items()} == by_hand(data, shares)
