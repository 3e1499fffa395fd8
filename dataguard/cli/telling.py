"""Print a result: the report for people, or report.json for programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataguard.result import Result


def tell(result: Result, out: Path | None, *, console: bool, as_json: bool, quiet: bool) -> None:
    """Print the result where, and as far as, it was asked for."""
    from rich.console import Console

    from dataguard.cli.streams import Sheet, say
    from dataguard.reports.console import print_report
    from dataguard.reports.json_report import report_json

    stream = sys.stderr if as_json else sys.stdout
    if console and not quiet:
        sheet = Sheet(stream)
        print_report(result, Console(file=sheet, highlight=False), out)
        say(sheet.text(), stream)
    elif quiet and not result.success:
        see = "" if out is None else f"; see {out / 'report.json'}"
        say(f"FAIL: {result.verdict()}{see}\n", sys.stderr)
    if as_json:
        say(report_json(result), sys.stdout)
