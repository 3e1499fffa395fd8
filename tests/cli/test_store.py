"""`dataguard store`, as the installed command does it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dataguard.cli import run

COMMAND = str(Path(sys.executable).with_name("dataguard"))


def dataguard(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], cwd=at, capture_output=True, text=True, check=False)


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the user's home and cache folder away, as in a container that runs under a number of nobody's."""

    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", nobody)


def test_shows_what_is_kept_and_removes_it(fixtures: Path, tmp_path: Path) -> None:
    dataguard("validate", str(fixtures / "faulty"), "--store", "kept", "--quiet", at=tmp_path)
    shown = json.loads(dataguard("store", "--store", "kept", "--json", at=tmp_path).stdout)
    assert (shown["shards"], shown["segments"]) == (4, 1)
    assert shown["bytes"] > 0
    done = dataguard("store", "--store", "kept", "--prune", "0", at=tmp_path)
    assert done.returncode == 0
    assert "removed" in done.stdout
    assert json.loads(dataguard("store", "--store", "kept", "--json", at=tmp_path).stdout)["bytes"] == 0


def test_where_there_is_no_store_it_is_said(tmp_path: Path) -> None:
    done = dataguard("store", "--store", "nothing", at=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no store" in done.stderr
    assert not (tmp_path / "nothing").exists()


@pytest.mark.usefixtures("homeless")
def test_without_a_home_a_run_keeps_no_numbers_and_says_so(
    fixtures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["validate", str(fixtures / "faulty"), "--head", "1", "--out", str(tmp_path / "out")]) == 1
    assert "every number is computed anew: Could not determine home directory." in capsys.readouterr().err


@pytest.mark.usefixtures("homeless")
def test_without_a_home_there_is_no_store(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["store"]) == 2
    assert "home directory" in capsys.readouterr().err
