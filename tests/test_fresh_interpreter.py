"""What a fresh interpreter loads: heavy packages never, our own heavy imports only when they are used."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

NEVER = {"torch", "great_expectations", "ray", "airflow", "altair", "datasets", "pandas", "transformers", "vl_convert"}
LATER = {"numba", "polars", "pyarrow", "tokenizers"}
"""Needed to validate, and slow to load."""

TELL = "import sys, json; json.dump(sorted({name.split('.')[0] for name in sys.modules}), sys.stderr)"
HELP = """
import atexit, runpy, sys
def tell():
    import json
    json.dump(sorted({name.split('.')[0] for name in sys.modules}), sys.stderr)
atexit.register(tell)
sys.argv = ['dataguard', *sys.argv[1:]]
runpy.run_module('dataguard', run_name='__main__')
"""


def loaded(code: str, *arguments: str) -> set[str]:
    """Return the packages that a fresh interpreter has loaded when the code has run."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return set(json.loads(done.stderr))


def test_importing_dataguard_is_light():
    assert loaded(f"import dataguard; {TELL}") & (NEVER | LATER) == set()


def test_the_public_names_load_no_heavy_package():
    assert loaded(f"import dataguard; dataguard.validate; dataguard.Result; {TELL}") & NEVER == set()


@pytest.mark.parametrize("arguments", [["--help"], ["validate", "--help"]], ids=" ".join)
def test_help_is_light(arguments: list[str]):
    assert loaded(HELP, *arguments) & (NEVER | LATER) == set()
