"""Put the page together: the verdict first, then what is wrong, the data in pictures, and rows as people read them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dataguard.reports.html.beside import Beside
from dataguard.reports.html.cards import all_expectations, cards, percent
from dataguard.reports.html.data import data_section
from dataguard.reports.html.elements import Child, Markup, clipped, named, tag, text
from dataguard.reports.html.rows import row_block, value_text
from dataguard.reports.html.tables import table
from dataguard.reports.text import counted, number, size
from dataguard.result import Result
from dataguard.version import __version__

HERE = Path(__file__).parent
MOST_NOTES = 30


def html_report(result: Result, beside: Beside) -> str:
    """Return the page: UTF-8, complete in itself, with a policy by which the browser fetches nothing.

    Args:
        result: The verdict.
        beside: What there is to show that it does not hold.
    """
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )
    word = "PASS" if result.success else "FAIL"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="generator", content=f"dataguard {__version__}"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{text(policy)}">'),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{word}: {clipped(result.suite_name, 80)} – dataguard"),
        tag("style", Markup(style)),
    )
    parts = dict(_sections(result, beside))
    links = [tag("a", title, href=f"#{_anchor(title)}") for title in parts]
    sections = [
        tag("section", tag("h2", title, id=_anchor(title)), inside, aria_labelledby=_anchor(title))
        for title, inside in parts.items()
    ]
    body = tag(
        "body",
        tag("a", "Skip to the findings", href="#main", class_="skip"),
        _verdict(result, word),
        tag("nav", tag("div", links), aria_label="Parts of the report"),
        tag(
            "main",
            sections,
            tag("footer", f"Written by dataguard {__version__}. This page fetches nothing."),
            id="main",
        ),
        tag("script", Markup(script)),
    )
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def _digest(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _sections(result: Result, beside: Beside) -> Iterator[tuple[str, Child]]:
    """Yield each part of the page with its title; a part that has nothing to say is left out."""
    if found := cards(result, beside):
        yield "Findings" if not result.success else "Worth knowing", found
    yield "Expectations", tag("div", all_expectations(result, beside), _skipped(result.meta), class_="panel")
    if result.meta.get("sources") or beside.ids is not None:
        yield "Data", data_section(result, beside)
    if beside.rows:
        lead = (
            "The first rows of each failing expectation, read again. ▲ marks what is wrong, a dashed frame what the mask "
            "hides; what is not plainly visible is spelled out."
        )
        unread = f" {counted(beside.unread, 'row')} could not be read again." if beside.unread else ""
        results = {each.type: each for each in result.results}
        blocks = [row_block(cut, place, results) for place, cut in enumerate(beside.rows)]
        yield "Rows", [tag("p", lead + unread, class_="lead"), *blocks]
    yield "Run", tag("div", _facts(result), class_="panel")


def _verdict(result: Result, word: str) -> Markup:
    meta = result.meta
    lines: list[tuple[Child, ...]] = [("suite ", named(result.suite_name, 120))]
    if taken := list(meta.get("taken") or ()):
        lines.append(("taken without being told: ", "; ".join(clipped(each, 160) for each in taken[:8])))
    partial = None
    if meta.get("partial"):
        judged = f"Only the first {counted(meta['head'], 'row')} of each shard were judged (--head); "
        partial = tag("p", judged, f"{number(meta['rows_not_read'])} behind them were not.", class_="part")
    return tag(
        "header",
        tag(
            "div",
            tag("h1", tag("span", word, class_="word"), tag("span", result.verdict())),
            [tag("p", line, class_="lines") for line in lines],
            partial,
            tag("dl", [tag("div", tag("dt", name), tag("dd", told)) for name, told in _tiles(meta)], class_="tiles"),
        ),
        class_=f"verdict {word.lower()}",
    )


def _tiles(meta: Mapping[str, Any]) -> Iterator[tuple[str, Child]]:
    """Yield the numbers that are to be seen first."""
    for name in ("rows", "tokens", "samples", "ranks"):
        if meta.get(name) is not None and not (name == "samples" and meta.get("rows") is not None):
            yield name, number(meta[name])
    shards = meta.get("shards") or {}
    if (count := shards.get("count")) is not None:
        intact = shards.get("intact", count)
        whole = "all intact" if intact == count else f"{number(count - intact)} not intact"
        yield "shards", (number(count), tag("small", whole))
    if sources := meta.get("sources"):
        named_here = sum(each.get("others") or 1 for each in sources)
        if named_here > 1 or sources[0].get("source") is not None:
            yield "sources", number(named_here)
    if (limit := (meta.get("vocabulary") or {}).get("limit")) is not None:
        yield "ids allowed", (f"0–{number(limit - 1)}", tag("small", f"{number(limit)} in all"))
    accounts = meta.get("accounting") or {}
    if (rejected := accounts.get("rejected")) is not None:
        clean = accounts.get("clean") or 0
        share = percent(rejected / (clean + rejected)) if clean + rejected else "0 %"
        yield "rows set aside", (number(rejected), tag("small", f"{share}; {number(clean)} remain"))


def _skipped(meta: Mapping[str, Any]) -> Markup | None:
    entries = meta.get("skipped") or ()
    if not entries:
        return None
    lines = []
    for entry in entries:
        column = entry.get("column") or "input_ids"
        on = None if column == "input_ids" else (" on ", named(column, 80))
        name = (tag("span", clipped(entry.get("type"), 120), class_="type"), on)
        lines.append([name, clipped(entry.get("missing") or ""), clipped(entry.get("fix") or "")])
    heads = ("expectation", "for want of", "what would enable it")
    told = table("Skipped, as the suite declares; they have no part in the verdict", heads, lines)
    return tag("details", tag("summary", f"{counted(len(lines), 'expectation')} skipped"), told)


def _facts(result: Result) -> Markup:
    """Return where every row went, what was taken for what, and what was noticed."""
    pairs = [(name, value) for name, value in _told(result) if value]
    return tag("dl", [(tag("dt", name), tag("dd", value)) for name, value in pairs], class_="facts")


def _told(result: Result) -> Iterator[tuple[str, Child]]:
    meta = result.meta
    yield "suite", (named(result.suite_name, 120), f" – {clipped((meta.get('suite') or {}).get('origin') or '', 200)}")
    given = {name: value for name, value in result.suite_parameters.items() if value is not None}
    yield (
        "parameters",
        ", ".join(f"{clipped(name, 60)} {value_text(value)}" for name, value in list(given.items())[:30]),
    )
    yield "fails on", str(meta.get("fail_on") or result.fail_on)
    yield "rows", _accounts(meta.get("accounting") or {})
    vocabulary = meta.get("vocabulary") or {}
    known = {name: value for name, value in vocabulary.items() if name != "origin"}
    yield "vocabulary", ", ".join(f"{name} {value_text(value)}" for name, value in known.items())
    origin = list(dict.fromkeys((vocabulary.get("origin") or {}).values()))
    yield "vocabulary from", ", ".join(clipped(each, 200) for each in origin[:8])
    columns = meta.get("columns") or {}
    yield (
        "columns",
        "; ".join(f"{role}: {clipped(', '.join(found), 200)}" for role, found in list(columns.items())[:30]),
    )
    layouts = (meta.get("shards") or {}).get("layouts") or {}
    yield "layouts", ", ".join(f"{number(count)} {clipped(name, 60)}" for name, count in layouts.items())
    quarantine = meta.get("quarantine") or {}
    if quarantine.get("written"):
        yield "quarantine", f"{counted(quarantine['rows'], 'row')}, {size(quarantine.get('bytes', 0))}"
    notes = list(meta.get("notes") or ())
    yield "notes", [tag("p", clipped(note, 600)) for note in notes[:MOST_NOTES]]


def _accounts(told: Mapping[str, Any]) -> str:
    """Return where every row went."""
    if not told:
        return ""
    known = {name: "unknown" if told.get(name) is None else number(told[name]) for name in told}
    parts = f"{known.get('rows_in')} in = {known.get('clean')} clean + {known.get('rejected')} set aside"
    shards = told.get("not_intact_shards")
    return parts + (f" + {known.get('not_intact_rows')} in {counted(shards, 'shard')} not intact" if shards else "")
