"""Preference pairs, prefixed columns and columns under other names, through the whole command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pytest

import dataguard
from dataguard.result import Result
from tests.builders import byte_tokenizer, ids_of, table_of

X = -100
ANSWER, REPLY = ids_of("Kettle tea."), ids_of("No idea, sorry.")
ROWS = 12


def side(answer: list[int], pads: int = 2) -> tuple[list[int], list[int], list[int]]:
    """Return ids, mask and labels of one side: bos, a prompt that is not learned, an answer, eos and padding."""
    prompt = [1, *ids_of("Ask: ")]
    ids = [*prompt, *answer, 2] + [0] * pads
    mask = [1] * (len(ids) - pads) + [0] * pads
    labels = [X] * len(prompt) + [*answer, 2] + [X] * pads
    return ids, mask, labels


def pairs() -> dict[str, list[Any]]:
    """Return sound pairs, no two alike."""
    columns: dict[str, list[Any]] = {
        f"{name}_{role}": [] for name in ("chosen", "rejected") for role in ("input_ids", "attention_mask", "labels")
    }
    for row in range(ROWS):
        for name, answer in (("chosen", ANSWER), ("rejected", REPLY)):
            for role, cells in zip(
                ("input_ids", "attention_mask", "labels"), side(answer + ids_of(str(row))), strict=True
            ):
                columns[f"{name}_{role}"].append(cells)
    return columns


def judged(rows: dict[str, list[Any]] | pa.Table, **options: Any) -> Result:
    table = rows if isinstance(rows, pa.Table) else table_of(**rows)
    return dataguard.validate(table, tokenizer=byte_tokenizer(), jobs=1, **options)


def faults(result: Result) -> set[tuple[str, str, int | None, str]]:
    """Return type, column, row and reason of every finding."""
    return {
        (each.type, each.column, finding.row, finding.reason) for each in result.results for finding in each.findings
    }


def unexplained(result: Result) -> list[str]:
    return [f"{each.type} {each.column}: {each.unjudged}" for each in result.results if not each.success]


def test_sound_pairs_hold_and_choose_their_suite():
    result = judged(pairs())
    assert result.suite_name == "preference"
    assert unexplained(result) == []
    skipped = {each["type"] for each in result.meta["skipped"]}
    assert skipped <= {
        "expect_shards_to_match_manifest",
        "expect_sequence_lengths_to_be_between",
        "expect_rows_not_to_be_null",
        "expect_tokenizer_to_fit_model",
    }


def beyond(columns: dict[str, Any]) -> None:
    columns["chosen_input_ids"][3][4] = 9_999
    columns["chosen_labels"][3] = [X if each != 2 else 2 for each in columns["chosen_labels"][3]]


def doubled_bos(columns: dict[str, Any]) -> None:
    columns["rejected_input_ids"][3][1] = 1


def supervised_pads(columns: dict[str, Any]) -> None:
    columns["rejected_labels"][3][-1] = 0


def hidden_end(columns: dict[str, Any]) -> None:
    columns["chosen_attention_mask"][3] = [1 - each for each in columns["chosen_attention_mask"][3]]
    columns["chosen_labels"][3] = [X] * len(columns["chosen_labels"][3])


def segments(columns: dict[str, Any]) -> None:
    columns["rejected_attention_mask"][3][0] = 2


def shorter(columns: dict[str, Any]) -> None:
    columns["chosen_labels"][3].pop()


def shifted(columns: dict[str, Any]) -> None:
    labels = columns["rejected_labels"][3]
    columns["rejected_labels"][3] = [*labels[1:], X]


@pytest.mark.parametrize(
    ("plant", "expected"),
    [
        (beyond, ("expect_token_ids_to_be_in_vocabulary", "chosen_input_ids", 3, "beyond_limit")),
        (doubled_bos, ("expect_bos_at_document_starts", "rejected_input_ids", 3, "doubled_bos")),
        (supervised_pads, ("expect_padding_to_be_ignored_in_labels", "rejected_input_ids", 3, "supervised_padding")),
        (hidden_end, ("expect_attention_mask_to_be_binary", "chosen_input_ids", 3, "inverted")),
        (segments, ("expect_attention_mask_to_be_binary", "rejected_input_ids", 3, "not_binary")),
        (shorter, ("expect_columns_to_have_equal_lengths", "chosen_input_ids", 3, "labels_length")),
        (shifted, ("expect_labels_to_align_with_input_ids", "rejected_input_ids", 3, "shifted")),
    ],
)
def test_a_fault_on_one_side_is_named_there(plant: Any, expected: tuple[str, str, int, str]):
    columns = pairs()
    plant(columns)
    found = faults(judged(columns))
    assert expected in found
    assert {(column, row) for _, column, row, _ in found} == {(expected[1], 3)}


def test_a_pair_with_faults_on_both_sides_is_set_aside_once(tmp_path: Path):
    columns = pairs()
    columns["chosen_input_ids"][5][0] = columns["rejected_input_ids"][5][0] = 7_777
    columns["rejected_labels"][5][-1] = 0
    columns["rejected_input_ids"][6][4] = 8_888
    columns["rejected_labels"][6] = [each if each == 2 else X for each in columns["rejected_labels"][6]]
    result = judged(columns, out=tmp_path / "out")
    aside = datasets.load_from_disk(str(tmp_path / "out" / "quarantine"))
    assert aside["dataguard_row"][:] == [5, 6]
    types = ["expect_token_ids_to_be_in_vocabulary", "expect_padding_to_be_ignored_in_labels"]
    assert sorted(aside["dataguard_expectations"][0]) == sorted(types)
    assert sorted(aside["dataguard_reasons"][0]) == ["beyond_limit", "supervised_padding"]
    assert aside["rejected_input_ids"][1] == columns["rejected_input_ids"][6]
    assert result.meta["accounting"]["rejected"] == 2


def test_columns_under_other_names_are_the_same_pairs():
    columns = pairs()
    beyond(columns)
    supervised_pads(columns)
    renamed = {f"{name.removeprefix('chosen_')}_good": cells for name, cells in columns.items() if "chosen" in name}
    renamed |= {f"{name.removeprefix('rejected_')}_bad": cells for name, cells in columns.items() if "rejected" in name}
    roles = ("input_ids", "attention_mask", "labels")
    mapped = {f"chosen_{role}": f"{role}_good" for role in roles} | {
        f"rejected_{role}": f"{role}_bad" for role in roles
    }
    result = judged(renamed, columns=mapped)
    assert result.suite_name == "preference"
    assert faults(result) == faults(judged(columns))


def test_one_side_alone_is_judged_as_any_rows_are():
    columns = {name: cells for name, cells in pairs().items() if name.startswith("chosen")}
    columns["chosen_labels"][3][-1] = 0
    result = judged(columns, columns={"input_ids": "chosen_input_ids"})
    assert result.suite_name == "sft"
    assert faults(result) == {("expect_padding_to_be_ignored_in_labels", "input_ids", 3, "supervised_padding")}


def test_pairs_without_labels_or_masks_hold_too():
    columns = {name: cells for name, cells in pairs().items() if name.endswith("input_ids")}
    result = judged(columns)
    assert result.suite_name == "preference"
    assert unexplained(result) == []
