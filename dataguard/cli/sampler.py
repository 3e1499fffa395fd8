"""`dataguard sampler`: will the sampler deal the same data again?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dataguard.cli.telling import tell
from dataguard.cli.values import FailOn, mapping_of, names_of, parameter
from dataguard.errors import UsageError

EXAMPLES = """
[bold]Examples[/bold]

dataguard sampler --observed observed.json

dataguard sampler --observed observed.json --set exact=true --out sampler-out

Exit status: 0 the sampler holds, 1 it does not, 2 the command or the observation is unusable, 3 a fault of dataguard.
"""
BY, OUT = "What is judged, and by what", "What comes out"


def sampler(
    *,
    observed: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=BY,
            help="What a training run saw of its sampler, as JSON (docs/sampler.md).",
        ),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            rich_help_panel=BY,
            show_default="sampler",
            help="A shipped suite or a file; its expectations of a sampler are judged.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            rich_help_panel=BY,
            help="Value of a suite parameter. May be given several times.",
        ),
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option(rich_help_panel=BY, help="Least severity whose failures make the exit status 1.")
    ] = FailOn.CRITICAL,
    plugins: Annotated[
        list[str] | None,
        typer.Option(
            "--plugin",
            metavar="MODULE",
            rich_help_panel=BY,
            help="A module that gives further expectations; it is imported. May be given several times.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            rich_help_panel=OUT,
            show_default="nothing is written",
            help="Folder for report.json and run.json.",
        ),
    ] = None,
    report: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            rich_help_panel=OUT,
            help="Reports: console, json. report.json is written where there is an --out.",
        ),
    ] = "console",
    as_json: Annotated[
        bool, typer.Option("--json", rich_help_panel=OUT, help="The result on stdout, everything else on stderr.")
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", rich_help_panel=OUT, help="Print nothing but errors, and one line where it fails."),
    ] = False,
) -> int:
    """Judge what a sampler dealt: the same again, to every rank its own, and to all equally much."""
    parameters = {name: parameter(text) for name, text in mapping_of("--set", settings or ()).items()}
    if observed is None:
        raise UsageError("there is nothing to judge", fix="give --observed FILE")

    from dataguard.run.arguments import known_names
    from dataguard.run.sampler import judge_observed

    reports = known_names("report", names_of(report), ("console", "json"))
    result = judge_observed(
        observed, suite=suite, parameters=parameters, plugins=plugins or (), fail_on=fail_on.value, out=out
    )
    tell(result, out, console="console" in reports, as_json=as_json, quiet=quiet)
    return 0 if result.success else 1
