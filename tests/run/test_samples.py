"""What a run judges of its sampler, beside the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dataguard
from dataguard.cli import run
from dataguard.errors import UsageError
from tests.builders import table_of

EIGHT = {"world_size": 8, "batch_size": 2, "shuffle": False}


def rows(count: int) -> pa.Table:
    return table_of(input_ids=[[5, 6, row + 7] for row in range(count)])


def test_the_sampler_is_judged_into_the_same_report():
    result = dataguard.validate(rows(100), suite="pretrain", vocab_size=500, sampler=EIGHT)
    types = [each.type for each in result.results]
    assert types.index("expect_shards_to_be_intact") < types.index("expect_ranks_to_be_disjoint")
    assert result.success
    assert result.meta["sampler"]["world_size"] == 8
    (padded,) = (each for each in result.results if each.type == "expect_no_padded_duplicates")
    assert padded.observed_value == 8


def test_what_the_suite_says_of_the_sampler_holds():
    entries = [
        {"type": "expect_rows_not_to_be_null"},
        {"type": "expect_no_padded_duplicates", "kwargs": {"exact": True}},
    ]
    result = dataguard.validate(rows(100), suite={"expectations": entries}, sampler=EIGHT)
    (padded,) = (each for each in result.results if each.type == "expect_no_padded_duplicates")
    assert not padded.success
    assert {each.shard for each in padded.findings} == {"table"}


def test_a_rank_without_rows_fails_the_run():
    result = dataguard.validate(rows(3), suite="pretrain", vocab_size=500, sampler={**EIGHT, "drop_last": "both"})
    assert "expect_sampler_arguments_to_be_valid" in {each.type for each in result.failures()}


@pytest.mark.parametrize(
    ("sampler", "told"),
    [
        ({"world": 8}, "did you mean world_size"),
        ({"world_size": 0}, "--world-size cannot be 0"),
        ({"drop_last": "some"}, "--drop-last cannot be 'some'"),
        ({"shuffle": "no"}, "--shuffle cannot be 'no'"),
        ({1: 2}, "sampler has no setting 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(sampler: dict[Any, object], told: str):
    with pytest.raises(UsageError, match=told):
        dataguard.validate(rows(3), sampler=sampler)


def test_the_first_rows_alone_say_nothing_of_the_sampler():
    with pytest.raises(UsageError, match="--head"):
        dataguard.validate(rows(3), sampler=EIGHT, head=1)


class TestProjectFile:
    @pytest.fixture(autouse=True)
    def work(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "data").mkdir()
        pq.write_table(rows(50), tmp_path / "data" / "a.parquet")
        return tmp_path

    def test_names_how_the_run_samples(self, work: Path, capsys: pytest.CaptureFixture[str]):
        (work / "dataguard.yaml").write_text("sampler: {world_size: 4, shuffle: false, drop_last: both}\n")
        assert run(["validate", "data", "--vocab-size", "500", "--no-store"]) == 0
        told = capsys.readouterr().out
        assert "expect_ranks_to_be_disjoint" in told
        assert "sampler from dataguard.yaml" in " ".join(told.split())

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("sampler: {world_sise: 4}", "world_sise"),
            ("sampler: {world_size: 0}", "at least 1"),
            ("sampler: {drop_last: some}", "'loader'"),
            ("sampler: 8", "a mapping"),
        ],
    )
    def test_is_refused_with_its_line(self, work: Path, capsys: pytest.CaptureFixture[str], text: str, told: str):
        (work / "dataguard.yaml").write_text(text)
        assert run(["validate", "data", "--vocab-size", "500", "--no-store"]) == 2
        error = capsys.readouterr().err
        assert told in error
        assert "dataguard.yaml, line 1" in error
