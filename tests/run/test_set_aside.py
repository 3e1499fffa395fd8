"""The rows that are set aside, with what each fails: the same in memory and range by range."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import dataguard
from dataguard.expectations import rows_unique
from dataguard.expectations.context import ShardFacts
from dataguard.result import ExpectationResult
from dataguard.run import set_aside
from dataguard.run.judge import Verdicts
from dataguard.run.set_aside import rows_set_aside
from dataguard.suite.model import Suite
from tests.builders import scratch_in, table_of

SHARDS = [ShardFacts("a", rows=10), ShardFacts("broken"), ShardFacts("b", rows=30)]
SUITE = Suite("t", ())
Found = dict[tuple[int, int], str]


def verdicts(*found: tuple[str, Found], counted: bool = True) -> Verdicts:
    """Return verdicts of expectations: their types, and {(shard, row): reason}."""
    results = [
        ExpectationResult(kind, {}, "warning", success=False, unexpected_count=len(rows) if counted else None)
        for kind, rows in found
    ]
    frames = [
        pl.LazyFrame(
            [(*place, reason) for place, reason in sorted(rows.items())],
            schema={"shard": pl.UInt32, "row": pl.Int64, "reason": pl.String},
            orient="row",
        )
        for _, rows in found
    ]
    return Verdicts(tuple(results), (), tuple(frames))


def by_hand(*found: tuple[str, Found]) -> list[tuple[int, int, list[str], list[str]]]:
    rows: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for kind, faults in found:
        for place, reason in faults.items():
            told = rows.setdefault(place, [])
            if (kind, reason) not in told:
                told.append((kind, reason))
    return [(*place, [kind for kind, _ in told], [why for _, why in told]) for place, told in sorted(rows.items())]


def places() -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.just(0), st.integers(0, 9)) | st.tuples(st.just(2), st.integers(0, 29))


@given(
    st.lists(
        st.tuples(st.sampled_from(["expect_a", "expect_b"]), st.dictionaries(places(), st.sampled_from(["x", "y"]))),
        max_size=4,
    ),
    st.integers(1, 50),
    st.booleans(),
)
def test_ranges_put_together_what_a_plain_loop_does(
    found: list[tuple[str, Found]], range_rows: int, counted: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        together = rows_set_aside(verdicts(*found, counted=counted), SUITE, SHARDS, None).collect()
        patch.setattr(set_aside, "FEW", 0)
        patch.setattr(set_aside, "RANGE_ROWS", range_rows)
        ranges = rows_set_aside(verdicts(*found, counted=counted), SUITE, SHARDS, scratch_in(Path(folder))).collect()
    assert ranges.rows() == by_hand(*found)
    assert_frame_equal(ranges, together)


def test_more_faults_than_a_machine_word_has_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_aside, "FEW", 0)
    found = [(f"expect_{number}", {(0, number % 10): "x", (2, 3): "y"}) for number in range(150)]
    assert rows_set_aside(verdicts(*found), SUITE, SHARDS, scratch_in(tmp_path)).collect().rows() == by_hand(*found)


def files(folder: Path) -> dict[str, Any]:
    """Return what a run wrote, but for what may differ from run to run."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    del found["run.json"]
    return found


def test_a_run_that_divides_its_rows_writes_what_one_in_memory_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        rows = [[token % 7, token % 3, 5] for token in range(20)] + [[], [200], [5, 5]]
        pq.write_table(table_of(input_ids=rows, source=["web", "code"] * 11 + ["web"]), tmp_path / f"{name}.parquet")
    asked = ["expect_rows_to_be_unique", "expect_token_ids_to_be_in_vocabulary", "expect_rows_not_to_be_empty"]
    suite = {"name": "t", "expectations": [{"type": each} for each in asked]}

    def run(out: str) -> dict[str, Any]:
        data = sorted(tmp_path.glob("*.parquet"))
        dataguard.validate(data, suite=suite, vocab_size=100, store=None, out=tmp_path / out)
        return files(tmp_path / out)

    plain = run("plain")
    monkeypatch.setattr(rows_unique, "PART_ROWS", 8)
    monkeypatch.setattr(set_aside, "FEW", 0)
    monkeypatch.setattr(set_aside, "RANGE_ROWS", 16)
    assert run("divided") == plain
    reasons = {
        each["expectation_config"]["type"]: each["result"]["details"]["reasons"]
        for each in json.loads(plain["report.json"])["results"]
    }
    assert reasons == {asked[0]: {"duplicate": 44}, asked[1]: {"beyond_limit": 3}, asked[2]: {"no_tokens": 3}}
