"""`dataguard fingerprint`, as the installed command prints it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dataguard.vocabulary.loading import load_vocabulary
from tests.builders import byte_tokenizer

COMMAND = str(Path(sys.executable).with_name("dataguard"))


def dataguard(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, "fingerprint", *arguments], cwd=at, capture_output=True, text=True, check=False)


def test_prints_the_line_that_a_report_holds(tmp_path: Path) -> None:
    folder = byte_tokenizer()
    known = load_vocabulary(tokenizer=folder, model=None, given={}, vocab_size=None)
    for named in (folder, folder / "tokenizer.json"):
        done = dataguard(str(named), at=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{known.fingerprint}\n", "")


def test_json_tells_what_it_was_made_of_and_a_file_holds_the_same(tmp_path: Path) -> None:
    done = dataguard(str(byte_tokenizer()), "--json", "--out", "f.json", at=tmp_path)
    told = json.loads(done.stdout)
    assert told["fingerprint"].startswith("dg1:")
    assert (told["size"], told["base_size"]) == (260, 260)
    assert told["special"] == {"bos": 1, "eos": 2, "pad": 0, "unk": 3}
    assert json.loads((tmp_path / "f.json").read_text()) == told


def test_quiet_prints_nothing(tmp_path: Path) -> None:
    done = dataguard(str(byte_tokenizer()), "--quiet", "--out", "f.json", at=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "f.json").is_file()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("none.json", None, "there is no tokenizer"),
        ("bad.json", "{", "bad.json"),
        ("other.json", "[]", "other.json"),
        ("no/such/folder/at/all", None, "there is no tokenizer"),
    ],
)
def test_what_is_no_tokenizer_is_2(tmp_path: Path, name: str, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    done = dataguard(name, at=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert "--tokenizer" not in done.stderr  # an option that this command does not have
    assert done.stdout == ""
