"""Suites that are measured, made from the shipped ones, and one way to run them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from data import ROOT, ROW_TOKENS, TOKENIZER
from ruamel.yaml import YAML

INTEGRITY = (
    "expect_shards_to_be_intact",
    "expect_shards_to_match_manifest",
    "expect_schemas_to_match",
    "expect_columns_to_exist",
    "expect_dtypes_to_fit",
    "expect_row_count_to_be_between",
    "expect_rows_not_to_be_null",
    "expect_rows_not_to_be_empty",
    "expect_columns_to_have_equal_lengths",
    "expect_sequence_lengths_to_be_between",
    "expect_token_ids_to_be_in_vocabulary",
    "expect_padding_side_to_be",
    "expect_padding_to_be_contiguous",
    "expect_attention_mask_to_match_padding",
    "expect_attention_mask_to_be_binary",
    "expect_labels_to_align_with_input_ids",
    "expect_labels_to_be_in_vocabulary",
    "expect_supervised_tokens_to_be_between",
    "expect_padding_to_be_ignored_in_labels",
)
"""Files, rows, range, lengths, padding, mask, labels: the types of the pretrain suite that make up its integrity part."""
PERIODIC = "expect_rows_not_to_be_periodic"
REPETITIVE = "expect_rows_not_to_be_repetitive"


def shipped(name: str) -> dict[str, Any]:
    """Return a shipped suite."""
    suite: dict[str, Any] = YAML(typ="safe").load(ROOT / "expectations" / f"{name}.yaml")
    return suite


def only(types: Sequence[str], *, suite: str = "pretrain", name: str = "part") -> dict[str, Any]:
    """Return the part of a shipped suite that has these types."""
    whole = shipped(suite)
    return {**whole, "name": name, "expectations": [each for each in whole["expectations"] if each["type"] in types]}


def without(types: Sequence[str], *, suite: str = "pretrain") -> dict[str, Any]:
    """Return a shipped suite less these types."""
    whole = shipped(suite)
    kept = [each for each in whole["expectations"] if each["type"] not in types]
    return {**whole, "name": "rest", "expectations": kept}


def with_repetitive(name: str = "pretrain") -> dict[str, Any]:
    """Return a shipped suite with the share of repeated n-grams judged as well, whether it holds that or not."""
    rest = without([REPETITIVE], suite=name)
    entry = {"type": REPETITIVE, "severity": "warning", "kwargs": {"mostly": 0.999}}
    return {**rest, "name": f"{name}, repetitive", "expectations": [*rest["expectations"], entry]}


def suite_named(name: str) -> dict[str, Any]:
    """Return a suite by the name that the results give it."""
    return only(INTEGRITY, name="integrity") if name == "integrity" else shipped(name)


def validate(data: Path | Sequence[Path], suite: dict[str, Any], **options: Any) -> Any:
    """Judge shards with everything that the shipped suites can be told, so that nothing is skipped.

    Returns:
        The result.
    """
    import dataguard

    known: dict[str, Any] = {"tokenizer": TOKENIZER, "vocabulary": {"pad": 50256}, "store": None}
    told = {"max_length": ROW_TOKENS, "allow_crossing": False}
    known["parameters"] = {name: told[name] for name in suite.get("suite_parameters", {})}
    return dataguard.validate(data, suite=suite, **{**known, **options})
