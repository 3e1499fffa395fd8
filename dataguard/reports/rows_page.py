r"""Rows of tokens for people: each token's text, id, mask and label under each other, in lines as wide as the terminal.

A token is shown by itself, so that half a character of a byte-level vocabulary stands as its bytes (`\xe4\xb8`). Nothing
that comes from data is sent to the terminal as it is: see `printable`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from dataguard.reports.json_report import plain
from dataguard.reports.page import Page
from dataguard.reports.reasons import in_words
from dataguard.reports.rows import ShownRow, ShownTokens, decoded, stretches
from dataguard.reports.text import counted, number, printable, shorten

INDENT = 8
GAP = 2
MOST_CELLS = 24
"""Widest text of a token; a longer one gives way in its middle."""
WHOLE, HEAD = 64, 24
"""A row of up to WHOLE tokens is shown whole; of a longer one the ends, and what stands around the first guilty tokens."""
TEXT_LINES = 6
SHORT = {"attention_mask": "mask", "position_ids": "place", "document_ids": "doc", "loss_mask": "loss"}
ESCAPE = re.compile(r"\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8}|\\[tnr]")
GUILTY, SPECIAL, UNSEEN, DIM = "bold red", "magenta", "cyan", "dim"


def print_rows(rows: Iterable[ShownRow], page: Page, *, full: bool = False) -> None:
    """Print rows.

    Args:
        rows: In the order in which they are to be read.
        page: Where to; its width decides how many tokens stand in a line.
        full: Whether long rows are shown whole.
    """
    for place, row in enumerate(rows):
        if place:
            page.gap()
        _head(row, page)
        for tokens in row.tokens:
            _tokens(tokens, page, full=full, alone=len(row.tokens) == 1)


def _head(row: ShownRow, page: Page) -> None:
    """Print where a row stands, what is wrong with it, and what its other columns say."""
    amounts = [counted(len(each.ids), "token") for each in row.tokens[:1] if each.ids is not None]
    about = ", ".join(filter(None, [None if row.source is None else printable(row.source), *amounts]))
    page.line(Text(f"{printable(row.shard)} row {row.row}", style="bold").append(f"  {about}", style="not bold dim"))
    for mark in row.marks:
        column = "" if mark.column in {None, "input_ids"} else f" on {printable(mark.column)}"
        place = "" if mark.position is None else f" at {mark.position}"
        value = "" if mark.value is None else f": {_number(mark.value)}"
        words = in_words(mark.reason)
        text = f"{printable(mark.type)}{column}  {printable(mark.reason)}{place}{value}"
        page.labelled("fail", text + (f" ({words})" if words else ""), GUILTY, INDENT)
    for name, value in row.others.items():
        if row.source is not None and value == row.source:
            continue  # told above
        said = json.dumps(plain(value), ensure_ascii=False) if not isinstance(value, str) else value
        text = shorten(f"{printable(name)}: {printable(said)}", 2 * (page.width - INDENT))
        page.labelled("with", text, DIM, INDENT, DIM)


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else number(value)


def _tokens(tokens: ShownTokens, page: Page, *, full: bool, alone: bool) -> None:
    page.gap()
    if not alone:
        page.line(Text(printable(tokens.name), style="bold"))
    if tokens.ids is None:
        page.labelled("null", "the row has no list of tokens", GUILTY, INDENT)
    elif not len(tokens):
        page.labelled("empty", "the row has no tokens", GUILTY, INDENT)
    else:
        if tokens.texts is None:
            page.labelled("text", "not known: give --tokenizer PATH", "bold", INDENT, DIM)
        else:
            _text(b"".join(tokens.texts), page, full=full)
        for name, values in tokens.beside.items():
            if values is None:
                page.labelled(_label(name), "null", "", INDENT)
        page.gap()
        _grid(tokens, page, full=full)


def _text(content: bytes, page: Page, *, full: bool) -> None:
    """Print a row's text, decoded as a whole."""
    text = _visible(decoded(content), page)
    room = (page.width - INDENT) * TEXT_LINES
    if not full and cell_len(text) > room:
        text = shorten(text, room - INDENT)
    for place, line in enumerate(_folded(text, page.width - INDENT)):
        shown = Text(line)
        shown.highlight_regex(ESCAPE, UNSEEN)
        page.line(Text().append(f"{'text' if place == 0 else '':<{INDENT}}", style="bold").append_text(shown))


def _folded(text: str, width: int) -> Iterator[str]:
    """Yield lines of at most `width` cells, cut behind a space where one is near the end, and nothing lost."""
    line, cells, space = "", 0, 0
    for character in text:
        size = cell_len(character)
        if cells + size > width:
            cut = space if space > len(line) // 2 else len(line)
            yield line[:cut]
            line = line[cut:]
            cells, space = cell_len(line), 0
        line, cells = line + character, cells + size
        if character == " ":
            space = len(line)
    if line:
        yield line


