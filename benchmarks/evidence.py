"""How often expectations flag real text: the shipped suites and every other default, corpus by corpus, into docs/evidence.md.

    python benchmarks/evidence.py --text FOLDER --tokenizers FOLDER [--documents N] [--write docs/evidence.md] [--look FILE]

FOLDER of `--text` holds `NAME.jsonl.gz` with a `text` in each line, FOLDER of `--tokenizers` a folder for each tokenizer. For
each tokenizer all corpora together are one data set, a shard and a source each. It is laid out in several ways (`LAYOUTS`) and
judged as a user would have it judged: by the shipped suite for it, and by the catalogue's other rules at their defaults.

None of these corpora is junk. Whether what is flagged should be thrown out all the same, somebody has looked at, text by text:
`looked_at.csv` holds each verdict, and the tables count them. `--look` writes the texts that wait to be looked at.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import evidence_tables
import looked_at
import pyarrow as pa
from corpora import (
    ROW_TOKENS,
    Documents,
    Ids,
    Known,
    Rows,
    answers,
    corpora_of,
    joined,
    name_of,
    packs,
    pairs,
    texts_of,
    whole,
)

LAYOUTS: Mapping[str, tuple[str, Callable[[Documents], Rows]]] = {
    "documents": ("pretrain", whole),
    "rows": ("pretrain", joined),
    "packs": ("packed", packs),
    "answers": ("sft", answers),
    "pairs": ("preference", pairs),
}
"""How text is laid out, and the shipped suite for that."""
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "expect_token_encoding_to_be_plausible": {},
    "expect_eos_at_document_ends": {"max_length": ROW_TOKENS},
    "expect_rows_not_to_be_periodic": {},
    "expect_rows_not_to_be_repetitive": {},
    "expect_duplicate_line_fraction_to_be_below": {},
    "expect_white_space_fraction_to_be_below": {},
    "expect_no_replacement_characters": {"max_length": ROW_TOKENS},
    "expect_no_control_characters": {},
    "expect_no_mojibake": {},
    "expect_words_to_be_shorter_than": {},
    "expect_alphabetic_word_fraction_to_be_above": {},
}
"""Rules that a shipped suite does not hold, or not at the catalogue's default, and what they are given beside defaults."""
AT_DEFAULT = ", at its default"


class Flag(NamedTuple):
    """A row that a rule flags; `rule` is a type, and says so where it is the default of a type that suites limit otherwise."""

    rule: str
    corpus: str
    tokenizer: str
    layout: str
    digest: str

    @property
    def type(self) -> str:
        """The expectation's type."""
        return self.rule.removesuffix(AT_DEFAULT)


class Run(NamedTuple):
    """What a shipped suite says of all corpora together."""

    tokenizer: str
    layout: str
    suite: str
    verdict: str


@dataclass
class Measured:
    """What was found."""

    rows: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """How many there are, by corpus, tokenizer and layout."""
    judged: dict[str, int] = field(default_factory=dict)
    """How many rows (shards, sources) each rule judged, all in all."""
    shipped: set[str] = field(default_factory=set)
    """Rules of the shipped suites."""
    skipped: set[str] = field(default_factory=set)
    """Those that a run skipped."""
    flags: list[Flag] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    excerpts: dict[tuple[str, str], str] = field(default_factory=dict)
    """What there is to look at, by type and digest."""


@dataclass(frozen=True)
class Data:
    """All corpora under a tokenizer, laid out in one way, as shards in a folder."""

    folder: Path
    layout: str
    rows: Mapping[str, Rows]
    known: Known


def measure(corpora: Sequence[Path], tokenizers: Sequence[Path], most: int | None) -> Measured:
    """Judge all corpora in every layout under every tokenizer."""
    found = Measured()
    texts = {name_of(corpus): texts_of(corpus, most) for corpus in corpora}
    for tokenizer in tokenizers:
        known = Known(tokenizer)
        documents = {name: Documents(own, known.encoded(own), known) for name, own in texts.items()}
        for layout, (suite, lay) in LAYOUTS.items():
            rows = {name: lay(own) for name, own in documents.items()}
            found.rows |= {(name, tokenizer.name, layout): len(each.ids) for name, each in rows.items()}
            with tempfile.TemporaryDirectory() as folder:
                for name, each in rows.items():
                    write_shard(each.table(name), Path(folder, f"{name}.arrow"))
                judge(found, Data(Path(folder), layout, rows, known), suite)
            print(f"{tokenizer.name}, {layout}", file=sys.stderr)
    return found


def write_shard(table: pa.Table, file: Path) -> None:
    """Write a shard."""
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table, max_chunksize=1000)


def judge(found: Measured, data: Data, suite: str) -> None:
    """Judge a data set by a shipped suite (whole documents have no greatest length), and plain text by the other defaults."""
    import dataguard

    most = None if data.layout == "documents" else ROW_TOKENS
    result = dataguard.validate(data.folder, suite=suite, tokenizer=data.known.folder, max_length=most, store=None)
    found.runs.append(Run(data.known.folder.name, data.layout, suite, verdict_of(result)))
    found.shipped |= {each.type for each in result.results}
    found.skipped |= {each["type"] for each in result.meta["skipped"]}
    take_in(found, data, result, {})
    if data.layout in evidence_tables.PLAIN:
        result = dataguard.validate(
            data.folder, suite=defaults_for(data.known), tokenizer=data.known.folder, store=None
        )
        take_in(found, data, result, {name: name + AT_DEFAULT for name in found.shipped})


