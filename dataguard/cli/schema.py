"""`dataguard schema`: what a suite or a dataguard.yaml may say, for editors."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """
[bold]Examples[/bold]

dataguard schema --out suite.schema.json

dataguard schema project --out project.schema.json

In the first line of a suite, for the YAML language server of editors:

# yaml-language-server: $schema=suite.schema.json
"""


class Kind(StrEnum):
    """What the schema is of."""

    SUITE = "suite"
    PROJECT = "project"


def schema(
    kind: Annotated[
        Kind, typer.Argument(metavar="suite|project", help="Of suites, or of dataguard.yaml.")
    ] = Kind.SUITE,
    *,
    plugins: Annotated[
        list[str] | None,
        typer.Option("--plugin", metavar="MODULE", help="Know a plugin's expectations too; it is imported."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to a file instead of stdout.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it, beside the file too.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors, and --json.")] = False,
) -> None:
    """Print the JSON Schema (draft 2020-12) of suites or of dataguard.yaml."""
    from dataguard.cli.documents import deliver
    from dataguard.suite.plugins import Known
    from dataguard.suite.schema import project_schema, suite_schema

    known = Known(plugins or ())
    document = suite_schema(known.loaded()) if kind is Kind.SUITE else project_schema()
    deliver(document, "", out=out, as_json=as_json or (out is None and not quiet), quiet=quiet)
