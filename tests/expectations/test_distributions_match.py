"""expect_distributions_to_match_baseline."""

from __future__ import annotations

import itertools
import json
import math
import random
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dataguard
from dataguard.errors import SuiteError
from dataguard.reports.json_report import report_json
from dataguard.result import ExpectationResult
from dataguard.run.rejudge import rejudge
from dataguard.suite.loading import load_suite
from tests.builders import byte_tokenizer, ids_of, reasons, table_of
from tests.examples import examples

MATCH = "expect_distributions_to_match_baseline"
FIRST = {"expectations": [{"type": "expect_rows_not_to_be_null"}]}
ASKING = {"expectations": [{"type": MATCH, "kwargs": {"baseline": "none"}}]}


def table(data: Any) -> pa.Table:
    return table_of(**data) if isinstance(data, dict) else data


def written(place: Path, data: Any, **options: Any) -> Path:
    """Write the report of some rows as a baseline."""
    options = {"suite": FIRST, **options}
    report = report_json(dataguard.validate(table(data), jobs=1, store=None, **options))
    path = place / "report.json"
    path.write_text(report, encoding="utf-8")
    return path


def match(baseline: Path, data: Any, *, tokenizer: Path | None = None, **kwargs: Any) -> ExpectationResult:
    suite = {"expectations": [{"type": MATCH, "kwargs": {"baseline": str(baseline), **kwargs}}]}
    result = dataguard.validate(table(data), suite=suite, tokenizer=tokenizer, jobs=1, store=None)
    return next(each for each in result.results if each.type == MATCH)


def of_lengths(lengths: list[int]) -> dict[str, Any]:
    return {"input_ids": [[5] * length for length in lengths]}


def psi_of(result: ExpectationResult) -> dict[str, float]:
    return {each["metric"]: each["psi"] for each in result.observed_value}


def drawn(seed: int, rows: int, low: int = 1, high: int = 60) -> list[int]:
    draw = random.Random(seed)
    return [draw.randint(low, high) for _ in range(rows)]


def test_a_data_set_matches_itself(tmp_path: Path):
    data = {**of_lengths(drawn(0, 500)), "source": ["web", "code"] * 250}
    result = match(written(tmp_path, data, suite=ASKING), data)
    assert result.success
    assert psi_of(result) == {"attended_tokens": 0, "source": 0, "token_use": 0}
    assert (result.element_count, result.unexpected_count, result.missing_count) == (3, 0, 0)


def test_another_draw_of_the_same_mix_matches(tmp_path: Path):
    baseline = written(tmp_path, of_lengths(drawn(1, 2000)))
    assert match(baseline, of_lengths(drawn(2, 2000)), max_psi=0).success


def test_other_lengths_are_drift(tmp_path: Path):
    result = match(written(tmp_path, of_lengths(drawn(1, 2000))), of_lengths(drawn(2, 2000, 30, 90)))
    assert not result.success
    assert (result.severity, reasons(result)) == ("warning", {"drift": 1})
    (found,) = result.findings
    assert (found.reason, found.shard, found.row, found.source) == ("drift", None, None, None)
    assert found.value == psi_of(result)["attended_tokens"]
    assert found.detail is not None
    assert found.detail.startswith("attended_tokens: 61 and more was 0.0% and is ")


def test_few_rows_are_no_drift_and_say_so(tmp_path: Path):
    baseline = written(tmp_path, of_lengths(drawn(1, 2000)))
    alarms = 0
    for seed in range(40):
        result = match(baseline, of_lengths(drawn(seed + 50, 50)))
        alarms += not result.success
        assert any("of 50 rows and 2,000 an index up to" in note for note in result.details["notes"])
    assert alarms == 0
    assert not match(baseline, of_lengths(drawn(3, 50, 200, 300))).success


def test_rows_that_are_longer_than_any_before_are_seen(tmp_path: Path):
    baseline = written(tmp_path, of_lengths([32] * 1000))
    assert match(baseline, of_lengths([32] * 990 + [64] * 10)).success
    assert not match(baseline, of_lengths([32] * 900 + [64] * 100)).success
    assert not match(baseline, of_lengths([31] * 1000)).success


def mixed(web: int, code: int, **others: int) -> dict[str, Any]:
    sources = [name for name, rows in {"web": web, "code": code, **others}.items() for _ in range(rows)]
    return {"input_ids": [[5, 6]] * len(sources), "source": sources}


