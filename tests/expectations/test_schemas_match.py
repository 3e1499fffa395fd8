"""expect_schemas_to_match."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from dataguard.expectations.schemas_match import fits, meaning
from tests.builders import judged, reasons, table_of

MATCH = "expect_schemas_to_match"
IDS = [[1, 2]]


@pytest.fixture
def shards(tmp_path: Path):
    """Return what writes tables as a.arrow, b.arrow, … and gives their folder."""

    def written(*tables: pa.Table) -> Path:
        for name, table in zip("abcdef", tables, strict=False):
            pyarrow.feather.write_feather(table, tmp_path / f"{name}.arrow")
        return tmp_path

    return written


def found(result) -> list[tuple[str | None, str | None, str]]:
    return [(each.shard, each.column, each.reason) for each in result.findings]


def test_equal_schemas_hold(shards):
    result = judged(
        MATCH, shards(table_of(input_ids=IDS, source=["web"]), table_of(source=pa.array([], pa.string()), input_ids=[]))
    )
    assert result.success
    assert (result.element_count, result.unexpected_count, result.details) == (2, 0, {})


def test_is_a_warning_unless_told(shards):
    assert judged(MATCH, {"input_ids": IDS}).severity == "warning"


def test_a_column_that_a_shard_lacks_is_told_with_who_has_it(shards):
    both = table_of(input_ids=IDS, labels=IDS)
    result = judged(MATCH, shards(both, table_of(input_ids=IDS), both))
    assert not result.success
    assert found(result) == [("b.arrow", "labels", "missing_column")]
    assert result.findings[0].detail == "2 of 3 shards have it: a.arrow, c.arrow"
    assert (result.unexpected_count, reasons(result)) == (1, {"missing_column": 1})


def test_the_type_that_fewer_shards_have_is_different(shards):
    wide = table_of(input_ids=IDS, types={"input_ids": pa.int64()})
    result = judged(MATCH, shards(wide, table_of(input_ids=IDS), table_of(input_ids=IDS)))
    assert found(result) == [("a.arrow", "input_ids", "different_dtype")]
    [finding] = result.findings
    assert finding.detail == "2 of 3 shards have list<item: int32>"
    assert "layouts" not in result.details


def test_on_a_tie_the_first_shard_is_right(shards):
    result = judged(MATCH, shards(table_of(input_ids=IDS, n=[1]), table_of(input_ids=IDS, n=["1"])))
    assert found(result) == [("b.arrow", "n", "different_dtype")]


def test_other_layouts_of_the_same_values_are_only_noted(tmp_path):
    kinds = [pa.list_(pa.int32()), pa.large_list(pa.int32()), pa.list_(pa.int32(), 2), pa.list_(pa.null())]
    for place, kind in enumerate(kinds):
        rows = [[None, None]] if pa.types.is_null(kind.value_type) else IDS
        pyarrow.feather.write_feather(pa.table({"input_ids": pa.array(rows, kind)}), tmp_path / f"{place}.arrow")
    result = judged(MATCH, tmp_path)
    assert result.success
    assert result.details["layouts"]["input_ids"] == {
        "fixed_size_list<item: int32>[2]": 1,
        "large_list<item: int32>": 1,
        "list<item: int32>": 1,
        "list<item: null>": 1,
    }


def test_a_column_of_nothing_but_nulls_fits_every_type(shards):
    assert judged(MATCH, shards(table_of(input_ids=IDS, n=pa.nulls(1)), table_of(input_ids=IDS, n=["x"]))).success


def test_nulls_do_not_hide_that_two_others_differ(shards):
    result = judged(
        MATCH,
        shards(*(table_of(input_ids=IDS, n=n) for n in (pa.nulls(1), pa.nulls(1), ["x"], [1], [2]))),
    )
    assert found(result) == [("c.arrow", "n", "different_dtype")]


def test_a_child_s_name_makes_no_difference(tmp_path):
    table = table_of(input_ids=IDS)
    pq.write_table(table, tmp_path / "a.parquet")  # `element` there, `item` here
    pyarrow.feather.write_feather(table, tmp_path / "b.arrow")
    assert judged(MATCH, tmp_path).success


def test_a_shard_that_is_not_intact_is_not_compared(shards):
    folder = shards(table_of(input_ids=IDS, labels=IDS))
    (folder / "b.arrow").write_bytes(b"")
    assert judged(MATCH, folder).success


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (pa.string(), pa.large_string(), True),
        (pa.string_view(), pa.dictionary(pa.int32(), pa.string()), True),
        (pa.string(), pa.binary(), False),
        (pa.list_(pa.list_(pa.int32())), pa.large_list(pa.list_view(pa.int32())), True),
        (pa.list_(pa.list_(pa.int32())), pa.list_(pa.int32()), False),
        (pa.struct({"a": pa.int32(), "b": pa.string()}), pa.struct({"b": pa.large_string(), "a": pa.int32()}), True),
        (pa.struct({"a": pa.int32()}), pa.struct({"a": pa.int32(), "b": pa.string()}), False),
        (pa.struct({"a": pa.null()}), pa.struct({"a": pa.list_(pa.int8())}), True),
        (pa.map_(pa.string(), pa.int32()), pa.map_(pa.string(), pa.int64()), False),
        (pa.timestamp("us"), pa.timestamp("ns"), False),
        (pa.run_end_encoded(pa.int32(), pa.int64()), pa.int64(), True),
        (pa.bool_(), pa.uint8(), False),
    ],
)
def test_what_a_type_holds_is_compared_not_how(one, other, same):
    assert fits(meaning(one), meaning(other)) is same
    assert fits(meaning(other), meaning(one)) is same
