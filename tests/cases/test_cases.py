"""Every field report of `hand/`, run as its README says: data is written, judged by the command, and the report compared.

Most runs call the command in this process, so that kernels are loaded once; a few start it as users do. `make cases`
starts every one. Runs that are known to fail stand in `expected_failures.txt`, by case and run (`A07/A`); one that
begins to pass there fails here, so that the list only shrinks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest

HERE = Path(__file__).parent
COMMAND = [sys.executable, "-m", "dataguard"]
AS_USERS_DO = ("A01/A", "D01/A", "H01/A", "K01/A")
"""One that fails the data, one across sources, one damaged file, one unusable suite."""


def runner() -> ModuleType:
    """Return run_cases.py as a module: it is a script of its own beside this file."""
    with patch.object(sys, "path", [str(HERE), *sys.path]):
        import run_cases
    return run_cases


CASES = runner()
RUNS: dict[str, dict[str, Any]] = {
    f"{case['id']}/{run['name']}": run for case in CASES.load(HERE / "hand", set()) for run in case["runs"]
}


def expected_failures() -> dict[str, str]:
    """Return {run: why it cannot pass yet}, from lines of the run's id and the reason."""
    lines = (HERE / "expected_failures.txt").read_text("utf-8").splitlines()
    pairs = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return {run: why.strip() for run, _, why in pairs}


EXPECTED_FAILURES = expected_failures()


def marked(runs: list[str]) -> list[Any]:
    """Return runs as parameters, those that are expected to fail marked so."""
    xfail = {run: [pytest.mark.xfail(reason=why, strict=True)] for run, why in EXPECTED_FAILURES.items()}
    return [pytest.param(run, id=run, marks=xfail.get(run, ())) for run in runs]


class Done:
    """What `subprocess.run` would return."""

    def __init__(self, returncode: int, stdout: str, stderr: str) -> None:
        self.returncode, self.stdout, self.stderr = returncode, stdout, stderr


def called_here(capfd: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Return what stands in for `subprocess.run`: the command's own function, called in this process."""
    # Not `main`, which ends the process, at once where a thread of an earlier run is still at work.
    from dataguard.cli import run

    def called(command: list[str], **_: Any) -> Done:
        capfd.readouterr()
        return Done(run(command[len(COMMAND) :]), *capfd.readouterr())

    return called


def test_the_list_names_only_runs_that_exist():
    assert set(EXPECTED_FAILURES) <= set(RUNS)


@pytest.mark.parametrize("name", marked(list(RUNS)))
def test_comes_out_as_reported(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    with patch.object(CASES.subprocess, "run", called_here(capfd)):
        assert CASES.judge(COMMAND, RUNS[name], tmp_path / "run") == []


@pytest.mark.parametrize("name", marked(list(AS_USERS_DO)))
def test_comes_out_as_reported_from_a_shell(name: str, tmp_path: Path):
    assert CASES.judge(COMMAND, RUNS[name], tmp_path / "run") == []
