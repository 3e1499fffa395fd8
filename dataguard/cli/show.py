"""`dataguard show`: rows as people read them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dataguard.cli.values import mapping_of, parameter

if TYPE_CHECKING:
    from dataguard.reports.rows import ShownRow

EXAMPLES = """
[bold]Examples[/bold]

dataguard show data/ --row train/data-00000-of-00002.arrow:12

dataguard show data/ --unexpected expect_rows_not_to_be_periodic --limit 5

dataguard show data/ --from dataguard-out

dataguard show data/ --random 3 --seed 7 --tokenizer tokenizer.json
"""
WHICH, BY, OUT = "Which rows", "By what they are read and judged", "What comes out"


def show(
    data: Annotated[list[Path], typer.Argument(metavar="DATA", show_default=False, help="As in validate.")],
    *,
    rows: Annotated[
        list[str] | None,
        typer.Option(
            "--row",
            metavar="SHARD:ROW",
            rich_help_panel=WHICH,
            help="A row by its number, as reports name it. May be given several times.",
        ),
    ] = None,
    unexpected: Annotated[
        str | None,
        typer.Option(metavar="TYPE", rich_help_panel=WHICH, help="The first rows that an expectation finds."),
    ] = None,
    earlier: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="OUT",
            rich_help_panel=WHICH,
            help="Rows that an earlier run rejected (of --unexpected alone, where that is given): nothing is scanned.",
        ),
    ] = None,
    random: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, rich_help_panel=WHICH, help="Rows drawn from all. Without any option, 3."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", rich_help_panel=WHICH, help="Of the draw.")] = 0,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, rich_help_panel=WHICH, help="Most rows of --unexpected and --from.")
    ] = 3,
    suite: Annotated[str | None, typer.Option(metavar="NAME|FILE", rich_help_panel=BY, help="As in validate.")] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(metavar="PATH", rich_help_panel=BY, help="Gives the tokens' text. Without it, one beside DATA."),
    ] = None,
    model: Annotated[Path | None, typer.Option(metavar="DIR", rich_help_panel=BY, help="As in validate.")] = None,
    vocab_size: Annotated[
        int | None, typer.Option(metavar="N", min=1, rich_help_panel=BY, help="As in validate.")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(metavar="N", min=1, rich_help_panel=BY, help="As in validate.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", rich_help_panel=BY, help="As in validate.")
    ] = None,
    columns: Annotated[
        list[str] | None, typer.Option("--column", metavar="ROLE=NAME", rich_help_panel=BY, help="As in validate.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", rich_help_panel=OUT, help="Show long rows whole.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", rich_help_panel=OUT, show_default="nothing is written", help="Folder for rows.json."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", rich_help_panel=OUT, help="The rows as JSON on stdout.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", rich_help_panel=OUT, help="Print nothing but errors.")] = False,
) -> None:
    """Show rows: their text, and each token's id, mask and label under each other, guilty tokens marked."""
    parameters = {name: parameter(text) for name, text in mapping_of("--set", settings or ()).items()}
    roles = mapping_of("--column", columns or ())

    from dataguard.cli.progress import Watch
    from dataguard.run.show import show as find

    shown = find(
        data,
        rows=rows or (),
        unexpected=unexpected,
        earlier=earlier,
        random=random,
        seed=seed,
        limit=limit,
        suite=suite,
        tokenizer=tokenizer,
        model=model,
        vocab_size=vocab_size,
        max_length=max_length,
        parameters=parameters,
        columns=roles,
        out=out,
        watch=Watch(quiet=quiet, bar=not as_json),
    )
    if not quiet:
        print_shown(shown, full=full, as_json=as_json)


def print_shown(rows: list[ShownRow], *, full: bool = False, as_json: bool = False) -> None:
    """Print rows as people read them, or as JSON."""
    from rich.console import Console

    from dataguard.cli.streams import Sheet, say
    from dataguard.reports.page import Page
    from dataguard.reports.rows import rows_json
    from dataguard.reports.rows_page import print_rows

    if as_json:
        say(rows_json(rows), sys.stdout)
        return
    sheet = Sheet(sys.stdout)
    page = Page(Console(file=sheet, highlight=False))
    if rows:
        print_rows(rows, page, full=full)
    else:
        page.text("no row is unexpected")
    say(sheet.text(), sys.stdout)
