"""How a scan gets on: a line on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from dataguard.cli.streams import say
from dataguard.reports.text import compact


class TokensPerSecond(ProgressColumn):
    """Tokens scanned in a second, so far."""

    def render(self, task: Task) -> Text:
        """Return what stands in the line."""
        elapsed = task.elapsed or 0
        tokens = task.fields.get("tokens", 0)
        return Text(f"{compact(int(tokens / elapsed))} tokens/s" if elapsed > 0 and tokens else "", style="cyan")


class Watch:
    """Told by a run how it gets on; tells people on stderr.

    Args:
        quiet: Tell nothing at all.
        bar: Show progress, where the console is a terminal.
        console: Where people read; None takes stderr.
    """

    def __init__(self, *, quiet: bool, bar: bool, console: Console | None = None) -> None:
        self._console, self._quiet = console or Console(stderr=True, highlight=False), quiet
        self._shows = bar and not quiet and self._console.is_terminal
        self._progress: Progress | None = None
        self._task = TaskID(0)
        self._tokens = 0

    def note(self, text: str) -> None:
        """Tell a line."""
        if self._quiet:
            return
        if self._progress is not None:
            self._console.print(Text(text), soft_wrap=True)
        else:
            say(f"{text}\n", sys.stderr)

    def start(self, rows: int | None, doing: str = "scanning") -> None:
        """Begin to show progress, with the time left where the number of rows is known."""
        if not self._shows:
            return
        self._progress = Progress(
            TextColumn(doing),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.completed:,.0f} rows"),
            TokensPerSecond(),
            TimeRemainingColumn(compact=True),
            console=self._console,
            transient=True,
        )
        self._task = self._progress.add_task("", total=rows, tokens=0)
        self._progress.start()

    def advance(self, rows: int, tokens: int) -> None:
        """Show that so many more have been scanned."""
        self._tokens += tokens
        if self._progress is not None:
            self._progress.update(self._task, advance=rows, tokens=self._tokens)

    def stop(self) -> None:
        """Take the line away."""
        if self._progress is not None:
            self._progress.stop()
        self._progress = None
