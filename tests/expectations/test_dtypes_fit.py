"""expect_dtypes_to_fit."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dataguard
from tests.builders import judged, list_array, reasons, table_of

FIT = "expect_dtypes_to_fit"
HOLDS = {
    pa.int8(): 2**7,
    pa.uint8(): 2**8,
    pa.int16(): 2**15,
    pa.uint16(): 2**16,
    pa.int32(): 2**31,
    pa.uint32(): 2**32,
}
"""Types, and the largest vocabulary that each holds."""


def rows_of(kind: pa.DataType, layout: str = "list") -> pa.Table:
    return pa.table({"input_ids": list_array([[1, 2]], kind, layout)})


@pytest.mark.parametrize("kind", HOLDS, ids=str)
def test_holds_the_highest_id_and_no_more(kind: pa.DataType):
    assert judged(FIT, rows_of(kind), vocabulary={"size": HOLDS[kind]}).success
    result = judged(FIT, rows_of(kind), vocabulary={"size": HOLDS[kind] + 1})
    assert reasons(result) == {"too_narrow": 1}


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
def test_64_bits_hold_every_vocabulary(kind: pa.DataType):
    assert judged(FIT, rows_of(kind), vocabulary={"size": 2**62}).success


def test_the_tokenizer_counts_and_not_the_rows_that_pad_the_embedding():
    assert judged(FIT, rows_of(pa.uint16()), vocabulary={"size": 65536, "embedding_rows": 65664}).success
    assert not judged(FIT, rows_of(pa.uint16()), vocabulary={"embedding_rows": 65664}).success


@pytest.mark.parametrize("layout", ["list", "large_list", "fixed", "list_view"])
def test_holds_in_every_layout(layout: str):
    assert not judged(FIT, rows_of(pa.int16(), layout), vocabulary={"size": 50257}).success
    assert judged(FIT, rows_of(pa.uint16(), layout), vocabulary={"size": 50257}).success


def test_names_the_shard_and_the_type(tmp_path: Path):
    pq.write_table(rows_of(pa.int32()), tmp_path / "a.parquet")
    pq.write_table(rows_of(pa.int16()), tmp_path / "b.parquet")
    result = judged(FIT, tmp_path, vocabulary={"size": 50257})
    (finding,) = result.findings
    assert (finding.shard, finding.row, finding.column, finding.reason) == (
        "b.parquet",
        None,
        "input_ids",
        "too_narrow",
    )
    assert "int16" in str(finding.value)
    assert (result.element_count, result.unexpected_count) == (2, 1)


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64(), pa.string(), pa.bool_()])
def test_what_holds_no_integers(kind: pa.DataType):
    rows = pa.table({"input_ids": pa.array([[]], pa.list_(kind)), "tokens": pa.array([[1]])})
    assert reasons(judged(FIT, rows, vocabulary={"size": 100})) == {"not_integer": 1}


def test_a_column_that_is_no_list():
    rows = pa.table({"input_ids": list_array([[1]]), "labels": pa.array([1])})
    assert reasons(judged(FIT, rows, column="labels", vocabulary={"size": 100})) == {"not_integer": 1}


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (pa.int8(), None),
        (pa.int16(), None),
        (pa.int64(), None),
        (pa.uint8(), "cannot_hold_ignore_index"),
        (pa.uint16(), "cannot_hold_ignore_index"),
        (pa.uint32(), "cannot_hold_ignore_index"),
        (pa.uint64(), "cannot_hold_ignore_index"),
    ],
)
def test_labels_must_hold_ids_and_ignore_index(kind: pa.DataType, reason: str | None):
    rows = table_of(input_ids=[[1]], labels=list_array([[1]], kind))
    result = judged(FIT, rows, column="labels", vocabulary={"size": 100})
    assert reasons(result) == ({} if reason is None else {reason: 1})


def test_too_narrow_is_told_before_ignore_index():
    rows = table_of(input_ids=[[1]], labels=list_array([[1]], pa.uint8()))
    assert reasons(judged(FIT, rows, column="labels", vocabulary={"size": 50257})) == {"too_narrow": 1}


def test_ignore_index_may_be_another():
    rows = table_of(input_ids=[[1]], labels=list_array([[1]], pa.uint16()))
    assert judged(FIT, rows, column="labels", vocabulary={"size": 100}, ignore_index=65535).success
    rows = table_of(input_ids=[[1]], labels=list_array([[1]], pa.int8()))
    assert judged(FIT, rows, column="labels", vocabulary={"size": 100}, ignore_index=-128).success
    assert not judged(FIT, rows, column="labels", vocabulary={"size": 100}, ignore_index=-129).success


def test_input_ids_need_no_ignore_index():
    assert judged(FIT, rows_of(pa.uint16()), vocabulary={"size": 100}).success


def test_position_ids_must_hold_max_length():
    rows = table_of(input_ids=[[1]], position_ids=list_array([[0]], pa.int8()))
    assert judged(FIT, rows, column="position_ids", max_length=127).success
    assert reasons(judged(FIT, rows, column="position_ids", max_length=2048)) == {"too_narrow": 1}
    assert judged(FIT, rows, column="position_ids").unjudged is not None


@pytest.mark.parametrize("kind", [pa.int8(), pa.bool_(), pa.uint8()])
def test_a_mask_holds_no_ids(kind: pa.DataType):
    rows = table_of(input_ids=[[1]], attention_mask=list_array([[1]], kind))
    assert judged(FIT, rows, column="attention_mask", vocabulary={"size": 50257}).success


def test_a_mask_of_fractions_is_no_integer():
    rows = table_of(input_ids=[[1]], attention_mask=list_array([[0.0]], pa.float32()))
    assert reasons(judged(FIT, rows, column="attention_mask")) == {"not_integer": 1}


def test_prefixed_columns_have_the_role_of_their_ending():
    rows = table_of(chosen_input_ids=[[1]], chosen_labels=list_array([[1]], pa.uint16()))
    result = judged(FIT, rows, column="chosen_labels", vocabulary={"size": 100})
    assert reasons(result) == {"cannot_hold_ignore_index": 1}


def test_a_mapped_role_is_judged_by_the_type_of_its_column():
    rows = table_of(tokens=list_array([[1]], pa.int8()), input_ids=[[1]])
    assert not judged(FIT, rows, columns={"input_ids": "tokens"}, vocabulary={"size": 1000}).success


def test_a_column_of_nothing_but_nulls_fits():
    rows = pa.table({"input_ids": list_array([[1]]), "labels": pa.array([[]], pa.list_(pa.null()))})
    assert judged(FIT, rows, column="labels", vocabulary={"size": 100}).success


def test_without_a_vocabulary_it_cannot_be_judged():
    result = judged(FIT, rows_of(pa.int32()))
    assert not result.success
    assert result.unjudged is not None


def test_without_the_column_it_cannot_be_judged():
    result = judged(FIT, rows_of(pa.int32()), column="labels", vocabulary={"size": 100})
    assert not result.success
    assert result.unjudged is not None


def test_a_shard_without_the_column_is_left_out(tmp_path: Path):
    pq.write_table(table_of(input_ids=[[1]], labels=[[1]]), tmp_path / "a.parquet")
    pq.write_table(table_of(input_ids=[[1]]), tmp_path / "b.parquet")
    result = judged(FIT, tmp_path, column="labels", vocabulary={"size": 100})
    assert result.success
    assert result.element_count == 1


@pytest.mark.parametrize("column", ["input_ids", "attention_mask", "labels"])
@pytest.mark.parametrize("vocabulary", [{}, {"size": 100}])
def test_a_shard_whose_column_is_nothing_but_nulls_never_passes(
    column: str, vocabulary: dict[str, int], tmp_path: Path
):
    whole = {"input_ids": [[5, 6], [6, 7]], "attention_mask": [[1, 1], [1, 1]], "labels": [[5, 6], [6, 7]]}
    table = table_of(**whole)
    pq.write_table(table, tmp_path / "a.parquet")
    place = table.schema.get_field_index(column)
    pq.write_table(table.set_column(place, column, pa.nulls(2)), tmp_path / "b.parquet")
    for data in (tmp_path, tmp_path / "b.parquet"):
        result = dataguard.validate(data, suite="sft", vocabulary=vocabulary or None)
        told = [str(each.findings or each.unjudged) for each in result.results if not each.success]
        assert not result.success
        assert any("b.parquet" in text and "null" in text for text in told)
        assert not any(
            "no shard has a column" in each["missing"] and column in each["missing"] for each in result.meta["skipped"]
        )
