"""expect_packing_efficiency_to_be_above."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import dataguard
from tests.builders import judged, reasons, table_of

FILL = "expect_packing_efficiency_to_be_above"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2}


def test_blocks_that_stay_empty():
    rows = {"input_ids": [[5] * 4, [5] * 2]}
    result = judged(FILL, rows, max_length=4)
    assert not result.success
    assert result.severity == "info"
    assert (reasons(result), result.findings) == ({"low_fill": 1}, ())
    assert result.observed_value == {"rows": 2, "tokens": 6, "fraction": 0.75}
    assert judged(FILL, rows, max_length=4, min_fraction=0.75).success


@pytest.mark.parametrize(
    "more",
    [{"attention_mask": [[1, 1, 1, 0]]}, {}, {"attention_mask": [[0, 1, 2, 3]]}],
    ids=["mask", "pads", "segments"],
)
def test_padding_fills_nothing(more: dict[str, Any]):
    ids = [0, 5, 6, 7] if "attention_mask" in more and more["attention_mask"][0][0] == 0 else [5, 6, 7, 0]
    result = judged(FILL, {"input_ids": [ids], **more}, max_length=4, vocabulary=VOCABULARY)
    assert result.observed_value == {"rows": 1, "tokens": 3, "fraction": 0.75}


@pytest.mark.parametrize(("fraction", "holds"), [(0.7, True), (0.70000001, False)])
def test_the_limit_is_taken_as_it_is_written(fraction: float, holds: bool):
    assert judged(FILL, {"input_ids": [[5] * 7]}, max_length=10, min_fraction=fraction).success == holds


def test_rows_without_content_and_those_of_others_are_missing():
    rows = {
        "input_ids": [[5, 6], None, [], [5, None], [0, 0], [5, 6], [1, 2]],
        "attention_mask": [[1, 1], [1], [], [1, 1], [0, 0], [1], [1, 1]],
    }
    result = judged(FILL, rows, max_length=2, min_fraction=1.0, vocabulary=VOCABULARY)
    assert result.success
    assert (result.element_count, result.missing_count) == (7, 6)


def test_a_data_set_without_content_has_nothing_to_fill():
    result = judged(FILL, {"input_ids": [[], None]}, max_length=2)
    assert (result.success, result.missing_count) == (True, 2)
    assert result.details["notes"] == ["no row has content"]


def test_all_shards_count_together(tmp_path: Path):
    pq.write_table(table_of(input_ids=[[5] * 4]), tmp_path / "a.parquet")
    pq.write_table(table_of(input_ids=[[5]]), tmp_path / "b.parquet")
    result = judged(FILL, tmp_path, max_length=4, min_fraction=0.625)
    assert (result.success, result.observed_value["fraction"]) == (True, 0.625)


def test_without_a_length_it_cannot_be_judged_or_is_skipped():
    result = judged(FILL, {"input_ids": [[5]]})
    assert result.unjudged is not None
    assert "max_length is not given" in result.unjudged.missing
    given = {"max_length": {"$PARAMETER": "max_length"}}
    entry = {"type": FILL, "kwargs": given, "meta": {"dataguard": {"when": ["max_length"]}}}
    other = {"type": "expect_rows_not_to_be_null"}
    suite = {"suite_parameters": {"max_length": None}, "expectations": [entry, other]}
    rows = table_of(input_ids=[[5]])
    assert [each.type for each in dataguard.validate(rows, suite=suite, jobs=1).results] == [other["type"]]
    results = dataguard.validate(rows, suite=suite, max_length=4, jobs=1).results
    assert [(each.type, each.success) for each in results] == [(FILL, False), (other["type"], True)]


def test_a_side_of_a_pair():
    rows = {"chosen_input_ids": [[5, 6]], "rejected_input_ids": [[5]]}
    assert judged(FILL, rows, column="chosen_input_ids", max_length=2).success
    assert not judged(FILL, rows, column="rejected_input_ids", max_length=2).success
