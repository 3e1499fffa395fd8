"""What a report keeps of a data set's distributions, against the plainest counting."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dataguard
from dataguard.expectations.baseline import Distribution, parsed
from dataguard.metrics.token_use import EDGES
from dataguard.reports.json_report import report_json
from tests.builders import byte_tokenizer, ids_of, table_of
from tests.examples import examples

USE = {"type": "expect_distributions_to_match_baseline", "kwargs": {"baseline": "none", "metrics": ["token_use"]}}


def kept(data: Any, **options: Any) -> dict[str, Any]:
    """Return what the report of some rows keeps, by column."""
    suite = options.pop("suite", {"expectations": [{"type": "expect_rows_not_to_be_null"}]})
    rows = table_of(**data) if isinstance(data, dict) else data
    result = dataguard.validate(rows, suite=suite, jobs=1, store=None, **options)
    found: dict[str, Any] = json.loads(report_json(result))["meta"]["dataguard"]["distributions"]
    return found


def of_lengths(lengths: list[int]) -> dict[str, Any]:
    found: dict[str, Any] = kept({"input_ids": [[5] * length for length in lengths]})["input_ids"]["attended_tokens"]
    return found


def test_bins_hold_a_tenth_each_from_the_lowest_to_just_past_the_highest():
    found = of_lengths(list(range(1, 101)))
    assert found["edges"] == [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 101]
    assert found["counts"] == [0, 9, 10, 10, 10, 10, 10, 10, 10, 10, 11, 0]
    assert found["rows"] == found["samples"] == 100


def test_rows_of_one_length_have_a_bin_of_their_own():
    found = of_lengths([8] * 30)
    assert (found["edges"], found["counts"]) == ([8, 9], [0, 30, 0])


def test_a_cap_has_a_bin_of_its_own():
    found = of_lengths([16] * 60 + list(range(1, 16)) * 2)
    assert found["edges"][-2:] == [16, 17]
    assert found["counts"][-2:] == [60, 0]


@examples(40)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=60))
def test_counts_are_those_of_the_plain_loop(lengths: list[int]):
    found = of_lengths(lengths)
    edges = found["edges"]
    assert edges == sorted(set(edges))
    assert (edges[0], edges[-1]) == (min(lengths), max(lengths) + 1)
    bounds = [-np.inf, *edges, np.inf]
    by_hand = [sum(low <= each < high for each in lengths) for low, high in itertools.pairwise(bounds)]
    assert found["counts"] == by_hand
    assert found["counts"][0] == found["counts"][-1] == 0


def test_sources_hold_tokens_and_are_worth_fewer_samples_where_rows_differ():
    data = {"input_ids": [[5] * 3] * 20 + [[5]] * 20, "source": ["web"] * 20 + ["code"] * 20}
    found = kept(data)["input_ids"]["source"]
    assert (found["names"], found["counts"], found["rows"]) == (["web", "code"], [60, 20, 0], 40)
    equal = kept({**data, "input_ids": [[5]] * 40})["input_ids"]["source"]
    assert equal["samples"] == pytest.approx(39, abs=1)
    uneven = kept({"input_ids": [[5] * 200] + [[5]] * 39, "source": ["web", "code"] * 20})["input_ids"]["source"]
    assert uneven["samples"] < 3


def test_rows_without_content_are_not_counted():
    found = kept({"input_ids": [[5], [], None, [5, 5]], "source": ["a", "a", "a", "b"]})["input_ids"]
    assert (found["attended_tokens"]["rows"], found["source"]["rows"]) == (2, 2)


def test_past_a_hundred_sources_the_smallest_stand_together():
    data = {"input_ids": [[5] * (200 - i) for i in range(120)], "source": [f"s{i:03}" for i in range(120)]}
    found = kept(data)["input_ids"]["source"]
    assert (len(found["names"]), found["names"][0]) == (100, "s000")
    assert found["counts"][-1] == sum(200 - i for i in range(100, 120))


def test_shares_of_characters_and_labels_are_kept_where_the_suite_looks_at_them():
    rows = [ids_of("plain text 12"), ids_of("#### ####")] * 10
    labels = [[-100] * 4 + row[4:] for row in rows]
    suite = {
        "expectations": [
            {"type": "expect_symbol_fraction_to_be_below"},
            {"type": "expect_supervised_tokens_to_be_between"},
        ]
    }
    data = {"input_ids": rows, "labels": labels}
    found = kept(data, suite=suite, tokenizer=byte_tokenizer())["input_ids"]
    assert set(found) == {"attended_tokens", "symbol_fraction", "digit_fraction", "supervised_fraction"}
    assert found["symbol_fraction"]["edges"] == [0, 1, 1.0001]
    assert found["digit_fraction"]["edges"] == [0, 0.1818, 0.1819]
    assert set(kept(data, tokenizer=byte_tokenizer())["input_ids"]) == {"attended_tokens"}


def test_token_use_is_counted_only_where_somebody_asks():
    rows = {"input_ids": [[5, 70, 70, 200], [300, 2**20]]}
    assert "token_use" not in kept(rows)["input_ids"]
    found = kept(rows, suite={"expectations": [USE]})["input_ids"]["token_use"]
    assert found["edges"] == list(EDGES)
    assert found["counts"] == [1, 2, 1, 1, *[0] * 9, 1]
    assert found["samples"] == 2


def test_token_use_of_rows_that_are_all_alike_is_worth_every_token():
    found = kept({"input_ids": [[5, 70]] * 40}, suite={"expectations": [USE]})["input_ids"]["token_use"]
    assert found["samples"] == 80


def test_the_two_sides_of_a_pair_are_kept_apart():
    data = {"chosen_input_ids": [[5, 5]] * 3, "rejected_input_ids": [[5]] * 3}
    found = kept(data, suite="preference", vocab_size=10)
    assert {column: each["attended_tokens"]["edges"] for column, each in found.items()} == {
        "chosen_input_ids": [2, 3],
        "rejected_input_ids": [1, 2],
    }


def test_a_report_keeps_the_same_whatever_the_units():
    table = table_of(input_ids=[ids_of("word " * (i % 90)) for i in range(900)], source=["a", "b", "c"] * 300)
    suite = {"expectations": [USE, {"type": "expect_symbol_fraction_to_be_below"}]}
    options = {"suite": suite, "tokenizer": byte_tokenizer(), "store": None}
    reports = {report_json(dataguard.validate(table, jobs=jobs, **options)) for jobs in (1, 2, 5)}
    assert len(reports) == 1


GOOD: dict[str, Any] = {"rows": 3, "samples": 3, "edges": [1, 2], "counts": [0, 3, 0]}


def test_what_a_report_keeps_is_read_again():
    assert parsed(GOOD) == Distribution(3, 3, (0, 3, 0), (1, 2))
    named = {"rows": 3, "samples": 2.5, "names": ["a", None], "counts": [1, 2, 0]}
    assert parsed(named) == Distribution(3, 2.5, (1, 2, 0), (), ("a", None))
    assert parsed(GOOD).to_dict() == GOOD


@pytest.mark.parametrize(
    "change",
    [
        {"rows": "3"},
        {"rows": True},
        {"rows": -1},
        {"samples": 0},
        {"samples": float("nan")},
        {"samples": None},
        {"counts": []},
        {"counts": [0, 0, 0]},
        {"counts": [0, 3]},
        {"counts": [0, -3, 0]},
        {"counts": [0, 3.5, 0]},
        {"counts": [0, 2**80, 0]},
        {"counts": "033"},
        {"counts": {"a": 1}},
        {"edges": [2, 1]},
        {"edges": [1, 1]},
        {"edges": [1, "2"]},
        {"edges": [1, float("inf")]},
        {"edges": [1, 2**70]},
        {"edges": [], "counts": [3]},
        {"edges": None},
        {"edges": [], "names": ["a", "a"]},
        {"edges": [], "names": ["a", 3]},
    ],
)
def test_what_is_no_distribution_is_refused(change: dict[str, Any]):
    with pytest.raises(ValueError, match=r"must|no mapping"):
        parsed({**GOOD, **change})


@pytest.mark.parametrize("document", [None, [], 5, "text"])
def test_what_is_no_mapping_is_refused(document: Any):
    with pytest.raises(ValueError, match="no mapping"):
        parsed(document)
