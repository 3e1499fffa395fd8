"""Rows as people read them: each token over its id, mask and label, with what is wrong marked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from dataguard.reports.html.beside import CutRow
from dataguard.reports.html.elements import Markup, clipped, named, tag, text
from dataguard.reports.json_report import plain
from dataguard.reports.reasons import in_words
from dataguard.reports.rows import Mark, ShownTokens, stretches
from dataguard.reports.text import counted, number
from dataguard.result import ExpectationResult

WHOLE, HEAD, GAP = 80, 20, 3
"""Up to WHOLE tokens are shown whole; of more the ends, and what stands around the first guilty ones."""
MOST_TOKEN, MOST_CHARACTERS, MOST_BEFORE, MOST_OTHER, MOST_OTHERS, MOST_COLUMNS, MOST_MARKS = (
    24,
    900,
    40,
    160,
    12,
    4,
    20,
)
RAW = re.compile(r"\\udc([89a-f][0-9a-f])")
"""A byte that is no text, as `surrogateescape` and `printable` leave it; it is told as the byte that it is."""


def row_block(cut: CutRow, place: int, results: Mapping[str, ExpectationResult]) -> Markup:
    """Return a row: where it stands, what is wrong with it, its text, its tokens, and its other columns.

    Args:
        place: Its number on the page.
        results: By type; they name the values of what is wrong.
    """
    row = cut.row
    about = [None if row.source is None else ("source ", named(row.source, 80)), counted(cut.tokens, "token")]
    head = tag(
        "header",
        tag("h3", named(row.shard, 200), f" row {number(row.row)}"),
        tag("p", [(each, " · ") for each in about[:-1] if each], about[-1], class_="soft"),
    )
    marks = [_mark(mark, results) for mark in row.marks[:MOST_MARKS]]
    return tag(
        "article",
        head,
        tag("ul", marks, class_="marks"),
        [_tokens(tokens, cut) for tokens in row.tokens[:MOST_COLUMNS]],
        _others(cut),
        class_="row",
        id=f"row-{place}",
    )


def _mark(mark: Mark, results: Mapping[str, ExpectationResult]) -> Markup:
    """Return what is wrong in a line: the reason, where, what stands there, and what that means."""
    words = in_words(mark.reason)
    name = results[mark.type].name_of_value(mark.reason) if mark.type in results else ""
    return tag(
        "li",
        tag("code", clipped(mark.reason, 80), class_="reason"),
        None if mark.column in {None, "input_ids"} else (" on ", named(mark.column, 80)),
        None if mark.position is None else f" at position {number(mark.position)}",
        None if mark.value is None else f": {name} {value_text(mark.value)}",
        tag("span", f" – {words}" if words else None, f" ({clipped(mark.type, 120)})", class_="soft"),
    )


def value_text(value: Any) -> str:
    """Return a value in few characters; whole numbers as they stand in the data, so that they can be searched for."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return clipped(value if isinstance(value, int) and not isinstance(value, bool) else number(value), 60)


def spelled(shown: str, most: int, *, lines: bool = False) -> list[Markup]:
    """Return text with what is not plainly visible spelled out, and marked as such.

    Args:
        lines: Whether a new line begins behind each that is spelled out.
    """
    parts = []
    for visible, run in groupby(clipped(shown, most), str.isprintable):
        piece = text("".join(run))
        if not visible:
            piece = Markup(RAW.sub(r"\\x\1", piece))
            piece = tag("em", Markup(piece.replace("\\n", "\\n\n")) if lines else piece)
        parts.append(piece)
    return parts


def _tokens(tokens: ShownTokens, cut: CutRow) -> Markup:
    name = tag("h4", named(tokens.name, 80)) if len(cut.row.tokens) > 1 else None
    if tokens.ids is None:
        return tag("div", name, tag("p", "null: the row has no list of tokens"))
    if not len(tokens):
        return tag("div", name, tag("p", "empty: the row has no tokens"))
    if tokens.texts is None:
        read: Markup = tag("p", "The text is not known: give --tokenizer PATH.", class_="soft")
    else:
        read = tag("pre", _text(tokens, tokens.texts), class_="text", dir="auto")
    return tag("div", name, read, tag("ol", _columns(tokens, cut), class_="tokens", aria_label="tokens"))


def _mask(tokens: ShownTokens) -> Sequence[Any] | None:
    return next((values for name, values in tokens.beside.items() if values and name.endswith("attention_mask")), None)