def _grid(tokens: ShownTokens, page: Page, *, full: bool) -> None:
    """Print tokens in blocks of lines, one line a column, as many tokens beside each other as the width holds."""
    runs = [(0, len(tokens))] if full else list(stretches(len(tokens), tokens.guilty, whole=WHOLE, head=HEAD, gap=GAP))
    end = 0
    for start, stop in runs:
        if start > end:
            _left_out(start - end, page)
        _run(tokens, start, stop, page)
        end = stop
    if end < len(tokens):
        _left_out(len(tokens) - end, page)


def _left_out(count: int, page: Page) -> None:
    page.labelled("…", f"{counted(count, 'token')} left out (--full shows all)", DIM, INDENT, DIM)
    page.gap()


def _run(tokens: ShownTokens, start: int, stop: int, page: Page) -> None:
    """Print a stretch without gaps."""
    lines = _lines(tokens, page)
    widths = [max(1, *(cell_len(line.cell(place)) for line in lines)) for place in range(start, stop)]
    first = start
    while first < stop:
        last, room = first, page.width - INDENT
        while last < stop and (last == first or room >= widths[last - start]):
            room -= widths[last - start] + GAP
            last += 1
        _block(tokens, lines, range(first, last), widths[first - start : last - start], page)
        first = last


@dataclass(frozen=True)
class _Line:
    """One line of every block: its label, and for each position what stands there, and how it looks."""

    label: str
    cells: Sequence[str]
    styles: Sequence[str]

    def cell(self, place: int) -> str:
        return self.cells[place] if place < len(self.cells) else ""


def _lines(tokens: ShownTokens, page: Page) -> list[_Line]:
    """Return the lines of a row, all positions of each."""
    length = len(tokens)
    mask = next((values for name, values in tokens.beside.items() if name.endswith("attention_mask")), None)
    unattended = {place for place, value in enumerate(mask or ()) if not value}
    styles = [_style(tokens, place, unattended) for place in range(length)]
    lines = []
    if tokens.texts is not None:
        lines.append(_Line("token", [_shown(text, page) for text in tokens.texts], styles))
    lines.append(_Line("id", _cells(tokens.ids), styles))
    for name, values in tokens.beside.items():
        if values is not None:
            dim = [DIM if place in unattended or value in {0, -100, None} else "" for place, value in enumerate(values)]
            lines.append(_Line(_label(name), _cells(values), dim))
    return lines


def _label(name: str) -> str:
    """Return what a column beside the tokens is called, in few characters."""
    return shorten(printable(next((SHORT[each] for each in SHORT if name.endswith(each)), name)), INDENT - 2)


def _style(tokens: ShownTokens, place: int, unattended: set[int]) -> str:
    if place in tokens.guilty:
        return "bold white on red"
    if place in tokens.special:
        return SPECIAL
    return DIM if place in unattended else ""


def _cells(values: Sequence[Any] | None) -> list[str]:
    return ["null" if each is None else str(int(each) if isinstance(each, bool) else each) for each in values or ()]


def _shown(content: bytes, page: Page) -> str:
    """Return a token's text: spaces as a sign, runs of one as their number, bytes that are no character spelled out."""
    sign = "␣" if page.blocks else "_"
    text = decoded(content)
    if len(text) > 3 and set(text) == {" "}:
        return f"{sign}x{len(text)}"
    return shorten(_visible(text, page).replace(" ", sign), MOST_CELLS)


def _visible(text: str, page: Page) -> str:
    """Return text as it will stand on the page, spelled out where the page has no such characters: widths are taken of it."""
    shown = printable(text)
    return shown if page.blocks else shown.encode("ascii", "backslashreplace").decode("ascii")


def _block(tokens: ShownTokens, lines: Sequence[_Line], places: range, widths: Sequence[int], page: Page) -> None:
    """Print some tokens: a ruler, their lines, and a mark under those at which something is wrong."""
    page.line(_ruler(tokens, places, widths))
    for line in lines:
        shown = Text().append(f"{line.label:<{INDENT}}", style="bold" if line.label in {"token", "id"} else "")
        for place, width in zip(places, widths, strict=True):
            cell = line.cell(place)
            text = Text(cell, style=line.styles[place] if place < len(line.styles) else "")
            if line.label == "token" and place not in tokens.guilty:
                text.highlight_regex(ESCAPE, UNSEEN)
            shown.append_text(text).append(" " * (width - cell_len(cell) + GAP))
        page.line(shown)
    if not tokens.guilty.isdisjoint(places):
        marks = Text(" " * INDENT)
        for place, width in zip(places, widths, strict=True):
            marks.append(("^" * width if place in tokens.guilty else " " * width) + " " * GAP, style=GUILTY)
        page.line(marks)
    page.gap()


def _ruler(tokens: ShownTokens, places: range, widths: Sequence[int]) -> Text:
    """Return the positions of a block's first token and of those at which something is wrong, where they find room."""
    ruler, cells = "", 0
    for place, width in zip(places, widths, strict=True):
        told = str(place) if place == places.start or place in tokens.guilty else ""
        if told and cell_len(ruler) <= cells:
            ruler += " " * (cells - len(ruler)) + told + " "
        cells += width + GAP
    return Text(f"{'at':<{INDENT}}{ruler}", style=DIM)
