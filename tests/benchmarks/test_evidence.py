"""Evidence is measured on corpora that lie in a folder, and joined with the verdicts of whoever looked at texts."""

from __future__ import annotations

import csv
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ROOT / "benchmarks" / "evidence.py"
LOOKED_AT = ROOT / "benchmarks" / "looked_at.csv"
HEAD = ["corpus", "expectation", "digest", "verdict", "why"]
PROSE = "In the beginning God created the heaven and the earth. And the earth was without form, and void."
BACKSPACES = "_\bt_\bh_\be king went up to the house of the LORD, and all the men of Judah."


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    folder = tmp_path / "text"
    folder.mkdir()
    texts = {"clean": [PROSE, BACKSPACES], "junk": [PROSE + " Amen.", "no " * 400]}
    for name, own in texts.items():
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps({"text": text}) + "\n" for text in own)
    return folder


@pytest.fixture
def tokenizers(tmp_path: Path, fixtures: Path) -> Path:
    folder = tmp_path / "tokenizers"
    folder.mkdir()
    (folder / "gpt2").symlink_to(fixtures / "tokenizers" / "gpt2")
    return folder


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "page.md"
    file.write_text("# Title\n\n<!-- measured -->\nold\n<!-- end of what was measured -->\n\nBy hand.\n")
    return file


def run(text: Path, tokenizers: Path, *arguments: str | Path) -> str:
    command = [sys.executable, COMMAND, "--text", text, "--tokenizers", tokenizers, *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def cell(page: Path, corpus: str, column: str) -> str:
    """Return what the first table with such a column says of a corpus."""
    heads: list[str] = []
    for line in page.read_text().splitlines():
        cells = [each.strip() for each in line.strip("|").split("|")] if line.startswith("|") else []
        if column in cells:
            heads = cells
        if heads and cells and cells[0] == corpus:
            return cells[heads.index(column)]
    msg = f"no table has {corpus} and {column}"
    raise AssertionError(msg)


def verdicts(file: Path, *lines: list[str]) -> Path:
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([HEAD, *lines])
    return file


def test_counts_what_is_flagged_and_what_was_looked_at(corpora, tokenizers, page, tmp_path):
    nobody, look = verdicts(tmp_path / "nobody.csv"), tmp_path / "look.txt"
    run(corpora, tokenizers, "--looked-at", nobody, "--write", page, "--look", look)
    first = page.read_text()
    assert first.startswith("# Title\n")
    assert first.endswith("\n\nBy hand.\n")
    assert "old" not in first
    # The row of `no` is a document, and the end of a row of all; in the pair it is the rejected side.
    flagged = cell(page, "junk", "rows not to be periodic")
    assert flagged == "2 / 0 / 0"
    assert cell(page, "clean", "no control characters") == "2 / 0 / 0"
    asked = re.findall(r"^##### (\w+),(\w+),([0-9a-f]{16})$", look.read_text(), re.MULTILINE)
    assert len(asked) == len(set(asked))

    seen = [[*each, "agreed" if each[0] == "junk" else "wrong", "made up"] for each in asked]
    run(corpora, tokenizers, "--looked-at", verdicts(tmp_path / "all.csv", *seen), "--write", page, "--look", look)
    assert cell(page, "junk", "rows not to be periodic") == "2 / 2 / 2"
    assert cell(page, "clean", "no control characters") == "2 / 2 / 0"
    assert not look.read_text(), "everything was looked at"


def test_says_the_same_twice(corpora, tokenizers, tmp_path):
    nobody = verdicts(tmp_path / "nobody.csv")
    assert run(corpora, tokenizers, "--looked-at", nobody) == run(corpora, tokenizers, "--looked-at", nobody)


def test_refuses_a_verdict_that_is_none(corpora, tokenizers, tmp_path):
    file = verdicts(tmp_path / "bad.csv", ["junk", "expect_no_mojibake", "0" * 16, "perhaps", "unsure"])
    with pytest.raises(AssertionError, match=r"line 2.*perhaps"):
        run(corpora, tokenizers, "--looked-at", file)


def test_the_verdicts_of_the_project_are_well_formed():
    from dataguard.expectations import EXPECTATIONS

    with LOOKED_AT.open(newline="") as lines:
        head, *rows = csv.reader(lines)
    assert head == HEAD
    assert rows, "nobody looked at anything"
    for corpus, expectation, digest, verdict, why in rows:
        assert expectation in EXPECTATIONS
        assert re.fullmatch(r"[0-9a-f]{16}", digest)
        assert verdict in {"agreed", "wrong"}
        assert corpus
        assert why
    assert len({(expectation, digest) for _, expectation, digest, _, _ in rows}) == len(rows), "a text is judged twice"
    assert rows == sorted(rows), "lines stand in order, so that changes can be read"
