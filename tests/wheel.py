"""Build the wheel and try it as a user gets it: a fresh environment, core dependencies alone, no source tree in sight.

    python tests/wheel.py

Exits 0 when everything holds; the first claim that does not is told on stderr.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ABSENT = ("torch", "datasets", "pandas", "great_expectations", "ray", "airflow", "transformers", "pytest")
WHERE = """
import importlib.util, json, sys
import dataguard
from pathlib import Path
folder = Path(dataguard.__file__).parent
print(json.dumps({
    "folder": str(folder),
    "shipped": sorted(path.name for path in (folder / "shipped").glob("*.yaml")),
    "installed": [name for name in sys.argv[1:] if importlib.util.find_spec(name)],
}))
"""


def run(*command: str | Path, cwd: Path, status: int = 0) -> str:
    """Return what a command prints; it must end with the status that is given."""
    own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment = {**own, "XDG_CACHE_HOME": str(cwd / "cache")}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != status:
        told = f"{done.stdout}\n{done.stderr}"
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}, not {status}:\n{told}")
    return done.stdout


def claim(holds: object, what: str) -> None:
    """Stop where something does not hold."""
    if not holds:
        sys.exit(f"the wheel does not hold: {what}")
    print(f"ok    {what}")


def install(scratch: Path) -> Path:
    """Build the wheel, install it into a new environment, and return that environment's bin folder."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", scratch, ROOT, cwd=scratch)
    (wheel,) = scratch.glob("dataguard-*.whl")
    venv.create(scratch / "venv", with_pip=True)
    binaries = scratch / "venv" / "bin"
    pip = (binaries / "python", "-m", "pip", "--disable-pip-version-check")
    run(*pip, "install", "--quiet", "-c", ROOT / ".constraints.txt", wheel, cwd=scratch)
    return binaries


def main() -> None:
    """Hold the installed wheel against its claims."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder).resolve()
        binaries = install(scratch)
        told = json.loads(run(binaries / "python", "-c", WHERE, *ABSENT, cwd=scratch))
        claim(Path(told["folder"]).is_relative_to(scratch), "dataguard is imported from the new environment")
        suites = sorted(path.name for path in (ROOT / "expectations").glob("*.yaml"))
        claim(suites and told["shipped"] == suites, f"the shipped suites are in it: {', '.join(suites)}")
        claim(not told["installed"], f"core dependencies bring none of {', '.join(ABSENT)}")
        claim("validate" in run(binaries / "dataguard", "--help", cwd=scratch), "dataguard --help")
        claim(
            "validate" in run(binaries / "python", "-m", "dataguard", "--help", cwd=scratch),
            "python -m dataguard --help",
        )
        data = ROOT / "fixtures" / "faulty"
        run(binaries / "dataguard", "validate", data, "--out", "out", cwd=scratch, status=1)
        report = json.loads((scratch / "out" / "report.json").read_text("utf-8"))
        claim(report["success"] is False, "validate finds the planted faults, with status 1 and a report.json")
        claim(list((scratch / "out" / "quarantine").rglob("*.arrow")), "and sets rows aside")


if __name__ == "__main__":
    main()
