"""How much text that was read wrongly `expect_no_mojibake` finds, as a table of docs/evidence.md.

python benchmarks/misread.py --text FOLDER [--characters N]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from corpora import corpora_of, name_of, texts_of

PIECE = 200
"""Characters of the pieces that are read wrongly."""


def browsers(raw: bytes) -> str:
    """Return what browsers read: CP1252, and Latin-1 where it has nothing."""
    return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in raw)


READINGS: Mapping[str, Callable[[str], str]] = {
    "Latin-1": lambda text: text.encode().decode("latin-1"),
    "CP1252, as browsers": lambda text: browsers(text.encode()),
    "CP1252, replaced": lambda text: text.encode().decode("cp1252", "replace"),
    "twice": lambda text: browsers(browsers(text.encode()).encode()),
}


def misread(corpora: Sequence[Path], most: int) -> Iterator[str]:
    """Yield a table: how many pieces of text are found to be mojibake once they are read wrongly."""
    import dataguard

    yield "| corpus | pieces | as they are | " + " | ".join(READINGS) + " |"
    yield "|---|" + "---:|" * (2 + len(READINGS))
    suite = {"name": "misread", "expectations": [{"type": "expect_no_mojibake"}]}
    for corpus in corpora:
        starts = [(text, place) for text in texts_of(corpus) for place in range(0, min(len(text), most), PIECE)]
        parts = [part for text, place in starts if not (part := text[place : place + PIECE]).isascii()]
        parts = [part for part in parts if "\ufffd" not in part]
        counts: list[int] = []
        for read in (str, *READINGS.values()) if parts else ():
            ids = pa.array([[1]] * len(parts), pa.list_(pa.int32()))
            table = pa.table({"input_ids": ids, "text": [read(part) for part in parts]})
            counts.append(dataguard.validate(table, suite=suite).results[0].unexpected_count or 0)
        if parts:
            cells = " | ".join(f"{count:,}" for count in counts)
            yield f"| {name_of(corpus)} | {len(parts):,} | {cells} |"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description="how much wrongly read text is found")
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--characters", type=int, default=4000, help="of each document, from its beginning")
    given = parser.parse_args()
    print("\n".join(misread(corpora_of(given.text), given.characters)))


if __name__ == "__main__":
    main()
