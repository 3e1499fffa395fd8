"""expect_token_ids_to_be_in_vocabulary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.builders import byte_tokenizer, found, judged, list_array, reasons, table_of

RANGE = "expect_token_ids_to_be_in_vocabulary"
HUNDRED = {"size": 100}


def test_ids_inside_the_limit_hold():
    result = judged(RANGE, {"input_ids": [[0, 99], [5]]}, vocabulary=HUNDRED)
    assert result.success
    assert (result.element_count, result.unexpected_count, result.missing_count) == (2, 0, 0)
    assert result.observed_value == {"lowest": 0, "highest": 99, "limit": 100}
    assert result.findings == ()


def test_tells_row_position_and_value():
    result = judged(RANGE, {"input_ids": [[5, 6, 100], [7, -1], [8]]}, vocabulary=HUNDRED)
    told = [(each.row, each.column, each.reason, each.position, each.value) for each in result.findings]
    assert told == [(0, "input_ids", "beyond_limit", 2, 100), (1, "input_ids", "negative", 1, -1)]
    assert reasons(result) == {"beyond_limit": 1, "negative": 1}


def test_a_negative_id_is_told_before_one_beyond_with_its_own_place():
    (finding,) = judged(RANGE, {"input_ids": [[300, -1]]}, vocabulary=HUNDRED).findings
    assert (finding.reason, finding.position, finding.value) == ("negative", 1, -1)


def test_counts_every_hit_and_lists_distinct_ids():
    result = judged(RANGE, {"input_ids": [[300, 5, 200, 300], [-1], [200]]}, vocabulary=HUNDRED)
    assert result.details["hits"] == 5
    assert result.details["distinct_ids"] == [-1, 200, 300]


def test_lists_up_to_fifty_distinct_ids():
    result = judged(RANGE, {"input_ids": [list(range(100, 160)), list(range(150, 220))]}, vocabulary=HUNDRED)
    assert result.details["hits"] == 130
    assert len(result.details["distinct_ids"]) == 50
    assert set(result.details["distinct_ids"]) <= set(range(100, 220))


def test_masked_ids_are_looked_up_too():
    rows = {"input_ids": [[5, 100]], "attention_mask": [[1, 0]]}
    assert reasons(judged(RANGE, rows, vocabulary=HUNDRED)) == {"beyond_limit": 1}


def test_the_embedding_is_the_limit_where_it_is_known():
    rows = {"input_ids": [[100, 127]]}
    assert judged(RANGE, rows, vocabulary={"size": 100, "embedding_rows": 128}).success
    assert not judged(RANGE, rows, vocabulary={"size": 100, "embedding_rows": 127}).success


def test_an_argument_wins_over_the_vocabulary():
    assert not judged(RANGE, {"input_ids": [[50]]}, vocabulary=HUNDRED, limit=50).success
    assert judged(RANGE, {"input_ids": [[150]]}, vocabulary=HUNDRED, limit=151).success


def test_a_tokenizer_gives_the_limit():
    assert judged(RANGE, {"input_ids": [[259]]}, tokenizer=byte_tokenizer()).success
    assert not judged(RANGE, {"input_ids": [[260]]}, tokenizer=byte_tokenizer()).success


def test_sentinels_are_never_outside():
    rows = {"input_ids": [[5, -200, 6], [-200, -1]]}
    result = judged(RANGE, rows, vocabulary=HUNDRED, sentinels=[-200])
    assert found(result) == [(1, "negative")]
    assert (result.findings[0].position, result.details["hits"], result.details["distinct_ids"]) == (1, 1, [-1])


def test_null_and_zero_token_rows_are_missing_and_no_others():
    rows = {"input_ids": [None, [], [5, None], [0, 0], [5, 6]], "attention_mask": [[1], [], [1, 1], [0, 0], [1]]}
    result = judged(RANGE, rows, vocabulary={"size": 100, "pad": 0})
    assert (result.element_count, result.missing_count) == (5, 3)


def test_without_any_vocabulary_it_cannot_be_judged_but_negative_ids_are_told():
    result = judged(RANGE, {"input_ids": [[5, -1], [10**9]]})
    assert not result.success
    assert result.unjudged is not None
    assert "--tokenizer" in result.unjudged.fix
    assert found(result) == [(0, "negative")]
    good = judged(RANGE, {"input_ids": [[5]]})
    assert not good.success
    assert good.findings == ()


@pytest.mark.parametrize(
    ("kind", "highest"),
    [
        (pa.int8(), 2**7 - 1),
        (pa.uint8(), 2**8 - 1),
        (pa.int16(), 2**15 - 1),
        (pa.uint16(), 2**16 - 1),
        (pa.int32(), 2**31 - 1),
        (pa.uint32(), 2**32 - 1),
        (pa.int64(), 2**62),
        (pa.uint64(), 2**62),
    ],
)
def test_no_type_wraps_around(kind: pa.DataType, highest: int):
    rows = pa.table({"input_ids": list_array([[1, highest], [2]], kind)})
    assert judged(RANGE, rows, limit=highest + 1).success
    (finding,) = judged(RANGE, rows, limit=highest).findings
    assert (finding.row, finding.reason, finding.position, finding.value) == (0, "beyond_limit", 1, highest)


def test_an_unsigned_id_past_int64_is_beyond():
    rows = pa.table({"input_ids": list_array([[5, 2**64 - 1]], pa.uint64())})
    assert found(judged(RANGE, rows, vocabulary=HUNDRED)) == [(0, "beyond_limit")]


@pytest.mark.parametrize("layout", ["list", "large_list", "list_view", "fixed"])
@pytest.mark.parametrize("skip", [0, 3])
def test_rows_keep_their_numbers_in_every_layout_and_slice(layout: str, skip: int):
    rows = pa.table({"input_ids": list_array([[5, 6], None, [7, 100]], layout=layout, skip=skip)})
    result = judged(RANGE, rows, vocabulary=HUNDRED)
    assert [(each.row, each.position) for each in result.findings] == [(2, 1)]


def test_by_source_gives_a_source_its_own_limit_and_hits():
    rows: dict[str, Any] = {"input_ids": [[60, 100], [60], [40]], "source": ["web", "code", "code"]}
    result = judged(RANGE, rows, vocabulary=HUNDRED, by_source={"code": {"limit": 50}})
    assert [(each.row, each.reason, each.value) for each in result.findings] == [
        (0, "beyond_limit", 100),
        (1, "beyond_limit", 60),
    ]
    assert (result.details["hits"], result.details["distinct_ids"]) == (2, [60, 100])
    assert result.details["by_source"] == {"code": 1, "web": 1}


def test_findings_are_the_first_two_hundred_in_shard_and_row_order(tmp_path: Path):
    for name in "ab":
        pq.write_table(table_of(input_ids=[[100]] * 150), tmp_path / f"{name}.parquet", row_group_size=40)
    result = judged(RANGE, tmp_path, vocabulary=HUNDRED)
    assert result.unexpected_count == 300
    places = [(each.shard, each.row) for each in result.findings]
    assert places == [("a.parquet", row) for row in range(150)] + [("b.parquet", row) for row in range(50)]


def test_labels_may_be_judged_as_a_column():
    rows = {"input_ids": [[5]], "prompt_ids": [[100]]}
    result = judged(RANGE, rows, vocabulary=HUNDRED, column="prompt_ids")
    assert [(each.column, each.reason) for each in result.findings] == [("prompt_ids", "beyond_limit")]
