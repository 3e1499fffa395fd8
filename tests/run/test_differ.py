"""Two reports side by side: what counts as worse, what is no report, and how far distributions moved."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from dataguard.errors import DataError, OutputError
from dataguard.expectations.baseline import Distribution
from dataguard.reports.difference import Change, Difference
from dataguard.reports.json_report import report_json
from dataguard.result import ExpectationResult, Finding, Result, Unjudged
from dataguard.run.differ import diff, read_report
from dataguard.run.drift import drift_of
from dataguard.version import __version__

ROW = (Finding("bad", "a", 3),)
SHARD = (Finding("truncated", "a"),)


def told(name: str = "expect_x", **changes: Any) -> ExpectationResult:
    given: dict[str, Any] = {"kwargs": {}, "severity": "critical", "success": True, **changes}
    return ExpectationResult(name, **given)


def failed(unexpected: int, judged: int, findings: tuple[Finding, ...] = ROW, **changes: Any) -> ExpectationResult:
    counts = {"unexpected_count": unexpected, "element_count": judged, "findings": findings}
    return told(success=False, **{**counts, "details": {"reasons": {"bad": unexpected}}, **changes})


UNJUDGED = told(success=False, unjudged=Unjudged("no pad id", "give one"))
SKIPPED = {"type": "expect_x", "column": "input_ids", "missing": "no pad id", "fix": "give one"}


def written(place: Path, *results: ExpectationResult, **meta: Any) -> Path:
    place.mkdir()
    (place / "report.json").write_text(report_json(Result("s", {}, results, meta)), encoding="utf-8")
    return place


@pytest.fixture
def compared(tmp_path: Path) -> Any:
    def compare(old: Any, new: Any, **options: Any) -> Difference:
        sides = []
        for name, side in (("old", old), ("new", new)):
            skipped = [each for each in side if isinstance(each, dict)]
            results = [each for each in side if not isinstance(each, dict)]
            sides.append(written(tmp_path / name, *results, skipped=skipped))
        return diff(*sides, **options)

    return compare


def kinds(found: Difference) -> list[str]:
    return [each.kind for each in found.changes]


@pytest.mark.parametrize(
    ("old", "new", "kind", "success"),
    [
        ([told()], [told()], None, True),
        ([told()], [failed(1, 5)], "broken", False),
        ([told()], [UNJUDGED], "broken", False),
        ([told(severity="info")], [told(success=False, severity="info", unjudged=UNJUDGED.unjudged)], "broken", False),
        ([told()], [SKIPPED], "broken", False),
        ([told(severity="warning")], [SKIPPED], "broken", True),
        ([told(severity="warning")], [failed(1, 5, severity="warning")], "broken", True),
        ([failed(1, 5)], [told()], "mended", True),
        ([UNJUDGED], [told()], "mended", True),
        ([failed(1, 5)], [failed(1, 5)], None, True),
        ([failed(1, 5)], [failed(2, 5)], "worse", False),
        ([failed(3, 520)], [failed(4, 690)], "changed", True),
        ([failed(3, 520)], [failed(300, 690)], "worse", False),
        ([failed(3, 520)], [failed(2, 690)], "changed", True),
        ([failed(1, 5, SHARD)], [failed(3, 10, SHARD)], "worse", False),
        ([failed(1, 5, SHARD)], [failed(2, 10, SHARD)], "changed", True),
        ([failed(1, 5)], [UNJUDGED], "changed", True),
        ([], [failed(1, 5)], "added", True),
        ([SKIPPED], [failed(1, 5)], "added", True),
        ([SKIPPED], [told()], "added", True),
        ([SKIPPED], [SKIPPED], None, True),
        ([failed(1, 5)], [SKIPPED], "removed", True),
        ([told()], [], "removed", True),
        ([told()], [told(severity="info")], "changed", True),
        ([told(kwargs={"max_length": 9})], [told(kwargs={"max_length": 12})], "changed", True),
    ],
)
def test_what_becomes_of_an_expectation(compared: Any, old: Any, new: Any, kind: str | None, success: bool) -> None:
    found = compared(old, new)
    assert kinds(found) == ([] if kind is None else [kind])
    assert found.success is success
    assert found.to_dict()["success"] is success


@pytest.mark.parametrize(("fail_on", "success"), [("critical", True), ("warning", False), ("info", False)])
def test_what_is_milder_than_asked_for_fails_nothing(compared: Any, fail_on: Any, success: bool) -> None:
    found = compared([told(severity="warning")], [failed(1, 5, severity="warning")], fail_on=fail_on)
    assert found.success is success


def test_expectations_of_one_type_are_told_apart(compared: Any) -> None:
    old = [told(kwargs={"max": 1}), told(kwargs={"max": 2}), told(kwargs={"column": "labels"})]
    new = [told(kwargs={"column": "labels"}), failed(1, 5, kwargs={"max": 2}), told(kwargs={"max": 7})]
    found = compared(old, new)
    assert [(each.kind, each.name) for each in found.changes] == [
        ("broken", "expect_x[column=input_ids, max=2]"),
        ("changed", "expect_x[column=input_ids, max=7]"),
    ]
    assert found.alike == 1


def test_numbers_of_the_whole_and_of_sources(tmp_path: Path) -> None:
    old = written(tmp_path / "a", rows=5, tokens=50, shards={"count": 2, "intact": 2}, accounting={"rejected": None})
    sources = [{"source": "web", "rows": 4, "tokens": 9}, {"source": None, "others": 3, "rows": 1}]
    new = written(tmp_path / "b", rows=7, tokens=50, shards={"count": 2, "intact": 1}, sources=sources)
    amounts = {each.name: (each.old, each.new) for each in diff(old, new).amounts}
    assert amounts == {
        "shards": (2, 2),
        "shards intact": (2, 1),
        "rows": (5, 7),
        "tokens": (50, 50),
        "rows of web": (0, 4),
        "tokens of web": (0, 9),
    }


def test_what_keeps_reports_from_being_compared_is_told(tmp_path: Path) -> None:
    old = written(tmp_path / "a", partial=True, vocabulary={"fingerprint": "dg1:1"})
    new = written(tmp_path / "b", vocabulary={"fingerprint": "dg1:2"})
    assert diff(old, new).notes == [
        "the old report is of the first rows of each shard alone",
        "two tokenizers: ids of one mean nothing to the other",
    ]


GOOD = json.loads(report_json(Result("s", {}, (failed(1, 5),), {})))


def changed(*path: Any, to: Any) -> str:
    document = json.loads(json.dumps(GOOD))
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return json.dumps(document)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "[" * 100_000,
        '{"meta": {"other": 1}}',
        json.dumps(GOOD)[:-40],
        json.dumps(GOOD) + "}",
        changed("meta", "dataguard", "version", to="99.0.0"),
        changed("meta", "dataguard", "version", to=1),
        changed("meta", "dataguard", "skipped", to=[1]),
        changed("results", to={}),
        changed("results", to=[1]),
        changed("results", 0, "success", to="yes"),
        changed("results", 0, "result", to=None),
        changed("results", 0, "result", "unexpected_count", to=-1),
        changed("results", 0, "result", "unexpected_count", to=True),
        changed("results", 0, "result", "details", to={"reasons": {"bad": "1"}}),
        changed("results", 0, "result", "partial_unexpected_index_list", to=[1]),
        changed("results", 0, "expectation_config", "severity", to="fatal"),
        changed("suite_name", to=None),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_what_is_no_report_of_ours_is_refused_in_one_message(tmp_path: Path, text: str, side: int) -> None:
    written(tmp_path / "good", failed(1, 5))
    (tmp_path / "bad.json").write_text(text)
    sides = [tmp_path / "good", tmp_path / "bad.json"]
    with pytest.raises(DataError) as caught:
        diff(sides[side], sides[1 - side])
    assert str(tmp_path / "bad.json") in str(caught.value)
    assert caught.value.why
    assert caught.value.fix


def test_bytes_pipes_and_nothing_at_all_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("bytes", "pipe", "folder", "absent"):
        with pytest.raises(DataError):
            read_report(tmp_path / name)


def test_the_comparison_is_written_where_it_is_asked_for_and_never_over_a_report(tmp_path: Path) -> None:
    old, new = written(tmp_path / "old", told()), written(tmp_path / "new", failed(1, 5))
    for _ in range(2):
        found = diff(old, new, out=tmp_path / "out")
    assert json.loads((tmp_path / "out/diff.json").read_text()) == found.to_dict()
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["diff.json"]
    with pytest.raises(OutputError):
        diff(old, new, out=tmp_path)
    (tmp_path / "out/diff.json").write_text("{}")
    with pytest.raises(OutputError, match="in the way"):
        diff(old, new, out=tmp_path / "out")


def test_reports_of_real_runs_are_alike_and_comparable(fixtures: Path, tmp_path: Path) -> None:
    import dataguard

    for name in ("faulty", "faulty_sft"):
        dataguard.validate(fixtures / name, out=tmp_path / name, store=None)
    same = diff(tmp_path / "faulty", tmp_path / "faulty" / "report.json")
    assert (same.success, same.changes, same.notes) == (True, [], [])
    assert [each.index for each in same.drifts] == [0.0] * len(same.drifts)
    assert same.drifts
    other = diff(tmp_path / "faulty", tmp_path / "faulty_sft")
    assert not other.success
    assert "two suites: pretrain, sft" in other.notes
    assert any(each.moved for each in other.drifts)


class TestDrift:
    """A distribution of `counts` in bins: below the first edge, between edges, from the last edge on."""

    @staticmethod
    def of(edges: tuple[int, ...], counts: tuple[int, ...]) -> Distribution:
        return Distribution(sum(counts), sum(counts), counts, edges)

    def test_in_the_same_bins_it_is_the_index_itself(self) -> None:
        one, other = self.of((1, 5, 9), (0, 500, 500, 0)), self.of((1, 5, 9), (0, 100, 900, 0))
        found = drift_of("input_ids", "tokens", one, other)
        assert (found.at_least, found.moved) == (False, True)
        assert found.index == pytest.approx((0.4) * __import__("math").log(0.9 / 0.5 * 0.5 / 0.1), rel=0.02)
        assert drift_of("input_ids", "tokens", one, one).index == 0

    def test_other_bins_of_the_same_rows_are_no_drift(self) -> None:
        rows = range(1_000)
        bins = [(0, 100, 300, 1_000), (0, 250, 999, 1_001), (17, 18, 500)]
        for edges in bins:
            for others in bins:
                one, other = (self.binned(rows, each) for each in (edges, others))
                found = drift_of("input_ids", "tokens", one, other)
                assert (found.index, found.moved, found.at_least) == (0, False, edges != others)

    def test_in_other_bins_it_is_at_least_so_far(self) -> None:
        old = self.binned(range(1_000), (0, 100, 300, 500, 1_000))
        new = self.binned([each // 4 for each in range(1_000)], (0, 30, 60, 120, 250))
        found = drift_of("input_ids", "tokens", old, new)
        assert found.moved
        exact = self.binned([each // 4 for each in range(1_000)], old.edges)
        assert found.index > 0
        assert drift_of("input_ids", "tokens", old, exact).moved

    @pytest.mark.parametrize("seed", range(40))
    def test_that_is_never_more_than_in_finer_classes(self, seed: int) -> None:
        dice = random.Random(seed)  # no secret
        rows = [[dice.choice((0, 0, 1, dice.randrange(9), dice.randrange(40))) for _ in range(2_000)] for _ in range(2)]
        bins = [tuple(sorted(dice.sample(range(1, 40), dice.randrange(1, 9)))) for _ in range(2)]
        one, other = (self.binned(each, edges) for each, edges in zip(rows, bins, strict=True))
        fine = [self.binned(each, tuple(range(1, 40))) for each in rows]
        told = drift_of("input_ids", "tokens", one, other).index
        assert told <= drift_of("input_ids", "tokens", *fine).index + 0.005

    def binned(self, rows: Any, edges: tuple[float, ...]) -> Distribution:
        counts = [0] * (len(edges) + 1)
        for row in rows:
            counts[sum(row >= edge for edge in edges)] += 1
        return self.of(edges, tuple(counts))  # type: ignore[arg-type]

    def test_a_source_that_took_another_one_s_place_is_seen(self) -> None:
        one, other = (Distribution(900, 900, (500, 500, 0), names=("web", name)) for name in ("code", "books"))
        assert drift_of("input_ids", "source", one, other).moved
        rest = Distribution(900, 900, (500, 400, 100), names=("web", "code"))
        assert not drift_of("input_ids", "source", rest, rest).moved

    def test_of_few_rows_chance_is_taken_off(self) -> None:
        one, other = self.of((1, 5, 9), (0, 3, 2, 0)), self.of((1, 5, 9), (0, 1, 4, 0))
        found = drift_of("input_ids", "tokens", one, other)
        assert found.index > 0.1
        assert not found.moved


def test_a_change_counts_by_what_is_judged_now() -> None:
    assert __version__.count(".") == 2
    assert not Change("mended", "x", "x", None, None).is_worse("info")
