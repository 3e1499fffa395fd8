"""How often expectations flag real text at their defaults: corpus x tokenizer x expectation, into docs/evidence.md.

    python benchmarks/evidence.py --text FOLDER --tokenizers FOLDER [--documents N] [--write docs/evidence.md]

FOLDER of `--text` holds `NAME.jsonl.gz` with a `text` in each line, FOLDER of `--tokenizers` a folder for each tokenizer. Each
corpus is judged twice: as whole documents, and as rows of 2,048 tokens of all documents joined, as packed pretraining data has
them (an eos behind each document where the tokenizer names one). None of these corpora is junk, so nearly every flag is a
false alarm.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

ROW_TOKENS = 2048
JUDGED: Mapping[str, Mapping[str, Any]] = {
    "expect_duplicate_line_fraction_to_be_below": {},
    "expect_no_replacement_characters": {"max_length": ROW_TOKENS},
    "expect_no_control_characters": {},
    "expect_no_mojibake": {},
    "expect_words_to_be_shorter_than": {},
    "expect_alphabetic_word_fraction_to_be_above": {},
}
"""Expectations, and what they are given beside their defaults."""
LAYOUTS = ("documents", "rows")


@dataclass(frozen=True)
class Line:
    """How many rows of a corpus one expectation flags."""

    corpus: str
    tokenizer: str
    layout: str
    expectation: str
    rows: int
    flagged: int


def texts_of(file: Path, most: int | None) -> list[str]:
    """Return the documents of a corpus; lines end at line feeds alone, since texts hold other separators."""
    with gzip.open(file, "rt", encoding="utf-8", newline="\n") as lines:
        return [json.loads(line)["text"] for line in islice(lines, most)]


def ids_of(texts: Sequence[str], tokenizer: Path) -> tuple[list[list[int]], int | None]:
    """Return the ids of each text, without special tokens, and the id of eos."""
    from tokenizers import Tokenizer

    own = Tokenizer.from_file(str(tokenizer / "tokenizer.json"))
    own.no_truncation()
    own.no_padding()
    config = tokenizer / "tokenizer_config.json"
    eos = json.loads(config.read_text(encoding="utf-8")).get("eos_token") if config.exists() else None
    content = eos.get("content") if isinstance(eos, dict) else eos
    encoded = own.encode_batch(list(texts), add_special_tokens=False)
    return [each.ids for each in encoded], None if content is None else own.token_to_id(content)


def laid_out(documents: Sequence[Sequence[int]], eos: int | None, layout: str) -> list[list[int]]:
    """Return documents as they are, or joined and cut into rows of ROW_TOKENS."""
    if layout == "documents":
        return [list(each) for each in documents if each]
    joined = [token for each in documents for token in (*each, *(() if eos is None else (eos,)))]
    return [joined[start : start + ROW_TOKENS] for start in range(0, len(joined), ROW_TOKENS)]


def judged(rows: Sequence[Sequence[int]], tokenizer: Path) -> Any:
    """Return the result of all expectations on rows of ids."""
    import dataguard

    entries = [{"type": name, "kwargs": dict(arguments)} for name, arguments in JUDGED.items()]
    table = pa.table({"input_ids": pa.array(rows, pa.list_(pa.int32()))})
    return dataguard.validate(table, suite={"name": "evidence", "expectations": entries}, tokenizer=tokenizer)


def measured(corpora: Iterable[Path], tokenizers: Sequence[Path], most: int | None) -> Iterator[Line]:
    """Yield the lines of the table."""
    for corpus in corpora:
        name, texts = corpus.name.removesuffix(".jsonl.gz"), texts_of(corpus, most)
        for tokenizer in tokenizers:
            documents, eos = ids_of(texts, tokenizer)
            for layout in LAYOUTS:
                result = judged(laid_out(documents, eos, layout), tokenizer)
                for each in result.results:
                    assert each.unjudged is None, f"{each.type}: {each.unjudged}"
                    rows, flagged = each.element_count - (each.missing_count or 0), each.unexpected_count
                    yield Line(name, tokenizer.name, layout, each.type, rows, flagged)
        print(name, file=sys.stderr)


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


def misread(corpora: Iterable[Path], most: int) -> Iterator[str]:
    """Yield a table: how many pieces of text are found to be mojibake once they are read wrongly."""
    import dataguard

    yield "| corpus | pieces | as they are | " + " | ".join(READINGS) + " |"
    yield "|---|" + "---:|" * (2 + len(READINGS))
    suite = {"name": "misread", "expectations": [{"type": "expect_no_mojibake"}]}
    for corpus in corpora:
        starts = [(text, place) for text in texts_of(corpus, None) for place in range(0, min(len(text), most), PIECE)]
        parts = [part for text, place in starts if not (part := text[place : place + PIECE]).isascii()]
        parts = [part for part in parts if "\ufffd" not in part]
        counts: list[int] = []
        for read in (str, *READINGS.values()) if parts else ():
            ids = pa.array([[1]] * len(parts), pa.list_(pa.int32()))
            table = pa.table({"input_ids": ids, "text": [read(part) for part in parts]})
            counts.append(dataguard.validate(table, suite=suite).results[0].unexpected_count or 0)
        if parts:
            cells = " | ".join(f"{count:,}" for count in counts)
            yield f"| {corpus.name.removesuffix('.jsonl.gz')} | {len(parts):,} | {cells} |"


def share(lines: Iterable[Line]) -> str:
    """Return the flagged share of some lines in percent; nothing where nothing is flagged."""
    flagged, rows = map(sum, zip(*((line.flagged, line.rows) for line in lines), strict=True))
    return "" if not flagged else f"{100 * flagged / rows:.2g} ({flagged:,} of {rows:,})"


def table_of(lines: Sequence[Line]) -> Iterator[str]:
    """Yield a table for each expectation: corpora down, tokenizers and layouts across; corpora without a flag are named below."""
    across = list(dict.fromkeys((line.tokenizer, line.layout) for line in lines))
    for expectation in dict.fromkeys(line.expectation for line in lines):
        own = [line for line in lines if line.expectation == expectation]
        corpora = list(dict.fromkeys(line.corpus for line in own))
        clean = [name for name in corpora if not any(line.flagged for line in own if line.corpus == name)]
        yield f"### {expectation}\n"
        if len(clean) < len(corpora):
            yield "| % of rows flagged | " + " | ".join(f"{tokenizer}, {layout}" for tokenizer, layout in across) + " |"
            yield "|---|" + "---:|" * len(across)
        for name in corpora:
            if name not in clean:
                cells = [
                    share([line for line in own if (line.corpus, line.tokenizer, line.layout) == (name, *each)])
                    for each in across
                ]
                yield f"| {name} | " + " | ".join(cells) + " |"
        yield f"\nNothing in {', '.join(clean)}.\n" if clean else ""


BEGIN, END = "<!-- measured -->", "<!-- end of what was measured -->"


def write(file: Path, lines: Sequence[Line]) -> None:
    """Put the tables between the marks of a file; what stands around them is written by hand."""
    before, _, rest = file.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    file.write_text("\n".join((before + BEGIN, "", *table_of(lines), END)) + after, encoding="utf-8")


def main() -> None:
    """Measure, and print the lines as CSV, or write the tables."""
    parser = argparse.ArgumentParser(description="how often expectations flag real text")
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--tokenizers", type=Path, default=Path("fixtures/tokenizers"))
    parser.add_argument("--documents", type=int, help="at most so many documents of each corpus")
    parser.add_argument("--only", nargs="*", help="names of corpora")
    parser.add_argument("--misread", type=int, metavar="N", help="read the first N characters of each document wrongly")
    parser.add_argument("--write", type=Path, help="the file to put the tables into")
    given = parser.parse_args()
    corpora = [
        each
        for each in sorted(given.text.glob("*.jsonl.gz"))
        if not given.only or each.name.split(".")[0] in given.only
    ]
    if given.misread:
        print("\n".join(misread(corpora, given.misread)))
        return
    tokenizers = sorted(each.parent for each in given.tokenizers.glob("*/tokenizer.json"))
    lines = list(measured(corpora, tokenizers, given.documents))
    print("corpus,tokenizer,layout,expectation,rows,flagged")
    for each in lines:
        print(f"{each.corpus},{each.tokenizer},{each.layout},{each.expectation},{each.rows},{each.flagged}")
    if given.write is not None:
        write(given.write, lines)


if __name__ == "__main__":
    main()