def defaults_for(known: Known) -> dict[str, Any]:
    """Return the suite of what no shipped suite holds, less what cannot be judged for want of an eos."""
    left = {"expect_eos_at_document_ends"} if known.special("eos") is None else set()
    entries = [{"type": name, "kwargs": dict(arguments)} for name, arguments in DEFAULTS.items() if name not in left]
    return {"name": "defaults", "expectations": entries}


def verdict_of(result: Any) -> str:
    """Return a run's verdict, and what is behind it."""
    said = []
    for each in result.results:
        if not each.success:
            count = (
                "could not be judged"
                if each.unjudged
                else f"{each.unexpected_count or 0:,} of {each.judged_count or 0:,}"
            )
            said.append(f"`{each.type}` ({each.severity}, {count})")
    return "; ".join(["pass" if result.success else "**fail**", *dict.fromkeys(said)])


def take_in(found: Measured, data: Data, result: Any, names: Mapping[str, str]) -> None:
    """Take in what a run flags; `names` says under which name, where that is not the type."""
    for kind in dict.fromkeys(each.type for each in result.results):
        own = [each for each in result.results if each.type == kind]
        unjudged = next((each.unjudged for each in own if each.unjudged), None)
        assert unjudged is None, f"{kind}: {unjudged}"
        rule = names.get(kind, kind)
        found.judged[rule] = found.judged.get(rule, 0) + max(each.judged_count or 0 for each in own)
        if any(each.unexpected_count for each in own):
            for entry in (
                result.unexpected(kind)
                .drop_nulls("row")
                .unique(("shard", "row"), maintain_order=True)
                .iter_rows(named=True)
            ):
                digest = take_in_row(found, data, kind, entry)
                found.flags.append(Flag(rule, Path(entry["shard"]).stem, data.known.folder.name, data.layout, digest))


def take_in_row(found: Measured, data: Data, kind: str, entry: Mapping[str, Any]) -> str:
    """Keep what there is to look at of a row, and return its digest."""
    rows, row = data.rows[Path(entry["shard"]).stem], entry["row"]
    known_text = rows.texts[row]
    text = data.known.text(rows.ids[row]) if known_text is None else known_text
    digest = looked_at.digest_of(text)
    if (kind, digest) not in found.excerpts:
        found.excerpts[kind, digest] = excerpt(entry, text, rows.ids[row], data.known)
    return digest


AROUND = 40
"""Tokens on both sides of the place that a finding names."""
BEGINNING = 600
"""Characters that are shown of a text's beginning."""


def excerpt(entry: Mapping[str, Any], text: str, ids: Ids, known: Known) -> str:
    """Return what whoever looks at a text is shown: the finding, the beginning, and the place that the finding names."""
    said = f"{entry['reason']} {entry['value']} at {entry['position']}; {len(text):,} characters, {known.folder.name}"
    parts = [said, text[:BEGINNING]]
    if entry["position"] is not None:
        parts += ["--- there", known.text(ids[max(entry["position"] - AROUND, 0) : entry["position"] + AROUND])]
    return "\n".join(parts)


def waiting(found: Measured, looked: Sequence[looked_at.Looked]) -> list[tuple[str, str, str]]:
    """Return what is to be looked at and was not: expectation, corpus, digest."""
    by_cell: dict[tuple[str, str], set[str]] = {}
    for flag in found.flags:
        by_cell.setdefault((flag.type, flag.corpus), set()).add(flag.digest)
    seen = {(each.expectation, each.digest) for each in looked}
    return [
        (kind, corpus, digest)
        for (kind, corpus), digests in sorted(by_cell.items())
        for digest in looked_at.drawn(digests)
        if (kind, digest) not in seen
    ]


def write_waiting(file: Path, found: Measured, looked: Sequence[looked_at.Looked]) -> None:
    """Write the texts that wait to be looked at."""
    with file.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as out:
        for kind, corpus, digest in waiting(found, looked):
            out.write(f"##### {corpus},{kind},{digest}\n{found.excerpts[kind, digest]}\n\n")


def main() -> None:
    """Measure, and print the flags as CSV, or write the tables."""
    parser = argparse.ArgumentParser(description="how often expectations flag real text")
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--tokenizers", type=Path, default=Path("fixtures/tokenizers"))
    parser.add_argument("--documents", type=int, help="at most so many documents of each corpus")
    parser.add_argument("--only", nargs="*", help="names of corpora")
    parser.add_argument(
        "--looked-at", type=Path, default=looked_at.FILE, help="the verdicts of whoever looked at texts"
    )
    parser.add_argument("--look", type=Path, metavar="FILE", help="write the texts that wait to be looked at")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="put the tables into this file, instead of printing flags"
    )
    given = parser.parse_args()
    corpora = [each for each in corpora_of(given.text) if not given.only or name_of(each) in given.only]
    tokenizers = sorted(each.parent for each in given.tokenizers.glob("*/tokenizer.json"))
    looked = looked_at.read(given.looked_at)
    found = measure(corpora, tokenizers, given.documents)
    if given.look is not None:
        write_waiting(given.look, found, looked)
    if given.write is not None:
        evidence_tables.write(given.write, found, looked)
    else:
        csv.writer(sys.stdout).writerows([Flag._fields, *found.flags])


if __name__ == "__main__":
    main()
