"""`dataguard profile`: the suite on stdout, what is wrong with the data on stderr; and the commands of docs/profile.md."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dataguard.suite.loading import load_suite
from tests.builders import byte_tokenizer, ids_of, table_of
from tests.pages import blocks, run_commands

COMMAND = Path(sys.executable).with_name("dataguard")


def rows(start: int, count: int) -> list[list[int]]:
    return [
        [1, *ids_of(f"row {100 + number} of some text " + "with more words in it "[: 6 * (number % 4)]), 2]
        for number in range(start, start + count)
    ]


def write(folder: Path, start: int, count: int, *, extra: list[list[int]] | None = None) -> None:
    folder.mkdir()
    ids = [*rows(start, count), *(extra or [])]
    table = table_of(input_ids=ids, source=["web" if place % 3 else "code" for place in range(len(ids))])
    pq.write_table(table, folder / "a.parquet")


def dataguard(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(COMMAND), *arguments], cwd=at, capture_output=True, text=True, check=False)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a working directory with data, tomorrow's data and a tokenizer."""
    write(tmp_path / "data", 0, 400)
    write(tmp_path / "tomorrow", 400, 300)
    shutil.copytree(byte_tokenizer(), tmp_path / "tokenizer")
    return tmp_path


def test_prints_the_suite_alone_on_stdout(work: Path) -> None:
    done = dataguard("profile", "data", "--tokenizer", "tokenizer", at=work)
    assert done.returncode == 0, done.stderr
    (work / "suite.yaml").write_text(done.stdout)
    assert load_suite(work / "suite.yaml").name == "proposed"
    assert "expectations hold" in done.stderr
    assert "suite pretrain" not in done.stderr
    quiet = dataguard("profile", "data", "--tokenizer", "tokenizer", "--quiet", at=work)
    assert (quiet.stdout, quiet.stderr, quiet.returncode) == (done.stdout, "", 0)


def test_prints_the_suite_as_json(work: Path) -> None:
    done = dataguard("profile", "data", "--tokenizer", "tokenizer", "--json", at=work)
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert all(entry["notes"] for entry in document["expectations"])


def test_writes_the_suite_and_its_baseline(work: Path) -> None:
    done = dataguard("profile", "data", "--tokenizer", "tokenizer", "--out", "baseline", "--quiet", at=work)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    assert sorted(path.name for path in (work / "baseline").iterdir()) == ["report.json", "suite.yaml"]
    again = dataguard("profile", "data", "--tokenizer", "tokenizer", "--out", "baseline", at=work)
    assert again.returncode == 2
    assert "it may have been edited" in again.stderr


def test_faults_are_told_on_stderr_and_make_the_status_1(work: Path) -> None:
    write(work / "bad", 0, 300, extra=[[1, 999, 2]])
    done = dataguard("profile", "bad", "--tokenizer", "tokenizer", at=work)
    assert done.returncode == 1
    assert re.search(r"FAILS\s+(# )?here: 1 beyond_limit", done.stdout)
    assert "expect_token_ids_to_be_in_vocabulary" in done.stderr
    assert "row 300" in done.stderr
    assert "999" in done.stderr


def test_a_project_file_says_what_the_columns_mean(work: Path) -> None:
    table = pq.read_table(work / "data" / "a.parquet").rename_columns(["x", "from"])
    pq.write_table(table, work / "data" / "a.parquet")
    (work / "dataguard.yaml").write_text(
        "columns: {input_ids: x, source: from}\ntokenizer: tokenizer\nsuite: sft\nout: o\n"
    )
    done = dataguard("profile", "data", "--json", at=work)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["meta"]["dataguard"]["columns"] == {"input_ids": "x", "source": "from"}
    assert "columns, tokenizer from dataguard.yaml" in done.stderr
    assert not (work / "o").exists()
    assert dataguard("profile", "data", "--no-project", "--column", "source=from", at=work).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere"], "DATA does not exist"),
        (["data", "--head", "0"], "--head"),
        (["data", "--column", "x"], "ROLE=NAME"),
    ],
)
def test_what_cannot_be_is_one_message(work: Path, arguments: list[str], told: str) -> None:
    done = dataguard("profile", *arguments, at=work)
    assert (done.stdout, done.returncode) == ("", 2)
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_the_page_s_commands_do_what_they_say(work: Path) -> None:
    (suite,) = blocks("profile.md", "yaml")
    (work / "drift.yaml").write_text(suite, encoding="utf-8")
    assert run_commands("profile.md", work) == 4
    report = json.loads((work / "nightly" / "report.json").read_text(encoding="utf-8"))
    assert "token_use" in report["meta"]["dataguard"]["distributions"]["input_ids"]
