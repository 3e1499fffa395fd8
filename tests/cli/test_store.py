"""`dataguard store`, as the installed command does it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

COMMAND = str(Path(sys.executable).with_name("dataguard"))


def dataguard(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], cwd=at, capture_output=True, text=True, check=False)


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
