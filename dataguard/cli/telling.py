"""Print a result: the report for people, or report.json for programs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataguard.result import Result
    from dataguard.run.timings import Timings


def tell(
    result: Result,
    out: Path | None,
    reports: Sequence[str] = ("console",),
    *,
    data: Sequence[Path] = (),
    as_json: bool,
    quiet: bool,
    verbose: bool = False,
) -> None:
    """Print the result where, and as far as, it was asked for.

    Args:
        reports: Names of reports, of which `console` and `github` are printed.
        data: What was judged: GitHub names files by their paths in the repository.
        verbose: Print all that is known of every expectation.

    Raises:
        OutputError: Something cannot be written.
    """
    from dataguard.cli.streams import Sheet, say
    from dataguard.reports.json_report import report_json

    stream = sys.stderr if as_json else sys.stdout
    text = ""
    if "console" in reports and not quiet:
        from rich.console import Console

        from dataguard.reports.console import print_report
        from dataguard.reports.files import files_of

        sheet = Sheet(stream)
        print_report(result, Console(file=sheet, highlight=False), out, verbose=verbose, also=files_of(reports))
        text = sheet.text()
    elif quiet and not result.success:
        see = "" if out is None else f"; see {out / 'report.json'}"
        say(f"FAIL: {result.verdict()}{see}\n", sys.stderr)
    if "github" in reports:
        from dataguard.cli.github import add_summary, before_shards
        from dataguard.reports.github import fenced, workflow_commands

        text = (fenced(text) if text else "") + workflow_commands(result, before_shards(data))
        add_summary(result)
    if text:
        say(text, stream)
    if as_json:
        say(report_json(result), sys.stdout)


def tell_timings(timings: Timings) -> None:
    """Tell on stderr where the time of a run went: its steps, and what the scan consisted of, the longest part first."""
    from rich.console import Console
    from rich.table import Table

    console = Console(stderr=True, highlight=False)
    told = timings.to_dict()
    whole = sum(told["steps"].values())
    steps = Table("step", "seconds", "share", box=None, pad_edge=False)
    for name, seconds in told["steps"].items():
        steps.add_row(name, f"{seconds:.3f}", f"{seconds / whole:.0%}" if whole else "")
    parts = Table("of the scan, all threads together", "seconds", box=None, pad_edge=False)
    for name, seconds in sorted(told["scan"].items(), key=lambda part: -part[1]):
        parts.add_row(name, f"{seconds:.3f}")
    for table in (steps, parts):
        for column in table.columns[1:]:
            column.justify = "right"
        console.print()
        console.print(table)
