"""When report.html is written, what it is made from, and that nothing else changes by it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dataguard
from dataguard.errors import OutputError, UsageError
from dataguard.reports.html.beside import Beside
from dataguard.run import page as pages
from dataguard.run import unchanged
from dataguard.run import validate as validating
from tests.builders import byte_tokenizer, ids_of

SUITE = {
    "name": "test",
    "expectations": [
        {"type": "expect_token_ids_to_be_in_vocabulary", "kwargs": {"limit": 1_000}},
        {"type": "expect_rows_not_to_be_periodic", "kwargs": {"max_repeats": 20}},
        {"type": "expect_padding_side_to_be"},
    ],
}
drawn = pytest.mark.skipif(
    find_spec("vl_convert") is None,
    reason="the charts need vl-convert-python (the extra report)",
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two sources: one padded right, one left, with an id out of range, and a row of one token."""
    rows = {
        "web": [[*ids_of("good row"), 0, 0], [5, 9_999, *ids_of("abcdefg"), 0], ids_of("x" * 40)],
        "code": [[0, 0, *ids_of("def f(): 1")], [0, *ids_of("1234567890")]],
    }
    for source, own in rows.items():
        place = tmp_path / "data" / source / "a.parquet"
        place.parent.mkdir(parents=True)
        mask = [[int(each != 0) for each in row] for row in own]
        columns = {"input_ids": own, "attention_mask": mask, "labels": own}
        pq.write_table(pa.table({name: pa.array(each, pa.list_(pa.int32())) for name, each in columns.items()}), place)
    return tmp_path / "data"


def judged(data: Any, out: Path | None, **options: Any) -> dataguard.Result:
    return dataguard.validate(data, suite=SUITE, tokenizer=byte_tokenizer(), out=out, **{"store": None, **options})


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Beside]:
    """Return what pages are made of, which are then empty: no library is needed."""
    seen: list[Beside] = []

    def told(result: Any, beside: Beside) -> str:
        seen.append(beside)
        return "<!-- dataguard -->"

    monkeypatch.setattr(validating, "html_report", told)
    monkeypatch.setattr(pages, "demand_library", lambda: None)
    return seen


def test_a_page_has_the_numbers_of_each_source(data: Path, tmp_path: Path, shown: list[Beside]):
    judged(data, tmp_path / "out", reports=["html"])
    (beside,) = shown
    by_name = {each.source: each for each in beside.sources}
    assert by_name["web"].padding == {"none": 1, "left": 0, "right": 2, "both": 0}
    assert by_name["code"].padding == {"none": 0, "left": 2, "right": 0, "both": 0}
    assert (by_name["web"].periodic, by_name["code"].periodic) == (1, 0)
    assert by_name["code"].shares["digit_fraction"] == pytest.approx((1 / 8 + 1) / 2, abs=1e-3)
    assert by_name["web"].shares["supervised_fraction"] > 1
    assert sum(beside.shares["digit_fraction"].counts) == 5
    assert beside.shares["digit_fraction"].counts[-1] == 1
    assert beside.ids is not None
    assert sum(beside.ids.counts) == 8 + 9 + 40 + 10 + 10
    assert beside.ids.counts[8] == 1  # 9,999 lies from 8,192 on
    assert beside.repeats is not None
    assert dict(zip(beside.repeats.edges, beside.repeats.counts, strict=False)) == {0: 4, 16: 0, 32: 1}


def test_a_page_has_the_failing_rows(data: Path, tmp_path: Path, shown: list[Beside]):
    judged(data, tmp_path / "out", reports=["html"])
    rows = {(cut.row.shard, cut.row.row): cut for cut in shown[0].rows}
    bad = rows["web/a.parquet", 1]
    assert bad.row.tokens[0].ids[:2] == [5, 9_999]
    assert 1 in bad.row.tokens[0].guilty
    assert {mark.reason for mark in bad.row.marks} >= {"beyond_limit"}
    assert (bad.first, bad.tokens) == (0, 10)
    assert ("web/a.parquet", 2) in rows


