"""What holds for row-level expectations, whatever the rows are: one fault has one owner, and counts add up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dataguard
from dataguard.expectations import EXPECTATIONS
from dataguard.result import ExpectationResult
from tests.builders import byte_tokenizer, list_array
from tests.examples import examples

JUDGED: dict[str, dict[str, Any]] = {
    "expect_rows_not_to_be_null": {},
    "expect_rows_not_to_be_empty": {},
    "expect_columns_to_have_equal_lengths": {},
    "expect_sequence_lengths_to_be_between": {"min_length": 2, "max_length": 6},
    "expect_rows_to_be_unique": {},
    "expect_token_ids_to_be_in_vocabulary": {},
    "expect_token_ids_to_be_assigned": {},
    "expect_unknown_token_fraction_to_be_below": {},
    "expect_rows_to_contain_tokens": {"tokens": [36]},
    "expect_padding_side_to_be": {},
    "expect_padding_to_be_contiguous": {},
    "expect_attention_mask_to_match_padding": {},
    "expect_labels_to_align_with_input_ids": {},
    "expect_labels_to_be_in_vocabulary": {},
    "expect_supervised_tokens_to_be_between": {"min_value": 2, "max_value": 3},
    "expect_row_token_share_to_be_below": {"min_rows": 1},
    "expect_bos_at_document_starts": {"policy": "required"},
    "expect_eos_at_document_ends": {},
    "expect_no_eos_inside_documents": {"packed": False},
    "expect_attention_mask_to_be_binary": {},
    "expect_padding_to_be_ignored_in_labels": {},
    "expect_prompt_to_be_ignored_in_labels": {},
    "expect_prompt_to_be_prefix": {},
    "expect_labels_not_to_cross_documents": {},
    "expect_metric_to_be_between": {"metric": "content_tokens", "min_value": 2, "max_value": 3},
    "expect_rows_not_to_be_periodic": {"max_repeats": 2},
    "expect_rows_not_to_be_repetitive": {"ngram": 1, "max_duplicate_fraction": 0.1, "min_tokens": 1},
    "expect_symbol_fraction_to_be_below": {"min_tokens": 1, "max_fraction": 0.1},
    "expect_digit_runs_to_be_below": {"max_run": 1, "max_fraction": 0.2},
    "expect_white_space_fraction_to_be_below": {"min_tokens": 1, "max_fraction": 0.1},
    "expect_duplicate_line_fraction_to_be_below": {"max_fraction": 0, "max_character_fraction": 0},
    "expect_no_replacement_characters": {"allow_cut_end": False},
    "expect_no_control_characters": {},
    "expect_no_mojibake": {},
    "expect_words_to_be_shorter_than": {"max_characters": 2},
    "expect_alphabetic_word_fraction_to_be_above": {"min_fraction": 1.0},
}
"""Expectations on rows of tokens, with arguments under which many rows are unexpected."""
NULL, EMPTY = "expect_rows_not_to_be_null", "expect_rows_not_to_be_empty"
EQUAL, RANGE = "expect_columns_to_have_equal_lengths", "expect_token_ids_to_be_in_vocabulary"
LENGTHS = "expect_sequence_lengths_to_be_between"


def judge_all(table: pa.Table) -> dict[str, ExpectationResult]:
    entries = [{"type": name, "kwargs": arguments} for name, arguments in JUDGED.items()]
    suite = {"name": "all", "expectations": entries}
    result = dataguard.validate(table, suite=suite, tokenizer=byte_tokenizer(), jobs=1)
    return {each.type: each for each in result.results}


IDS = st.one_of(
    st.integers(0, 3),
    st.sampled_from([36, 37, 53, 54, 55, 100, 101, 102, 232, 188, 177]),
    st.sampled_from([-1, 260, 2**31 - 1]),
)
LABELS = st.one_of(st.just(-100), st.sampled_from([36, 53, 100]))
CELLS = {"attention_mask": st.sampled_from([0, 1, 1, 1]), "labels": LABELS}


@st.composite
def ugly(draw: st.DrawFn) -> tuple[dict[str, list[Any]], pa.Table]:
    size = draw(st.integers(1, 6))
    ids = [draw(st.one_of(st.none(), *[st.lists(IDS, max_size=9)] * 4)) for _ in range(size)]
    rows: dict[str, list[Any]] = {"input_ids": ids}
    for role in ("attention_mask", "labels"):
        values = CELLS[role]
        rows[role] = [
            draw(
                st.one_of(
                    st.none(),
                    st.lists(values, max_size=3),
                    *[st.lists(values, min_size=len(each or []), max_size=len(each or []))] * 6,
                )
            )
            for each in ids
        ]
    if draw(st.booleans()):
        place = draw(st.integers(0, size - 1))
        if ids[place]:
            ids[place] = [*ids[place][:-1], None]
    prompts = [draw(st.one_of(st.none(), st.lists(IDS, max_size=3), st.just((each or [])[:2]))) for each in ids]
    lengths = [draw(st.one_of(st.none(), st.integers(-1, 4))) for _ in range(size)]
    sources = [draw(st.sampled_from(["web", "code", None])) for _ in range(size)]
    kind = draw(st.sampled_from([pa.int32(), pa.int64()]))
    arrays = {role: list_array(cells, kind if role == "input_ids" else pa.int64()) for role, cells in rows.items()}
    told = {"prompt_ids": list_array(prompts, kind), "prompt_length": pa.array(lengths, pa.int32())}
    return rows, pa.table({**arrays, **told, "source": pa.array(sources, pa.string())})


TOLD = {"expect_prompt_to_be_ignored_in_labels", "expect_prompt_to_be_prefix"}
"""Where no row says what these are about, nothing was judged, and that is no pass."""


@examples(25)
@given(ugly())
def test_counts_add_up_and_each_fault_has_one_owner(case: tuple[dict[str, list[Any]], pa.Table]):
    rows, table = case
    results = judge_all(table)
    flagged = {name: {each.row for each in result.findings} for name, result in results.items()}
    for name, result in results.items():
        nothing_told = name in TOLD and result.missing_count == table.num_rows
        assert result.unjudged is None or nothing_told, name
        assert result.element_count == table.num_rows
        reasons = dict(result.details.get("reasons", {}))
        if all(each.reason != "mixed_sides" for each in result.findings):
            reasons.pop("mixed_sides", None)  # on a tie no side is the wrong one: a finding that names no row
        assert result.unexpected_count == len(result.findings) == sum(reasons.values())
        assert result.unexpected_count + (result.missing_count or 0) <= table.num_rows
        sound = not result.findings and result.unjudged is None
        assert result.success == sound or "mixed_sides" in result.details["reasons"]
        for each in result.findings:
            assert each.reason in EXPECTATIONS[name].reasons
            assert each.value is None or result.name_of_value(each.reason), f"{name} names no value of {each.reason}"
            assert each.position is None or 0 <= each.position < len(rows["input_ids"][each.row])
    for place, ids in enumerate(rows["input_ids"]):
        owners = {name for name, places in flagged.items() if place in places}
        mask, labels = rows["attention_mask"][place], rows["labels"][place]
        if ids is None:
            assert owners == {NULL}
        elif None in ids:
            assert owners <= {NULL, EQUAL}
        elif not ids:
            assert EMPTY in owners
            assert owners <= {EMPTY, EQUAL}
        elif mask is None or len(mask) != len(ids):
            assert owners <= {EQUAL, RANGE, LENGTHS, "expect_labels_to_align_with_input_ids"}
        elif labels is None or len(labels) != len(ids):
            assert not owners & {"expect_labels_to_align_with_input_ids", "expect_supervised_tokens_to_be_between"}


@pytest.mark.parametrize("kind", [pa.null(), pa.bool_(), pa.uint64(), pa.int8()])
def test_no_type_stops_a_judgement(kind: pa.DataType):
    table = pa.table(
        {
            "input_ids": list_array([[None, None], [], None], kind),
            "attention_mask": list_array([[None, None], [], None], pa.null()),
            "labels": list_array([[None, None], [], None], kind),
            "prompt_ids": list_array([[None, None], [], None], kind),
        }
    )
    results = judge_all(table)
    assert [(each.row, each.reason) for each in results[NULL].findings] == [(0, "null_element"), (2, "null_row")]
    assert [(each.row, each.reason) for each in results[EMPTY].findings] == [(1, "no_tokens")]
    assert all(not result.findings for name, result in results.items() if name not in (NULL, EMPTY))


def test_a_table_without_rows_holds():
    table = pa.table({name: list_array([]) for name in ("input_ids", "attention_mask", "labels", "prompt_ids")})
    assert all(result.success and result.element_count == 0 for result in judge_all(table).values())


FILES = {
    "expect_shards_to_be_intact",
    "expect_shards_to_match_manifest",
    "expect_row_count_to_be_between",
    "expect_tokenizer_to_fit_model",
}
"""Expectations that look at no column of a shard."""
DEMANDED: dict[str, dict[str, Any]] = {
    "expect_columns_to_exist": {"columns": ["input_ids"]},
    "expect_source_token_share_to_be_between": {"shares": {"web": [0, 1]}},
    "expect_distributions_to_match_baseline": {"baseline": "report.json"},
}
"""Arguments of the others that must be given."""
SAMPLER = {name for name, kind in EXPECTATIONS.items() if kind.level == "observation"}


@pytest.mark.parametrize("name", sorted(EXPECTATIONS.keys() - FILES - SAMPLER))
def test_where_no_shard_is_intact_it_is_unjudged_for_that_reason(name: str, tmp_path: Path):
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "a.parquet").write_bytes(b"")
    arguments = {**JUDGED, **DEMANDED}.get(name, {})
    suite = {"name": "one", "expectations": [{"type": name, "kwargs": arguments}]}
    result = dataguard.validate(tmp_path, suite=suite, tokenizer=byte_tokenizer(), max_length=None, jobs=1)
    (found,) = (each for each in result.results if each.type == name)
    assert not found.success
    assert found.unjudged is not None
    assert found.unjudged.missing == "no shard is intact"


@pytest.mark.parametrize("name", sorted(SAMPLER))
def test_without_an_observation_what_judges_a_sampler_is_unjudged(name: str):
    suite = {"name": "one", "expectations": [{"type": name}]}
    (found,) = dataguard.validate(pa.table({"input_ids": list_array([[1]])}), suite=suite, jobs=1).results
    assert found.unjudged is not None
    assert found.unjudged.missing == "no sampler was observed"


WARNINGS = {
    "expect_schemas_to_match",
    "expect_rows_to_be_unique",
    "expect_row_token_share_to_be_below",
    "expect_token_ids_to_be_assigned",
    "expect_unknown_token_fraction_to_be_below",
    "expect_ids_to_match_text",
    "expect_eos_at_document_ends",
    "expect_no_eos_inside_documents",
    "expect_tokenizer_to_fit_model",
    "expect_rows_not_to_be_repetitive",
    "expect_duplicate_line_fraction_to_be_below",
    "expect_white_space_fraction_to_be_below",
    "expect_no_replacement_characters",
    "expect_no_control_characters",
    "expect_no_mojibake",
    "expect_words_to_be_shorter_than",
    "expect_alphabetic_word_fraction_to_be_above",
    "expect_source_token_share_to_be_between",
    "expect_distributions_to_match_baseline",
    "expect_seeds_to_agree_in_distribution",
}


def test_default_severities_are_those_that_users_rely_on():
    severities = {name: each.default_severity for name, each in EXPECTATIONS.items()}
    assert {name for name, severity in severities.items() if severity == "warning"} == WARNINGS
    assert [name for name, severity in severities.items() if severity == "info"] == [
        "expect_packing_efficiency_to_be_above"
    ]