def test_another_mix_of_sources_is_drift(tmp_path: Path):
    baseline = written(tmp_path, mixed(600, 400))
    assert match(baseline, mixed(610, 390), metrics=["source"]).success
    result = match(baseline, mixed(300, 700), metrics=["source"])
    assert result.findings[0].detail == "source: web was 60.0% and is 30.0%"
    new = match(baseline, mixed(400, 300, books=300), metrics=["source"])
    assert new.findings[0].detail == "source: other sources was 0.0% and is 30.0%"


def test_other_ids_are_drift(tmp_path: Path):
    draw = random.Random(0)

    def rows(high: int) -> dict[str, Any]:
        return {"input_ids": [[draw.randrange(high) for _ in range(20)] for _ in range(300)]}

    baseline = written(tmp_path, rows(2000), suite=ASKING)
    assert match(baseline, rows(2000)).success
    result = match(baseline, rows(30000))
    assert [each.detail for each in result.findings if each.detail and each.detail.startswith("token_use")]
    assert psi_of(result)["attended_tokens"] == 0


def test_other_text_is_drift(tmp_path: Path):
    def rows(text: str) -> dict[str, Any]:
        return {"input_ids": [ids_of(text * (3 + i % 5)) for i in range(300)]}

    suite = {"expectations": [{"type": "expect_digit_runs_to_be_below"}]}
    baseline = written(tmp_path, rows("words and 12 "), suite=suite, tokenizer=byte_tokenizer())
    assert match(baseline, rows("words and 12 "), tokenizer=byte_tokenizer()).success
    result = match(baseline, rows("#### and 12 "), tokenizer=byte_tokenizer(), metrics=["symbol_fraction"])
    assert [each.detail for each in result.findings] == ["symbol_fraction: 0 to 0.0001 was 100.0% and is 0.0%"]


def test_another_supervised_share_is_drift(tmp_path: Path):
    def rows(prompt: int) -> dict[str, Any]:
        ids = [[5] * (20 + i % 7) for i in range(300)]
        return {"input_ids": ids, "labels": [[-100] * prompt + row[prompt:] for row in ids]}

    suite = {"expectations": [{"type": "expect_supervised_tokens_to_be_between"}]}
    baseline = written(tmp_path, rows(5), suite=suite)
    assert match(baseline, rows(5)).success
    result = match(baseline, rows(15))
    assert [each.detail.partition(":")[0] for each in result.findings if each.detail] == ["supervised_fraction"]


def test_any_number_of_the_catalogue_can_be_compared(tmp_path: Path):
    asking = {"expectations": [{"type": MATCH, "kwargs": {"baseline": "none", "metrics": ["highest_id", "tokens"]}}]}
    data = {"input_ids": [[i % 50, 3] for i in range(300)]}
    baseline = written(tmp_path, data, suite=asking)
    assert match(baseline, data, metrics=["highest_id", "tokens"]).success
    moved = {"input_ids": [[i % 50 + 40, 3] for i in range(300)]}
    result = match(baseline, moved, metrics=["highest_id"])
    assert reasons(result) == {"drift": 1}


def test_the_index_is_that_of_the_plain_formula(tmp_path: Path):
    before, now = drawn(1, 400), drawn(2, 300, 5, 70)
    baseline = written(tmp_path, of_lengths(before))
    edges = json.loads(baseline.read_text())["meta"]["dataguard"]["distributions"]["input_ids"]["attended_tokens"][
        "edges"
    ]
    assert psi_of(match(baseline, of_lengths(now)))["attended_tokens"] == pytest.approx(
        by_hand(before, now, edges), abs=1e-6
    )


def by_hand(before: list[int], now: list[int], edges: list[int]) -> float:
    bounds = [-math.inf, *edges, math.inf]
    bins = list(itertools.pairwise(bounds))
    counts = [[sum(low <= each < high for each in side) for low, high in bins] for side in (before, now)]
    used = [(a, b) for a, b in zip(*counts, strict=True) if a or b]
    total = 0.0
    for a, b in used:
        p, q = (a + 0.5) / (len(before) + 0.5 * len(used)), (b + 0.5) / (len(now) + 0.5 * len(used))
        total += (p - q) * math.log(p / q)
    return total


