"""Tables that can be sorted by each column and filtered by what they say; without scripts they are plain tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dataguard.reports.html.elements import Child, Markup, tag

NUMBER = "n"
"""Class of cells that hold numbers: to the right, in figures of one width."""


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Child]],
    *,
    numbers: Iterable[str] = (),
    choices: Sequence[str] = (),
    plain: bool = False,
) -> Markup:
    """Return a table.

    Args:
        caption: What it shows.
        heads: Of its columns.
        rows: A cell each.
        numbers: Heads of the columns that hold numbers.
        choices: Values of the first column, by which rows can be chosen.
        plain: Whether it is too short to be sorted or filtered.
    """
    numeric = set(numbers)
    lines = list(rows)
    head = [
        tag(
            "th",
            head if plain else tag("button", head, type="button"),
            scope="col",
            class_=NUMBER if head in numeric else None,
        )
        for head in heads
    ]
    body = [tag("tr", [_cell(cell, head in numeric) for head, cell in zip(heads, line, strict=True)]) for line in lines]
    shown = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", head)),
        tag("tbody", body),
    )
    tools = None if plain or len(lines) < 6 else _tools(caption, choices, len(lines))
    return tag(
        "div",
        tools,
        tag("div", shown, class_="scroll", tabindex="0", role="region", aria_label=caption),
        class_="table",
    )


def _cell(cell: Child, numeric: bool) -> Markup:  # noqa: FBT001 -- private, and said by its only caller
    return tag("td", cell, class_=NUMBER if numeric else None)


def _tools(caption: str, choices: Sequence[str], count: int) -> Markup:
    """Return what a table is filtered by; hidden until the script shows that it works."""
    words = tag("input", type="search", placeholder="Filter…", aria_label=f"Filter: {caption}", autocomplete="off")
    chosen = None
    if choices:
        options = [tag("option", "all", value=""), *(tag("option", each, value=each) for each in choices)]
        chosen = tag("select", options, aria_label=f"Choose: {caption}")
    return tag("div", words, chosen, tag("output", f"{count}", aria_live="polite"), class_="tools", hidden=True)
