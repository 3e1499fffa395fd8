"""The suites that come with dataguard."""

from __future__ import annotations

import pytest

from dataguard.suite.loading import load_suite
from dataguard.suite.model import Suite
from dataguard.suite.shipped import choose, shipped

NAMES = ("packed", "preference", "pretrain", "sft")
SINGLE = ("packed", "pretrain", "sft")
"""Those that judge one token column."""
SIDES = ("chosen", "rejected")
DIRTY = (
    "rows_not_to_be_periodic",
    "rows_not_to_be_repetitive",
    "symbol_fraction_to_be_below",
    "digit_runs_to_be_below",
)


def of_type(suite: Suite, type: str) -> list[dict[str, object]]:
    """Return settings and arguments of the expectations of a type."""
    return [
        {**each.kwargs, "when": each.when, "severity": each.severity}
        for each in suite.expectations
        if each.expectation.type() == f"expect_{type}"
    ]


def test_these_are_shipped() -> None:
    assert set(shipped()) == {*NAMES, "sampler"}


def test_that_of_a_sampler_judges_a_sampler_alone() -> None:
    assert {each.expectation.level for each in load_suite("sampler").expectations} == {"observation"}


@pytest.mark.parametrize("name", NAMES)
def test_needs_no_option(name: str) -> None:
    suite = load_suite(name)
    assert (suite.name, suite.origin) == (name, f"shipped suite {name}")
    assert set(suite.parameters.values()) == {None}
    assert "max_length" in suite.parameters
    assert (suite.columns, suite.vocabulary) == ({}, {})


@pytest.mark.parametrize("name", SINGLE)
class TestEach:
    def test_never_skips_the_range_of_ids(self, name: str) -> None:
        assert of_type(load_suite(name), "token_ids_to_be_in_vocabulary") == [{"when": (), "severity": "critical"}]

    def test_never_skips_what_needs_nothing(self, name: str) -> None:
        always = ("shards_to_be_intact", "columns_to_exist", "row_count_to_be_between", "rows_not_to_be_empty")
        for kind in (*always, "columns_to_have_equal_lengths", "padding_side_to_be", "padding_to_be_contiguous"):
            (only,) = of_type(load_suite(name), kind)
            assert only["when"] == (), kind

    def test_takes_max_length(self, name: str) -> None:
        suite = load_suite(name, {"max_length": 2048})
        for kind in ("sequence_lengths_to_be_between", "truncation_to_be_consistent_across_sources"):
            assert of_type(suite, kind)[0]["max_length"] == 2048
        assert of_type(suite, "supervised_tokens_to_be_between")[0]["max_length"] == 2048

    def test_max_length_alone_is_skipped_without_it(self, name: str) -> None:
        suite = load_suite(name)
        skipped = {each.expectation.type() for each in suite.expectations if "max_length" in each.when}
        packed = {"expect_dtypes_to_fit", "expect_packing_efficiency_to_be_above"} if name == "packed" else set()
        assert skipped == {"expect_sequence_lengths_to_be_between"} | packed

    def test_dirty_samples_tolerate_one_row_in_a_thousand(self, name: str) -> None:
        for kind in DIRTY:
            (only,) = of_type(load_suite(name), kind)
            assert only["mostly"] == 0.999
            assert only["when"] == (() if kind == "rows_not_to_be_periodic" else ("characters",))

    def test_labels_of_a_masked_language_model_are_not_compared(self, name: str) -> None:
        (only,) = of_type(load_suite(name), "labels_to_align_with_input_ids")
        assert only["when"] == ("labels", "causal")


def test_sft_asks_for_labels_and_pretrain_does_not() -> None:
    asked = {name: of_type(load_suite(name), "columns_to_exist")[0]["columns"] for name in SINGLE}
    assert asked == {"packed": ["input_ids"], "pretrain": ["input_ids"], "sft": ["input_ids", "labels"]}


def test_preference_judges_both_sides_alike_but_for_dirty_samples() -> None:
    suite = load_suite("preference")
    chosen, rejected = (
        [
            (each.expectation.type(), str(each.kwargs).replace(side, "SIDE"), str(each.when).replace(side, "SIDE"))
            for each in suite.expectations
            if str(each.kwargs.get("column", "")).startswith(side)
            and "columns" not in each.kwargs
            and not each.expectation.type().endswith(DIRTY)
        ]
        for side in SIDES
    )
    assert chosen == rejected
    assert len(chosen) >= 15
    for kind in DIRTY:
        assert [each["column"] for each in of_type(suite, kind)] == ["chosen_input_ids"]


def test_preference_holds_what_pretrain_says_of_a_row_alone() -> None:
    types = {name: {each.expectation.type() for each in load_suite(name).expectations} for name in NAMES}
    assert types["pretrain"] - types["preference"] == {
        "expect_no_eos_inside_documents",
        "expect_row_token_share_to_be_below",
        "expect_truncation_to_be_consistent_across_sources",
    }
    assert types["sft"] - types["pretrain"] == {
        "expect_labels_to_cover_spans",
        "expect_prompt_to_be_ignored_in_labels",
        "expect_prompt_to_be_prefix",
    }
    assert types["packed"] - types["pretrain"] == {
        "expect_document_boundaries_to_be_consistent",
        "expect_labels_not_to_cross_documents",
        "expect_packing_efficiency_to_be_above",
        "expect_position_ids_to_be_consistent",
    }


def test_packed_judges_crossing_labels_only_when_asked() -> None:
    (only,) = of_type(load_suite("packed", {"allow_crossing": False}), "labels_not_to_cross_documents")
    assert (only["allow"], only["shift"]) == (False, 0)
    assert only["when"] == ("labels", "documents", "allow_crossing")


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        (["input_ids"], "pretrain"),
        (["input_ids", "attention_mask", "text"], "pretrain"),
        (["input_ids", "labels"], "sft"),
        (["chosen_input_ids", "chosen_labels"], "sft"),
        (["chosen_input_ids", "rejected_input_ids"], "preference"),
        (["chosen_input_ids", "rejected_input_ids", "chosen_labels", "input_ids", "position_ids"], "preference"),
        (["input_ids", "position_ids"], "packed"),
        (["input_ids", "labels", "document_ids"], "packed"),
        (["input_ids", "labels", "cu_seqlens"], "packed"),
        (["input_ids", "labels", "seq_lengths"], "packed"),
        (["tokens", "no_labels_here"], "pretrain"),
        ([], "pretrain"),
    ],
)
def test_the_columns_choose(columns: list[str], name: str) -> None:
    assert choose(columns) == name