def test_of_a_long_row_the_stretch_around_the_fault_is_read(tmp_path: Path, shown: list[Beside]):
    row = [*ids_of("ab") * 15_000, 9_999, *ids_of("ab") * 15_000]
    table = pa.table({"input_ids": pa.array([row], pa.large_list(pa.int64())), "attention_mask": [[1] * len(row)]})
    judged(table, tmp_path / "out", reports=["html"])
    ((cut,)) = shown[0].rows
    (place,) = [at for at in cut.row.tokens[0].guilty if cut.row.tokens[0].ids[at] == 9_999]
    assert cut.first + place == 30_000
    assert len(cut.row.tokens[0]) == pages.MOST_TOKENS
    assert cut.tokens == len(row)
    assert {mark.position for mark in cut.row.marks if mark.reason == "beyond_limit"} == {30_000}


def test_rows_are_few_however_many_fail(tmp_path: Path, shown: list[Beside]):
    table = pa.table({"input_ids": [[9_999, 5]] * 5_000})
    judged(table, tmp_path / "out", reports=["html"])
    assert len(shown[0].rows) == pages.MOST_EACH


@pytest.mark.parametrize("suite", [SUITE, "sft"])
def test_the_report_is_the_same_with_a_page(data: Path, tmp_path: Path, shown: list[Beside], suite: Any):
    for name, reports in (("with", ["html"]), ("without", [])):
        dataguard.validate(
            data, suite=suite, tokenizer=byte_tokenizer(), out=tmp_path / name, store=None, reports=reports
        )
    texts = [(tmp_path / name / "report.json").read_text() for name in ("with", "without")]
    assert texts[0] == texts[1]


def test_a_page_of_an_earlier_run_goes(data: Path, tmp_path: Path, shown: list[Beside]):
    out = tmp_path / "out"
    judged(data, out, reports=["html"])
    assert (out / "report.html").is_file()
    judged(data, out)
    assert not (out / "report.html").exists()


def test_a_page_of_somebody_else_stays(data: Path, tmp_path: Path, shown: list[Beside]):
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.html").write_text("<p>mine")
    judged(data, out)
    assert (out / "report.html").read_text() == "<p>mine"
    with pytest.raises(OutputError, match="in the way"):
        judged(data, out, reports=["html"])
    assert (out / "report.html").read_text() == "<p>mine"


def test_a_remembered_verdict_has_its_page(
    data: Path, tmp_path: Path, shown: list[Beside], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(unchanged, "SETTLED_NS", -(10**12))
    out, store = tmp_path / "out", tmp_path / "store"
    for _ in range(2):
        dataguard.validate(data, vocab_size=50_000, out=out, store=store, reports=["html"])
    assert len(shown) == 1
    (out / "report.html").unlink()
    dataguard.validate(data, vocab_size=50_000, out=out, store=store, reports=["html"])
    assert len(shown) == 2
    assert (out / "report.html").is_file()


def test_a_page_needs_a_place(data: Path, shown: list[Beside]):
    with pytest.raises(UsageError, match="needs a place"):
        judged(data, None, reports=["html"])


def test_without_the_library_one_message_names_the_extra(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("dataguard.reports.html.charts.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"dataguard\[report\]"):
        judged(data, tmp_path / "out", reports=["html"])
    assert not (tmp_path / "out").exists()


@drawn
def test_the_page_is_written(data: Path, tmp_path: Path):
    judged(data, tmp_path / "out", reports=["html"])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count("<svg") >= 6
    assert "beyond_limit" in page


@drawn
@pytest.mark.parametrize("rows", [[], [[]], [None], [[0]], [[1, 2, 3]]])
def test_a_page_of_next_to_nothing(tmp_path: Path, rows: list[Any]):
    table = pa.table({"input_ids": pa.array(rows, pa.list_(pa.int32()))})
    judged(table, tmp_path / "out", reports=["html"])
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
