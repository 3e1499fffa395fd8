"""Whether flagged texts should be thrown out: verdicts of whoever looked at them, one a line, by the digest of the text."""

from __future__ import annotations

import csv
from collections.abc import Collection
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_suffix(".csv")
AGREED, WRONG = "agreed", "wrong"
"""An engineer would throw the text out for what the expectation says of it, or would not."""
DRAWN, ENOUGH = 20, 30
"""Where an expectation flags more than ENOUGH texts of a corpus, DRAWN of them are looked at."""


class Looked(NamedTuple):
    """One verdict: the columns of the file."""

    corpus: str
    expectation: str
    digest: str
    verdict: str
    why: str


def digest_of(text: str) -> str:
    """Return the digest by which a text is known."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read(file: Path = FILE) -> list[Looked]:
    """Return the verdicts of a file.

    Raises:
        ValueError: A line has another number of columns, or another verdict than the two.
    """
    with file.open(encoding="utf-8", newline="") as lines:
        reader = csv.reader(lines)
        if next(reader, None) != list(Looked._fields):
            msg = f"{file}: the first line must be {','.join(Looked._fields)}"
            raise ValueError(msg)
        verdicts = []
        for line in reader:
            if len(line) != len(Looked._fields) or line[3] not in {AGREED, WRONG}:
                msg = f"{file}, line {reader.line_num}: {line} is no verdict"
                raise ValueError(msg)
            verdicts.append(Looked(*line))
    return verdicts


def drawn(digests: Collection[str]) -> list[str]:
    """Return the texts to be looked at: all of a few, else the first by digest, which is as good as a draw."""
    ordered = sorted(set(digests))
    return ordered if len(ordered) <= ENOUGH else ordered[:DRAWN]
