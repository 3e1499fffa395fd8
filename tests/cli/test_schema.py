"""`dataguard schema`, as the installed command gives it to an editor."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dataguard.expectations import EXPECTATIONS
from dataguard.suite.schema import project_schema, suite_schema

COMMAND = str(Path(sys.executable).with_name("dataguard"))


def dataguard(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, "schema", *arguments], cwd=at, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [[], ["suite"], ["--json"], ["suite", "--quiet", "--json"]])
def test_prints_that_of_suites(tmp_path: Path, arguments: list[str]) -> None:
    done = dataguard(*arguments, at=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == suite_schema(EXPECTATIONS)


def test_prints_that_of_project_files(tmp_path: Path) -> None:
    assert json.loads(dataguard("project", at=tmp_path).stdout) == project_schema()


def test_writes_it_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text("old")
    done = dataguard("--out", "s.json", at=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads((tmp_path / "s.json").read_text()) == suite_schema(EXPECTATIONS)
    assert [each.name for each in tmp_path.iterdir()] == ["s.json"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--out", "no/such/folder/s.json"], "the file cannot be written\n  where no/such/folder/s.json"),
        (["--out", "."], "the file cannot be written"),
        (["sweet"], "sweet"),
        (["--plugin", "not_there_at_all"], "there is no module not_there_at_all"),
    ],
)
def test_what_cannot_be_is_2(tmp_path: Path, arguments: list[str], says: str) -> None:
    done = dataguard(*arguments, at=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert says in done.stderr
    assert list(tmp_path.iterdir()) == []
