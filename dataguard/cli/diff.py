"""`dataguard diff OLD NEW`: what is worse in one report than in an earlier one?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from dataguard.cli.values import FailOn

EXAMPLES = """
[bold]Examples[/bold]

dataguard diff last-night tonight

dataguard diff main/report.json branch/report.json --fail-on warning --json > diff.json

Exit status: 0 nothing got worse, 1 something that held is broken, 2 a report is unusable, 3 a fault of dataguard.
"""


def diff(
    old: Annotated[
        Path, typer.Argument(metavar="OLD", show_default=False, help="A report.json, or the folder that holds it.")
    ],
    new: Annotated[
        Path,
        typer.Argument(metavar="NEW", show_default=False, help="A later report.json, or the folder that holds it."),
    ],
    *,
    fail_on: Annotated[
        FailOn, typer.Option(help="Least severity of an expectation that broke for the exit status to be 1.")
    ] = FailOn.CRITICAL,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", show_default="nothing is written", help="Folder for diff.json."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="The comparison on stdout, everything else on stderr.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print nothing but errors, and one line where something got worse.")
    ] = False,
) -> int:
    """Compare two reports: what broke, what was mended, and what moved. No data is read."""
    from rich.console import Console

    from dataguard.cli.streams import Sheet, say
    from dataguard.reports.difference import difference_json
    from dataguard.reports.difference_page import print_difference, verdict
    from dataguard.run.differ import diff as compare

    found = compare(old, new, fail_on=fail_on.value, out=out)
    stream = sys.stderr if as_json else sys.stdout
    if not quiet:
        sheet = Sheet(stream)
        print_difference(found, Console(file=sheet, highlight=False))
        say(sheet.text(), stream)
    elif not found.success:
        say(f"WORSE: {verdict(found)}\n", sys.stderr)
    if as_json:
        say(difference_json(found), sys.stdout)
    return 0 if found.success else 1
