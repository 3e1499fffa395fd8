"""`dataguard store`: what is kept between runs, and less of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dataguard.cli.values import size_of

EXAMPLES = """
[bold]Examples[/bold]

dataguard store

dataguard store --prune 1GiB
"""


def store(
    *,
    folder: Annotated[
        Path | None, typer.Option("--store", metavar="DIR", show_default="the user's cache", help="Which store.")
    ] = None,
    prune: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Remove the oldest numbers until this much is left: 1GiB, 0 for all."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the same to a file, as JSON.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Tell it as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors, and --json.")] = False,
) -> None:
    """Show how much is kept between runs, and remove the oldest of it where asked to."""
    limit = None if prune is None else size_of("--prune", prune)

    from dataguard.cli.documents import deliver
    from dataguard.reports.text import counted, size
    from dataguard.run.store import describe_store

    known = describe_store(folder, limit)
    kept = f"numbers of {counted(known['shards'], 'shard')}, {counted(known['verdicts'], 'verdict')}"
    text = f"store {known['folder']}\n{size(known['bytes'])}: {kept}\n"
    if limit is not None:
        text += f"{size(known['removed'])} removed\n"
    deliver(known, text, out=out, as_json=as_json, quiet=quiet)