@examples(25)
@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=40),
    st.lists(st.integers(0, 15), min_size=1, max_size=40),
    st.sampled_from([0.0, 0.2, 1.0]),
)
def test_agrees_with_the_plain_judge(before: list[int], now: list[int], max_psi: float):
    with tempfile.TemporaryDirectory() as folder:
        baseline = written(Path(folder), of_lengths(before))
        result = match(baseline, of_lengths(now), max_psi=max_psi)
        edges = json.loads(baseline.read_text())["meta"]["dataguard"]["distributions"]["input_ids"]["attended_tokens"][
            "edges"
        ]
    judged = [each for each in now if each]
    if not judged:
        assert result.unjudged is not None
        return
    (told,) = result.observed_value
    assert told["psi"] == pytest.approx(by_hand(before, judged, edges), abs=1e-6)
    assert result.success == (told["psi"] <= max_psi + told["chance"])
    assert (told["rows"], told["baseline_rows"]) == (len(judged), len(before))


# Baselines that cannot be compared with


def unjudged(result: ExpectationResult) -> str:
    assert not result.success
    assert result.unjudged is not None
    return f"{result.unjudged.missing} | {result.unjudged.fix}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1 is no JSON"),
        ("{\n  nothing", "line 2 is no JSON"),
        ("[]", "it is no mapping"),
        ("{}", "meta is no mapping"),
        ('{"meta": {"dataguard": null}}', "meta.dataguard is no mapping"),
        ('{"meta": {"dataguard": {"version": "0.0.1"}}}', "version 0.0.1 of dataguard wrote none"),
        ('{"meta": {"dataguard": {"distributions": []}}}', "distributions is no mapping"),
        ('{"meta": {"dataguard": {"distributions": {"input_ids": 5}}}}', "no mapping"),
        (
            '{"meta": {"dataguard": {"distributions": {"input_ids": {"tokens": {}}}}}}',
            "its distribution tokens is none",
        ),
        ('{"meta": {"dataguard": {"distributions": {}}}}', "no distributions of input_ids"),
        ("[" * 100_000, "holds no distributions"),
    ],
)
def test_what_is_no_baseline_is_told_and_no_pass(tmp_path: Path, text: str, told: str):
    (tmp_path / "report.json").write_text(text)
    message = unjudged(match(tmp_path / "report.json", of_lengths([3])))
    assert told in message
    assert str(tmp_path) in message
    assert "dataguard profile" in message


def test_a_baseline_that_is_not_there_or_no_file_is_told(tmp_path: Path):
    assert "no such file" in unjudged(match(tmp_path / "report.json", of_lengths([3])))
    assert f"{tmp_path}/report.json" in unjudged(match(tmp_path, of_lengths([3])))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    assert "it is no text" in unjudged(match(tmp_path / "bytes", of_lengths([3])))
    assert "is no file" in unjudged(match(Path("/dev/zero"), of_lengths([3])))


def test_a_run_without_its_baseline_writes_one(tmp_path: Path):
    data = {**of_lengths(drawn(0, 300)), "source": ["web", "code"] * 150}
    suite = {"expectations": [{"type": MATCH, "kwargs": {"baseline": str(tmp_path / "report.json")}}]}
    first = dataguard.validate(table(data), suite=suite, jobs=1, store=None)
    assert not first.success
    (tmp_path / "report.json").write_text(report_json(first))
    assert psi_of(match(tmp_path / "report.json", data)) == {"attended_tokens": 0, "source": 0, "token_use": 0}


def test_a_metric_that_the_baseline_lacks_cannot_be_judged(tmp_path: Path):
    baseline = written(tmp_path, of_lengths([3] * 20))
    assert "holds no token_use of input_ids" in unjudged(match(baseline, of_lengths([3]), metrics=["token_use"]))


def test_what_the_baseline_holds_and_the_data_lacks_cannot_be_judged(tmp_path: Path):
    data = {"input_ids": [ids_of("words")] * 30, "source": ["web"] * 30}
    suite = {"expectations": [{"type": "expect_symbol_fraction_to_be_below"}]}
    baseline = written(tmp_path, data, suite=suite, tokenizer=byte_tokenizer())
    without = {"input_ids": data["input_ids"]}
    assert "--tokenizer" in unjudged(match(baseline, data))
    assert "source cannot be compared" in unjudged(match(baseline, without, tokenizer=byte_tokenizer()))
    result = match(baseline, without, tokenizer=byte_tokenizer())
    assert "symbol_fraction" in psi_of(result)
    assert (result.element_count, result.missing_count) == (4, 1)


def test_rows_without_content_cannot_be_compared(tmp_path: Path):
    baseline = written(tmp_path, of_lengths([3] * 20))
    assert "no row has it" in unjudged(match(baseline, of_lengths([0, 0])))


