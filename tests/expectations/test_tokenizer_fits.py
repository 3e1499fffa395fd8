"""expect_tokenizer_to_fit_model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dataguard
from dataguard.result import ExpectationResult
from tests.builders import byte_tokenizer, judged, reasons, table_of
from tests.examples import examples

FIT = "expect_tokenizer_to_fit_model"
ROWS = {"input_ids": [[5, 6]]}


def model(folder: Path, config: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return folder


def fitted(
    folder: Path, config: dict[str, Any], vocabulary: dict[str, Any] | None = None, **more: Any
) -> ExpectationResult:
    """Return the verdict on the byte tokenizer (260 ids: pad 0, bos 1, eos 2, unk 3) and a model's config."""
    suite = {"name": "fit", "expectations": [{"type": FIT}], "meta": {"dataguard": {"vocabulary": vocabulary or {}}}}
    tokenizer = more.pop("tokenizer", byte_tokenizer())
    rows = table_of(**ROWS)
    result = dataguard.validate(rows, suite=suite, tokenizer=tokenizer, model=model(folder, config), store=None, **more)
    return result.results[0]


@pytest.mark.parametrize("rows", [260, 261, 320, 384, 50304])
def test_an_embedding_with_a_row_for_every_token_fits(rows: int, tmp_path: Path):
    result = fitted(tmp_path, {"vocab_size": rows})
    assert result.success
    assert result.observed_value == {"size": 260, "embedding_rows": rows}


@pytest.mark.parametrize("rows", [1, 256, 259])
def test_a_tokenizer_with_more_tokens_than_rows(rows: int, tmp_path: Path):
    (finding,) = fitted(tmp_path, {"vocab_size": rows, "pad_token_id": 0}).findings
    assert (finding.reason, finding.value, finding.shard, finding.row) == ("tokenizer_exceeds_model", 260, None, None)


def test_numbers_of_the_suite_are_enough():
    assert judged(FIT, ROWS, vocabulary={"size": 50257, "embedding_rows": 50304}).success
    assert reasons(judged(FIT, ROWS, vocabulary={"size": 60, "embedding_rows": 56})) == {"tokenizer_exceeds_model": 1}


@pytest.mark.parametrize("vocabulary", [{}, {"size": 60}, {"embedding_rows": 60}])
def test_without_either_side_it_cannot_be_judged(vocabulary: dict[str, int]):
    result = judged(FIT, ROWS, vocabulary=vocabulary)
    assert result.unjudged is not None
    assert not result.success
    assert result.unjudged.fix.startswith("give --model" if "size" in vocabulary else "give --tokenizer")


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ({}, {}),
        ({"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "unk_token_id": 3}, {}),
        ({"pad_token_id": None, "bos_token_id": None, "eos_token_id": None}, {}),
        ({"eos_token_id": [2, 9, 10]}, {}),
        ({"eos_token_id": [9, 10]}, {"special_id_mismatch": 1}),
        ({"eos_token_id": []}, {}),
        ({"eos_token_id": 1, "bos_token_id": 2}, {"special_id_mismatch": 2}),
        ({"pad_token_id": 2}, {"special_id_mismatch": 1}),
        ({"bos_token_id": -1, "eos_token_id": -1}, {}),
        ({"pad_token_id": -1}, {"illegal_pad_id": 1}),
        ({"pad_token_id": 300}, {"illegal_pad_id": 1}),
        ({"pad_token_id": 299}, {"special_id_mismatch": 1}),
        ({"pad_token_id": -1, "eos_token_id": 5}, {"illegal_pad_id": 1, "special_id_mismatch": 1}),
        ({"sep_token_id": 7, "decoder_start_token_id": 0, "image_token_id": 250}, {}),
        ({"forced_bos_token_id": 9, "num_token_ids": 5}, {}),
    ],
    ids=str,
)
def test_special_ids_of_the_model_are_those_of_the_tokenizer(
    ids: dict[str, Any], expected: dict[str, int], tmp_path: Path
):
    result = fitted(tmp_path, {"vocab_size": 300, **ids})
    assert reasons(result) == expected
    assert result.success == (not expected)
    assert all(each.value is not None and each.detail for each in result.findings)


def test_settings_of_the_text_model_may_be_nested(tmp_path: Path):
    inside = {"vocab_size": 256, "eos_token_id": 5}
    result = fitted(tmp_path, {"model_type": "seeing", "text_config": inside, "bos_token_id": 1})
    assert reasons(result) == {"tokenizer_exceeds_model": 1, "special_id_mismatch": 1}


def test_every_role_that_both_name_is_compared(tmp_path: Path):
    tokenizer = byte_tokenizer(("<a>", "<b>", "<c>"), ("cls", "sep", "mask"))
    config = {"vocab_size": 300, "cls_token_id": 0, "sep_token_id": 2, "mask_token_id": 2}
    (finding,) = fitted(tmp_path, config, tokenizer=tokenizer).findings
    assert finding.detail == "config.json says sep_token_id 2; the sep token of the tokenizer is 1"


def test_the_suite_speaks_for_the_tokenizer(tmp_path: Path):
    assert reasons(fitted(tmp_path, {"vocab_size": 300, "pad_token_id": 5}, {"pad": 5})) == {}
    assert reasons(fitted(tmp_path, {"vocab_size": 300, "pad_token_id": 0}, {"pad": 5})) == {"special_id_mismatch": 1}
    assert reasons(fitted(tmp_path, {"vocab_size": 256}, {"size": 250})) == {}


def test_a_pad_token_behind_the_embedding_is_illegal_even_where_the_model_names_none(tmp_path: Path):
    result = fitted(tmp_path, {"vocab_size": 260}, {"pad": 260, "size": 261})
    assert reasons(result) == {"tokenizer_exceeds_model": 1, "illegal_pad_id": 1}


def test_a_model_without_a_tokenizer_cannot_be_judged(tmp_path: Path):
    assert fitted(tmp_path, {"vocab_size": 300, "pad_token_id": -1}, tokenizer=None).unjudged is not None


ROLES = ("pad", "bos", "eos", "unk")
IDS = st.one_of(st.none(), st.integers(-1, 12), st.lists(st.integers(-1, 12), max_size=2))


@examples(30)
@given(st.dictionaries(st.sampled_from(ROLES), IDS), st.integers(1, 400))
def test_agrees_with_a_judge_in_plain_python(tmp_path_factory: pytest.TempPathFactory, ids: dict[str, Any], rows: int):
    config = {"vocab_size": rows, **{f"{role}_token_id": value for role, value in ids.items()}}
    expected = ["tokenizer_exceeds_model"] if rows < 260 else []
    for role, value in ids.items():
        listed = [] if value is None else value if isinstance(value, list) else [value]
        own = ROLES.index(role)
        if role == "pad" and any(not 0 <= each < rows for each in listed):
            expected.append("illegal_pad_id")
        elif any(each >= 0 for each in listed) and own not in listed:
            expected.append("special_id_mismatch")
    result = fitted(tmp_path_factory.mktemp("model"), config)
    assert sorted(each.reason for each in result.findings) == sorted(expected)
