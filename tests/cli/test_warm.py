"""`dataguard warm`: what it has compiled, no later run compiles."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

COMMAND = str(Path(sys.executable).with_name("dataguard"))


def dataguard(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    """Run the installed command in a folder, which also holds its kernels."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(at / "kernels")}
    return subprocess.run([COMMAND, *arguments], cwd=at, env=environment, capture_output=True, text=True, check=False)


def compiled(place: Path) -> set[str]:
    return {str(each) for each in place.rglob("*.nbc")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ids", "others"), [(pa.int32(), pa.int64()), (pa.int64(), pa.int8()), (pa.uint16(), pa.int32())]
)
def test_leaves_nothing_to_compile(warmed: Path, ids: pa.DataType, others: pa.DataType, fixtures: Path) -> None:
    rows = {
        "input_ids": [[5, 6, 0], [7, 8, 9]],
        "attention_mask": [[1, 1, 0], [1, 1, 1]],
        "labels": [[5, 6, -1], [7, 8, 9]],
    }
    table = {name: pa.array(of, pa.list_(ids if name == "input_ids" else others)) for name, of in rows.items()}
    before = compiled(warmed)
    assert before
    for name, columns in (("all", list(table)), ("masked", ["input_ids", "attention_mask"]), ("bare", ["input_ids"])):
        data = warmed / f"{name}-{ids}-{others}.parquet"
        pq.write_table(pa.table({each: table[each] for each in columns}), data)
        for options in (["--tokenizer", str(fixtures / "faulty")], ["--vocab-size", "50", "--max-length", "4"]):
            done = dataguard("validate", data.name, *options, "--no-store", at=warmed)
            assert done.returncode in {0, 1}, done.stderr
    assert compiled(warmed) == before


@pytest.fixture(scope="module")
def warmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder whose kernels have been compiled."""
    folder = tmp_path_factory.mktemp("warmed")
    done = dataguard("warm", "--json", "--quiet", "--out", "warm.json", at=folder)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told == json.loads((folder / "warm.json").read_text())
    assert told["found"] == 0
    assert told["compiled"] >= told["kernels"] >= 20
    assert told["seconds"] > 0
    assert Path(told["cache"]).is_relative_to(folder / "kernels")
    return folder


@pytest.mark.slow
def test_tells_people_how_many_and_how_long(warmed: Path) -> None:
    done = dataguard("warm", at=warmed)
    assert done.returncode == 0
    first, second = done.stdout.splitlines()
    assert re.fullmatch(r"\d+ kernels are ready: 0 variants compiled now, \d+ found in the cache, in \d+\.\d s", first)
    assert second.startswith(f"cache {warmed / 'kernels'}")
    assert dataguard("warm", "--quiet", at=warmed).stdout == ""