def _text(tokens: ShownTokens, texts: Sequence[bytes]) -> Iterator[Markup]:
    """Yield the text of what is attended, from a little before the first fault on where that is far inside."""
    mask = _mask(tokens)
    read = [place for place in range(len(texts)) if mask is None or place >= len(mask) or mask[place]]
    read = read or list(range(len(texts)))
    fault = next((at for at, place in enumerate(read) if place in tokens.guilty), 0)
    start = max(0, fault - MOST_BEFORE) if fault > WHOLE else 0
    if start:
        yield Markup("…")
    left = MOST_CHARACTERS
    for guilty, run in groupby(read[start:], lambda place: place in tokens.guilty):
        places = list(run)[:MOST_CHARACTERS]
        said = b"".join(texts[place] for place in places).decode("utf-8", "surrogateescape")
        if guilty and not said and tokens.ids is not None:
            said = " ".join(f"[{_cell(tokens.ids, place)}]" for place in places)
        shown = spelled(said[:left], MOST_CHARACTERS, lines=True)
        yield from [tag("mark", shown)] if guilty else shown
        left -= len(said)
        if left <= 0:
            yield Markup("…")
            return


def _columns(tokens: ShownTokens, cut: CutRow) -> Iterator[Markup]:
    beside = {name: values for name, values in tokens.beside.items() if values is not None}
    names = ["position", *([] if tokens.texts is None else ["token"]), "id", *(clipped(name, 40) for name in beside)]
    yield tag("li", [tag("span", name) for name in names], class_="key")
    mask = _mask(tokens)
    end, behind = -cut.first, cut.tokens - cut.first
    for start, stop in stretches(len(tokens), tokens.guilty, whole=WHOLE, head=HEAD, gap=GAP):
        if start > end:
            yield _left_out(start - end)
        for place in range(start, stop):
            yield _token(tokens, place, beside.values(), mask, cut.first)
        end = stop
    if end < behind:
        yield _left_out(behind - end)


def _left_out(count: int) -> Markup:
    return tag("li", f"… {counted(count, 'token')} …", class_="out")


def _token(tokens: ShownTokens, place: int, beside: Any, mask: Sequence[Any] | None, first: int) -> Markup:
    guilty = place in tokens.guilty
    classes = [
        name
        for name, holds in (
            ("bad", guilty),
            ("special", place in tokens.special),
            ("masked", mask is not None and place < len(mask) and not mask[place]),
        )
        if holds
    ]
    where = number(first + place)
    cells = [tag("span", "▲ " if guilty else None, where, class_="at")]
    if tokens.texts is not None:
        cells.append(tag("b", _shown(tokens.texts[place]) if place < len(tokens.texts) else None, dir="auto"))
    cells.append(tag("span", _cell(tokens.ids, place)))
    for values in beside:
        cell = _cell(values, place)
        cells.append(tag("span", cell, class_="off" if cell in {"0", "-100", "null"} else None))
    return tag("li", cells, class_=" ".join(classes) or None)


def _shown(content: bytes) -> list[Markup]:
    """Return a token's text: spaces as a sign, a run of them as their number."""
    shown = content.decode("utf-8", "surrogateescape")
    if len(shown) > 3 and set(shown) == {" "}:
        return [text(f"␣×{len(shown)}")]
    return spelled(shown.replace(" ", "␣"), MOST_TOKEN)


def _cell(values: Sequence[Any] | None, place: int) -> str:
    if values is None or place >= len(values):
        return ""
    value = values[place]
    return "null" if value is None else clipped(int(value) if isinstance(value, bool) else value, 24)


def _others(cut: CutRow) -> Markup | None:
    source = cut.row.source  # told above
    told = [(name, value) for name, value in cut.row.others.items() if source is None or value != source][:MOST_OTHERS]
    if not told:
        return None
    pairs = []
    for name, value in told:
        said = (
            clipped(value, 4 * MOST_OTHER) if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
        )
        pairs += [tag("dt", named(name, 80)), tag("dd", tag("bdi", spelled(said, MOST_OTHER)))]
    return tag("dl", pairs, class_="others")


def row_links(each: ExpectationResult, rows: Sequence[CutRow]) -> list[Markup]:
    """Return links to the rows that an expectation marks."""
    found = [
        (place, cut.row) for place, cut in enumerate(rows) if any(mark.type == each.type for mark in cut.row.marks)
    ]
    return [tag("a", named(row.shard, 60), f" row {number(row.row)}", href=f"#row-{place}") for place, row in found[:6]]
