"""`dataguard profile`: look at data, and propose a suite."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dataguard.cli.values import SourceFrom, is_told, mapping_of

if TYPE_CHECKING:
    from dataguard.result import Result

EXAMPLES = """
[bold]Examples[/bold]

dataguard profile data/ > suite.yaml

dataguard profile data/ --tokenizer tokenizer.json --out baseline

dataguard validate tomorrow/ --suite baseline/suite.yaml

Exit status: 0 the data holds to the suite that it came from, 1 it has faults, which the suite has not learned, 2 the command
or DATA is unusable, 3 a fault of dataguard.
"""
BY, OUT = "By what it is read", "What comes out"
TAKEN = ("columns", "vocabulary", "tokenizer", "model", "vocab_size", "source_from", "head", "jobs", "store")
"""What is taken from a dataguard.yaml."""


def profile(
    context: typer.Context,
    data: Annotated[list[Path], typer.Argument(metavar="DATA", show_default=False, help="As in validate.")],
    *,
    tokenizer: Annotated[
        str | None,
        typer.Option(metavar="PATH", rich_help_panel=BY, help="As in validate. Without it, one beside DATA is taken."),
    ] = None,
    model: Annotated[Path | None, typer.Option(metavar="DIR", rich_help_panel=BY, help="As in validate.")] = None,
    vocab_size: Annotated[
        int | None, typer.Option(metavar="N", min=1, rich_help_panel=BY, help="As in validate; the suite keeps it.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="ROLE=NAME", rich_help_panel=BY, help="As in validate; the suite keeps them."),
    ] = None,
    source_from: Annotated[
        SourceFrom | None, typer.Option(rich_help_panel=BY, show_default=False, help="As in validate.")
    ] = None,
    head: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, rich_help_panel=BY, help="Look at the first N rows of each shard alone."),
    ] = None,
    project: Annotated[bool, typer.Option("--project/--no-project", rich_help_panel=BY, help="As in validate.")] = True,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            rich_help_panel=OUT,
            show_default="nothing is written",
            help="Folder for suite.yaml, and for report.json, the baseline that later data is compared with.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", rich_help_panel=OUT, help="The suite as JSON, with the reasons as notes.")
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", rich_help_panel=OUT, help="Print the suite alone, and with --out nothing but errors and --json."
        ),
    ] = False,
    store: Annotated[
        Path | None,
        typer.Option(metavar="DIR", rich_help_panel=OUT, show_default="the user's cache", help="As in validate."),
    ] = None,
    no_store: Annotated[bool, typer.Option("--no-store", rich_help_panel=OUT, help="As in validate.")] = False,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", min=1, show_default="the cores", help="As in validate.")
    ] = None,
) -> int:
    """Look at data, and print a suite that fits it, with the reason of each line. Faults are told, and never learned."""
    options: dict[str, Any] = {
        "tokenizer": tokenizer,
        "model": model,
        "vocab_size": vocab_size,
        "columns": mapping_of("--column", columns or ()),
        "source_from": None if source_from is None else source_from.value,
        "head": head,
        "store": None if no_store else store or "auto",
        "jobs": jobs,
    }

    from dataguard.cli.progress import Watch
    from dataguard.cli.streams import say
    from dataguard.run.profile import profile as look
    from dataguard.run.project import with_projects
    from dataguard.run.request import Request

    if project:
        told = {
            name: value for name, value in options.items() if any(is_told(context, each) for each in _told_by(name))
        }
        options |= with_projects(data, told, TAKEN)
    if options["jobs"] is None:
        del options["jobs"]
    profiled = look(Request(data=data, **options, watch=Watch(quiet=quiet, bar=True)), out)
    if as_json:
        say(profiled.proposed.json(), sys.stdout)
    elif not (quiet and out is not None):
        say(profiled.proposed.yaml(), sys.stdout)
    if not quiet:
        _tell(profiled.result)
    return 0 if profiled.result.success else 1


def _told_by(name: str) -> tuple[str, ...]:
    """Return the parameters of the command that give an argument."""
    return ("store", "no_store") if name == "store" else (name,)


def _tell(result: Result) -> None:
    """Tell on stderr what the suite says of the data that it came from, as far as that does not hold."""
    from rich.console import Console

    from dataguard.cli.streams import Sheet, say
    from dataguard.reports.blocks import block, groups
    from dataguard.reports.console import headline, partial, ranked, took
    from dataguard.reports.page import Page

    sheet = Sheet(sys.stderr)
    page = Page(Console(file=sheet, highlight=False))
    headline(result, page)
    partial(result.meta, page)
    took(result.meta, page)
    for told in groups([each for each in ranked(result) if not each.success]):
        page.gap()
        block(told, result, page)
    say(sheet.text(), sys.stderr)