def test_ids_counted_in_other_ranges_cannot_be_compared(tmp_path: Path):
    baseline = written(tmp_path, of_lengths([3] * 20), suite=ASKING)
    report = json.loads(baseline.read_text())
    report["meta"]["dataguard"]["distributions"]["input_ids"]["token_use"]["edges"][0] = 7
    baseline.write_text(json.dumps(report))
    assert "in other classes than this version" in unjudged(match(baseline, of_lengths([3]), metrics=["token_use"]))


def test_what_a_later_version_wrote_is_noted(tmp_path: Path):
    baseline = written(tmp_path, of_lengths([3] * 20))
    report = json.loads(baseline.read_text())
    report["meta"]["dataguard"]["distributions"]["input_ids"]["vibes"] = {"any": "thing"}
    baseline.write_text(json.dumps(report))
    result = match(baseline, of_lengths([3] * 20))
    assert result.success
    assert any("vibes" in note for note in result.details["notes"])


def test_another_tokenizer_and_a_partial_baseline_are_noted(tmp_path: Path):
    data = {"input_ids": [ids_of("words")] * 300}
    baseline = written(tmp_path, data, tokenizer=byte_tokenizer(), head=200)
    other = byte_tokenizer(("<s>", "<pad>", "</s>", "<unk>"))
    notes = match(baseline, data, tokenizer=other).details["notes"]
    assert "the baseline was made with another tokenizer" in notes
    assert "the baseline was made of the first rows of each shard alone" in notes
    assert not any("tokenizer" in note for note in match(baseline, data, tokenizer=byte_tokenizer()).details["notes"])


# The suite


@pytest.mark.parametrize(
    ("kwargs", "told"),
    [
        ({}, "baseline"),
        ({"baseline": ""}, "baseline"),
        ({"baseline": None}, "baseline"),
        ({"baseline": "a", "max_psi": -1}, "max_psi"),
        ({"baseline": "a", "metrics": []}, "metrics"),
        ({"baseline": "a", "metrics": ["token_us"]}, "token_use"),
        ({"baseline": "a", "asked": ["token_use"]}, "asked"),
        ({"baseline": "a", "mostly": 0.5}, "mostly"),
    ],
)
def test_arguments_that_cannot_be_are_refused(kwargs: dict[str, Any], told: str):
    with pytest.raises(SuiteError, match=told):
        load_suite({"expectations": [{"type": MATCH, "kwargs": kwargs}]})


def suite_file(place: Path, baseline: Any, **more: Any) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps({"expectations": [{"type": MATCH, "kwargs": {"baseline": baseline}, **more}]}))
    return place


def test_a_path_is_relative_to_the_suite_s_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data = of_lengths([3] * 20)
    (tmp_path / "suites" / "old").mkdir(parents=True)
    written(tmp_path / "suites" / "old", data)
    suite = suite_file(tmp_path / "suites" / "mine.json", "old/report.json")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    result = dataguard.validate(table(data), suite=suite, store=None)
    assert result.success
    assert result.results[0].kwargs == {"baseline": "old/report.json"}


def test_a_path_that_is_a_given_parameter_is_relative_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    data = of_lengths([3] * 20)
    written(tmp_path, data)
    suite = suite_file(tmp_path / "suites" / "mine.json", {"$PARAMETER": "baseline"})
    monkeypatch.chdir(tmp_path)
    assert dataguard.validate(table(data), suite=suite, parameters={"baseline": "report.json"}, store=None).success


def test_without_a_baseline_it_is_skipped_where_that_is_declared(tmp_path: Path):
    when = {"meta": {"dataguard": {"when": ["baseline"]}}}
    entries = [{"type": MATCH, "kwargs": {"baseline": {"$PARAMETER": "baseline"}}, **when}, *FIRST["expectations"]]
    suite = {"suite_parameters": {"baseline": None}, "expectations": entries}
    result = dataguard.validate(table(of_lengths([3])), suite=suite, store=None)
    assert [each["fix"] for each in result.meta["skipped"]] == ["give --set baseline=VALUE"]


def test_stored_numbers_are_compared_without_a_scan(tmp_path: Path):
    pq.write_table(table({**of_lengths(drawn(0, 300)), "source": ["a", "b"] * 150}), tmp_path / "a.parquet")
    options = {"suite": FIRST, "store": tmp_path / "store"}
    dataguard.validate(tmp_path / "a.parquet", out=tmp_path / "out", **options)
    (tmp_path / "a.parquet").unlink()
    kwargs = {"baseline": str(tmp_path / "out" / "report.json")}
    result = rejudge(tmp_path / "out", suite={"expectations": [{"type": MATCH, "kwargs": kwargs}]})
    assert result.success
    assert psi_of(result.results[0]) == {"attended_tokens": 0, "source": 0}
