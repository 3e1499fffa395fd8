"""What was measured as the tables of docs/evidence.md."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from looked_at import AGREED, Looked

if TYPE_CHECKING:
    from evidence import Flag, Measured

PLAIN = ("documents", "rows")
"""The layouts of plain text, of which shares are told."""
BEGIN, END = "<!-- measured -->", "<!-- end of what was measured -->"


def write(file: Path, found: Measured, looked: Sequence[Looked]) -> None:
    """Put the tables between the marks of a file; what stands around them is written by hand."""
    before, _, rest = file.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    file.write_text("\n".join((before + BEGIN, "", *page(found, looked), END)) + after, encoding="utf-8")


def page(found: Measured, looked: Sequence[Looked]) -> Iterator[str]:
    """Yield the lines of all tables."""
    shipped = [rule for rule in found.judged if rule in found.shipped]
    yield "## The shipped suites\n"
    yield from by_corpus(found, looked, shipped)
    yield from quiet(found, shipped)
    if never := sorted(found.skipped - found.shipped):
        yield f"These data have nothing to judge for {', '.join(f'`{rule}`' for rule in never)}.\n"
    yield "### What a run says of all corpora together\n"
    yield from runs(found)
    others = [rule for rule in found.judged if rule not in found.shipped]
    yield "## Other rules, at their defaults\n"
    yield from by_corpus(found, looked, others)
    yield from quiet(found, others)
    yield "## Shares by tokenizer\n"
    for rule in found.judged:
        if flags := [flag for flag in found.flags if flag.rule == rule and flag.layout in PLAIN]:
            yield f"### {rule}\n"
            yield from shares(found, flags)


def by_corpus(found: Measured, looked: Sequence[Looked], rules: Sequence[str]) -> Iterator[str]:
    """Yield a table of texts flagged / looked at / agreed: corpora down, rules across."""
    flags = [flag for flag in found.flags if flag.rule in rules]
    across = [rule for rule in rules if any(flag.rule == rule for flag in flags)]
    verdicts = {(each.expectation, each.digest): each.verdict for each in looked}

    def cell(own: Sequence[Flag]) -> str:
        texts = {(flag.type, flag.corpus, flag.digest) for flag in own}
        seen = [verdicts[kind, digest] for kind, _, digest in texts if (kind, digest) in verdicts]
        return f"{len(texts):,} / {len(seen):,} / {seen.count(AGREED):,}" if texts else ""

    corpora = sorted({flag.corpus for flag in flags})
    body = [
        [name, *(cell([f for f in flags if (f.corpus, f.rule) == (name, rule)]) for rule in across)] for name in corpora
    ]
    total = ["all", *(cell([flag for flag in flags if flag.rule == rule]) for rule in across)]
    yield from table(["texts flagged / looked at / agreed", *map(short, across)], [*body, total] if body else [])


def short(rule: str) -> str:
    """Return a rule's name for the head of a column."""
    return rule.removeprefix("expect_").replace("_", " ")


def quiet(found: Measured, rules: Sequence[str]) -> Iterator[str]:
    """Yield which rules flag no row, and how much they judged."""
    loud = {flag.rule for flag in found.flags}
    counts = {rule: f" ({found.judged[rule]:,})" if found.judged[rule] else "" for rule in rules}
    names = [f"`{rule}`{counts[rule]}" for rule in rules if rule not in loud]
    if names:
        yield f"No row is flagged by (in brackets how many rows, shards or sources were judged): {', '.join(names)}.\n"


def runs(found: Measured) -> Iterator[str]:
    """Yield a table of what the shipped suites say."""
    yield from table(
        ["layout", "suite", "tokenizer", "verdict"],
        [[r.layout, r.suite, r.tokenizer, r.verdict] for r in found.runs],
        "",
    )


def shares(found: Measured, flags: Sequence[Flag]) -> Iterator[str]:
    """Yield a table of the share of rows that a rule flags: corpora down, tokenizers and layouts across."""
    across = list(dict.fromkeys((flag.tokenizer, flag.layout) for flag in flags))

    def cell(corpus: str, tokenizer: str, layout: str) -> str:
        flagged = sum((flag.corpus, flag.tokenizer, flag.layout) == (corpus, tokenizer, layout) for flag in flags)
        rows = found.rows[corpus, tokenizer, layout]
        return f"{percent(flagged / rows)} ({flagged:,} of {rows:,})" if flagged else ""

    corpora = sorted({flag.corpus for flag in flags})
    heads = ["% of rows flagged", *(f"{tokenizer}, {layout}" for tokenizer, layout in across)]
    yield from table(heads, [[name, *(cell(name, *each) for each in across)] for name in corpora])


def percent(share: float) -> str:
    """Return a share in percent, with two digits that tell something."""
    return f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.2g}"


def table(heads: Sequence[str], body: Collection[Sequence[str]], align: str = "---:|") -> Iterator[str]:
    """Yield a table, and an empty line; nothing where it has no rows."""
    if body:
        yield f"| {' | '.join(heads)} |"
        yield "|---|" + (align or "---|") * (len(heads) - 1)
        yield from (f"| {' | '.join(row)} |" for row in body)
        yield ""
