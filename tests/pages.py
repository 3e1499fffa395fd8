"""The examples of the pages in docs/."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def blocks(page: str, language: str) -> list[str]:
    """Return the examples of a page in a language."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)


def run_commands(page: str, at: Path) -> int:
    """Run the commands of a page as they stand, in a folder; return how many blocks of them there are."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    commands = blocks(page, "sh")
    for block in commands:
        done = subprocess.run(
            ["bash", "-e", "-c", block],
            cwd=at,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
    return len(commands)
