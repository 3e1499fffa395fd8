"""`--report NAME,…` end to end: what is written and printed, and what an earlier or a remembered run has to do with it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dataguard
from dataguard.cli import run
from dataguard.errors import OutputError, UsageError
from dataguard.reports.files import FILES, REPORTS
from dataguard.reports.github import MOST_SUMMARY
from dataguard.run import unchanged

FORMS = {each.file for each in FILES.values()}
ALL = ",".join(REPORTS)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    (tmp_path / "data" / "web").mkdir(parents=True)
    rows = pa.array([[1, 2, 300], [4, 5], [6]], pa.list_(pa.int32()))
    pq.write_table(pa.table({"input_ids": rows}), tmp_path / "data" / "web" / "a.parquet")
    return Path("data")


def validate(*arguments: str) -> int:
    return run(["validate", "data", "--vocab-size", "100", *arguments])


def forms(folder: str = "dataguard-out") -> set[str]:
    return {each.name for each in Path(folder).iterdir()} & FORMS


def test_every_report_at_once(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert validate("--report", ALL) == 1
    assert forms() == FORMS
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("::stop-commands::")
    assert "      dataguard-out/report.sarif" in told
    (command,) = [line for line in told if line.startswith("::error ")]
    assert command.startswith(
        "::error file=data/web/a.parquet,title=dataguard%3A expect_token_ids_to_be_in_vocabulary::"
    )
    suite = ET.parse("dataguard-out/report.junit.xml").getroot()[0]
    assert [each.tag for each in suite.findall("testcase/failure")] == ["failure"]


def test_reports_that_were_not_asked_for_are_not_written(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    validate("--report", "github,markdown")
    assert forms() == {"report.md"}
    assert all(line.startswith("::") for line in capsys.readouterr().out.splitlines())


def test_json_has_stdout_for_itself(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    validate("--report", ALL, "--json")
    told = capsys.readouterr()
    assert json.loads(told.out)["success"] is False
    assert "::error " in told.err


def test_a_report_of_an_earlier_run_is_never_taken_for_this_one_s(data: Path) -> None:
    validate("--report", "junit,sarif")
    validate("--report", "sarif", "--max-length", "2")
    assert forms() == {"report.sarif"}


@pytest.mark.parametrize("name", sorted(FORMS))
def test_what_others_wrote_is_neither_overwritten_nor_taken_away(
    data: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("dataguard-out").mkdir()
    (Path("dataguard-out") / name).write_text("# my own")
    assert validate() == 1
    assert validate("--report", ALL) == 2
    assert "something else is in the way" in capsys.readouterr().err
    assert (Path("dataguard-out") / name).read_text() == "# my own"


def test_a_remembered_verdict_gives_the_same_reports(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(unchanged, "SETTLED_NS", -(10**12))

    def asked(*more: str) -> tuple[list[str], dict[str, bytes], Any]:
        summary = Path("summary.md")
        summary.unlink(missing_ok=True)
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
        validate("--report", ALL, *more)
        told = [line for line in capsys.readouterr().out.splitlines() if "stop-commands" not in line][:-2]
        files = {name: (Path("dataguard-out") / name).read_bytes() for name in FORMS}
        assert summary.read_text() == files["report.md"].decode()
        return told[:-1], files, json.loads(Path("dataguard-out/run.json").read_text())["remembered"]

    first = asked()
    again = asked()
    fresh = asked("--verify")
    assert (first[2], again[2] is not None, fresh[2]) == (None, True, None)
    assert first[:2] == again[:2] == fresh[:2]
    (Path("dataguard-out") / "report.md").write_text("dataguard, by hand")
    assert asked()[1] == first[1]


def test_the_step_s_summary_grows_as_far_as_there_is_room(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    Path("summary.md").write_bytes(b"x" * (MOST_SUMMARY - 1_500))
    validate("--report", "github")
    size = Path("summary.md").stat().st_size
    assert MOST_SUMMARY - 1_500 < size <= MOST_SUMMARY
    for _ in range(3):
        validate("--report", "github")
    assert Path("summary.md").stat().st_size <= MOST_SUMMARY


def test_a_summary_that_cannot_be_written_is_told(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "absent/summary.md")
    assert validate("--report", "github") == 2
    assert "the step's summary cannot be written" in capsys.readouterr().err


def test_github_s_paths_begin_at_the_workspace(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for root, before in ((".", "data/web/"), ("data", "web/"), ("data/web", "web/")):
        monkeypatch.setenv("GITHUB_WORKSPACE", root)
        validate("--report", "github")
        assert f"::error file={before}a.parquet," in capsys.readouterr().out


def test_an_unknown_report_is_refused_and_one_without_a_place_too(data: Path) -> None:
    assert validate("--report", "junit,html5") == 2
    with pytest.raises(UsageError, match="the report sarif needs a place"):
        dataguard.validate(data, vocab_size=100, reports=["sarif"])
    assert run(["judge", "dataguard-out", "--report", "junit"]) == 2
    assert not Path("dataguard-out").exists()


def test_python_judge_and_sampler_write_the_same_forms(data: Path) -> None:
    dataguard.validate(data, vocab_size=100, reports=["junit", "markdown"], out="one", store="store")
    assert forms("one") == {"report.junit.xml", "report.md"}
    arguments = [
        "judge",
        "one",
        "--suite",
        "pretrain",
        "--report",
        "junit,markdown",
        "--out",
        "two",
        "--store",
        "store",
    ]
    assert run(arguments) == 1
    for name in forms("one"):
        assert (Path("one") / name).read_text() == (Path("two") / name).read_text()
    assert run(["sampler", "data", "--world-size", "2", "--report", ALL, "--out", "three"]) in {0, 1}
    assert forms("three") == FORMS
    with pytest.raises(OutputError):
        dataguard.validate(data, vocab_size=100, reports=["junit"], out="data")


def test_a_project_file_names_reports(data: Path) -> None:
    Path("dataguard.yaml").write_text("reports: [junit]\n")
    assert validate() == 1
    assert forms() == {"report.junit.xml"}


def test_verbose_tells_all(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    validate()
    brief = capsys.readouterr().out
    validate("--verbose")
    whole = capsys.readouterr().out
    assert "expect_rows_not_to_be_null" in whole
    assert "expect_rows_not_to_be_null" not in brief
    assert "--verbose names them" in brief
    assert "--verbose" not in whole


def test_diff_tells_what_broke(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["validate", "data", "--vocab-size", "1000", "--out", "old", "--quiet"])
    run(["validate", "data", "--vocab-size", "100", "--out", "new", "--quiet"])
    capsys.readouterr()
    assert run(["diff", "old", "new"]) == 1
    told = capsys.readouterr().out
    assert told.startswith("WORSE    something that held is broken: 1 broken, ")
    assert "holds, 0 of 3 (0 %) -> failed, 1 of 3 (33.3 %)" in told
    assert "first at web/a.parquet row 0 position 2" in told
    assert run(["diff", "new", "old"]) == 0
    assert capsys.readouterr().out.startswith("OK       nothing got worse: 1 mended, ")
    assert run(["diff", "old", "new", "--quiet"]) == 1
    told = capsys.readouterr()
    assert (told.out, told.err[:7]) == ("", "WORSE: ")
    assert run(["diff", "old", "new", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["changes"][0]["kind"] == "broken"
    Path("cut.json").write_text(Path("new/report.json").read_text()[:-100])
    assert run(["diff", "old", "cut.json"]) == 2
    assert "the file is cut" in capsys.readouterr().err
