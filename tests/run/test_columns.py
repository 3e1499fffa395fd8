"""A column that is asked for by name is there, or the message says who asked, and what there is instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dataguard
from dataguard.errors import DataError, UsageError
from dataguard.run.request import Request
from dataguard.run.run import run
from tests.builders import list_array

NOT_NULL = [{"type": "expect_rows_not_to_be_null"}]


def folder_of(place: Path, **shards: list[str]) -> Path:
    """Write shards with these columns, each of one row."""
    place.mkdir()
    for name, columns in shards.items():
        pq.write_table(pa.table({column: list_array([[1, 2]]) for column in columns}), place / f"{name}.parquet")
    return place


def suite_of(**columns: str) -> dict[str, Any]:
    return {"name": "mine", "expectations": NOT_NULL, "meta": {"dataguard": {"columns": columns}}}


def refused(data: Path, kind: type[UsageError] = DataError, **options: Any) -> UsageError:
    with pytest.raises(kind) as caught:
        dataguard.validate(data, store=None, jobs=1, **options)
    return caught.value


def test_an_unknown_role_is_refused_with_the_nearest(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "d", a=["codes"])
    error = refused(data, UsageError, columns={"inputids": "codes"})
    assert (error.what, error.where) == ("there is no role inputids", "--column inputids=codes")
    assert error.fix == "did you mean input_ids?"


def test_a_role_may_have_a_prefix(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "d", a=["codes", "chosen"])
    columns = {"input_ids": "codes", "chosen_input_ids": "chosen"}
    entry = {"type": "expect_rows_not_to_be_null", "kwargs": {"column": "chosen_input_ids"}}
    assert dataguard.validate(data, suite={"expectations": [entry]}, columns=columns, store=None).success


def test_a_column_that_no_shard_has_is_refused_with_those_seen_the_nearest_first(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "d", a=["apples", "codes"], b=["codes", "pears"])
    error = refused(data, columns={"input_ids": "codez"})
    assert error.what == "no shard has a column codez, which was asked for as input_ids"
    assert error.where == "--column input_ids=codez"
    assert error.why == "the 2 shards have codes, pears, apples"
    assert error.fix == "did you mean codes?"
    strange = refused(data, columns={"labels": "xxxx"})
    assert strange.fix == "give --column labels=NAME with one of these"


def test_one_shard_that_has_it_is_enough(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "d", a=["codes"], b=["codes", "marks"])
    result = dataguard.validate(data, suite={"expectations": NOT_NULL}, columns={"labels": "marks"}, store=None)
    assert result.success


def test_a_suite_that_asks_is_named(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "d", a=["codes"])
    error = refused(data, suite=suite_of(input_ids="tokens"))
    assert error.what == "no shard has a column tokens, which was asked for as input_ids"
    assert error.where == "the suite mine (a dict), columns: {input_ids: tokens}"
    assert error.why == "a.parquet has codes"


def test_an_option_over_the_suite_takes_the_blame_away(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "d", a=["codes"])
    assert dataguard.validate(data, suite=suite_of(input_ids="no"), columns={"input_ids": "codes"}, store=None).success


def test_a_project_file_that_asks_is_named(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "d", a=["codes"])
    columns = {"input_ids": "tokens"}
    request = Request(data, suite=suite_of(), columns=columns, columns_from={"input_ids": "p/dataguard.yaml"})
    with pytest.raises(DataError) as caught:
        run(request)
    assert caught.value.where == "p/dataguard.yaml, columns: {input_ids: tokens}"


def test_without_any_intact_shard_the_shards_are_the_finding(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    suite = {"expectations": [{"type": "expect_shards_to_be_intact"}]}
    result = dataguard.validate(tmp_path / "a.parquet", suite=suite, columns={"input_ids": "tokens"}, store=None)
    assert not result.success


def test_many_columns_are_not_all_told(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "d", a=[f"c{place:02}" for place in range(20)])
    why = refused(data, columns={"input_ids": "tokens"}).why
    assert why is not None
    assert why.endswith(", and 8 more")


def test_data_without_token_ids_is_refused(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "d", a=["codes", "marks"])
    error = refused(data)
    assert error.what == "no column of token ids was found"
    assert error.why == "columns of integer lists: codes, marks"
