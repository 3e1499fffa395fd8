"""Lines for a console: labelled, wrapped with a hanging indent, and without anything behind their last character."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

STYLES: Mapping[str, str] = {
    "fail": "bold red",
    "warn": "yellow",
    "unjudged": "magenta",
    "pass": "green",
}


class Page:
    """Where the parts of a report write their lines.

    Args:
        console: Where they go.
        verbose: Whether all is to be told that is known, rather than what has to be read.

    Attributes:
        width: Cells of a line; at least 40, below which nothing is laid out any more.
        blocks: Whether block characters can be shown.
    """

    def __init__(self, console: Console, *, verbose: bool = True) -> None:
        self._console, self.verbose = console, verbose
        self.width = max(40, console.width)
        self.blocks = console.encoding.lower().replace("-", "").startswith("utf")

    def style_of(self, status: str) -> str:
        """Return how a verdict's word looks."""
        return STYLES.get(status, "")

    def line(self, text: Text) -> None:
        """Print a line as it is, however long."""
        text.rstrip()
        if not self.blocks:
            text = Text(text.plain.replace("…", "...").encode("ascii", "backslashreplace").decode("ascii"))
        self._console.print(text, soft_wrap=True, highlight=False)

    def gap(self) -> None:
        """Print an empty line."""
        self.line(Text(""))

    def text(self, text: str, *, indent: int = 0, style: str = "") -> None:
        """Print text, wrapped, every line indented."""
        self.labelled("", text, style="", indent=indent, text_style=style)

    def labelled(self, label: str, text: str, style: str = "", indent: int = 6, text_style: str = "") -> None:
        """Print text, wrapped, behind a label of its own column.

        Args:
            label: Shorter than `indent`.
            text: Printable text.
            style: Of the label.
            indent: Where the text begins.
            text_style: Of the text.
        """
        for place, line in enumerate(Text(text, style=text_style).wrap(self._console, self.width - indent)):
            head = f"{label:<{indent}}" if place == 0 else " " * indent
            self.line(Text.assemble((head, style), line))  # a sum of two texts would be in the style of the first
