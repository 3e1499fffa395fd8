"""dataguard.yaml as the installed command takes it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataguard.suite.project import ProjectSettings
from tests.conftest import ROOT

COMMAND = str(Path(sys.executable).with_name("dataguard"))
SUITE = """
suite_parameters: {longest: 9}
expectations:
  - type: expect_token_ids_to_be_in_vocabulary
  - type: expect_sequence_lengths_to_be_between
    kwargs: {max_length: {$PARAMETER: longest}}
    severity: warning
meta: {dataguard: {vocabulary: {size: 5, pad: 0}}}
"""


def dataguard(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], cwd=at, capture_output=True, text=True, check=False)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with data, a suite and a project file: ids up to 9, rows of up to 4 tokens."""
    (tmp_path / "data").mkdir()
    rows = pa.array([[1, 2, 9], [1, 2, 3, 4, 5]], pa.list_(pa.int32()))
    other = pa.array([[1], [1]], pa.list_(pa.int32()))
    pq.write_table(pa.table({"ids_of_ours": rows, "others": other}), tmp_path / "data" / "a.parquet")
    (tmp_path / "mine.yaml").write_text(SUITE)
    (tmp_path / "dataguard.yaml").write_text(
        "suite: mine.yaml\ncolumns: {input_ids: ids_of_ours}\nvocabulary: {size: 10}\n"
        "parameters: {longest: 4}\nfail_on: warning\nout: reports\n"
    )
    return tmp_path


def test_a_repository_needs_no_option_and_is_told_what_was_taken(repository: Path) -> None:
    done = dataguard("validate", "data", at=repository)
    assert done.returncode == 1, done.stderr
    taken = "suite, columns, vocabulary, parameters, fail_on, out from dataguard.yaml"
    assert (
        f"took  {taken}" in " ".join(done.stdout.split("\n")[2:4]).replace("      ", "")[:200] or taken in done.stdout
    )
    report = json.loads((repository / "reports/report.json").read_text())
    assert report["meta"]["dataguard"]["taken"] == [taken]
    assert report["suite_parameters"] == {"longest": 4}
    ids, lengths = report["results"]
    assert (ids["success"], lengths["success"]) == (True, False)
    assert report["meta"]["dataguard"]["vocabulary"]["size"] == 10
    assert report["meta"]["dataguard"]["vocabulary"]["pad"] == 0
    assert not (repository / "dataguard-out").exists()


def test_options_win(repository: Path) -> None:
    done = dataguard(
        "validate",
        "data",
        "--set",
        "longest=5",
        "--fail-on",
        "critical",
        "--out",
        "o",
        "--vocab-size",
        "9",
        at=repository,
    )
    assert done.returncode == 1, done.stderr
    report = json.loads((repository / "o/report.json").read_text())
    assert [each["success"] for each in report["results"]] == [False, True]
    assert report["meta"]["dataguard"]["taken"] == ["suite, columns, vocabulary from dataguard.yaml"]


def test_no_project_leaves_it_out(repository: Path) -> None:
    done = dataguard("validate", "data", "--no-project", "--suite", "mine.yaml", at=repository)
    assert done.returncode == 2
    assert "no column of token ids" in done.stderr or "ids_of_ours" in done.stderr


def test_a_file_that_comes_with_the_data_may_not_say_where_to_write(repository: Path, tmp_path: Path) -> None:
    (repository / "dataguard.yaml").rename(repository / "data" / "dataguard.yaml")
    (repository / "data" / "mine.yaml").write_text(SUITE)
    done = dataguard("validate", "data", at=repository)
    assert done.returncode == 2
    assert done.stderr.startswith("error: parameters cannot be set in this dataguard.yaml\n")
    assert "data/dataguard.yaml, line 4" in done.stderr
    assert not (repository / "data" / "reports").exists()


def test_no_option_is_named_that_there_is_not(repository: Path) -> None:
    (repository / "data" / "dataguard.yaml").write_text("sampler: {world_size: 2}\n")
    (repository / "dataguard.yaml").unlink()
    done = dataguard("validate", "data", at=repository)
    assert done.returncode == 2
    assert "fix   give it to dataguard sampler, run the command in " in done.stderr


def test_a_misspelt_key_is_2_with_its_line(repository: Path) -> None:
    (repository / "dataguard.yaml").write_text("suite: mine.yaml\nmax_lenght: 5\n")
    done = dataguard("validate", "data", at=repository)
    assert done.returncode == 2
    assert done.stderr == (
        "error: dataguard.yaml has no key max_lenght\n  where dataguard.yaml, line 2\n  fix   did you mean max_length?\n"
    )


def test_every_key_is_documented() -> None:
    text = (ROOT / "docs" / "project.md").read_text("utf-8")
    assert [key for key in ProjectSettings.model_fields if f"| `{key}` |" not in text] == []
