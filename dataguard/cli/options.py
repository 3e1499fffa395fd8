"""Options that `validate` and `sampler` have alike: what is judged by, and what comes out."""

from __future__ import annotations

from typing import Annotated

import typer

from dataguard.cli.values import FailOn

BY, OUT = "What is judged, and by what", "What comes out"

SetParameters = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        rich_help_panel=BY,
        help="Value of a suite parameter. May be given several times.",
    ),
]
FailOnLeast = Annotated[
    FailOn, typer.Option(rich_help_panel=BY, help="Least severity whose failures make the exit status 1.")
]
Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="MODULE",
        rich_help_panel=BY,
        help="A module that gives further expectations; it is imported. May be given several times.",
    ),
]
REPORT_NAMES = "Reports, of which any may be named: console, json, junit, sarif, markdown, github"
Verbose = Annotated[
    bool,
    typer.Option("--verbose", rich_help_panel=OUT, help="Print all of every expectation, those that hold too."),
]
AsJson = Annotated[
    bool, typer.Option("--json", rich_help_panel=OUT, help="The result on stdout, everything else on stderr.")
]
