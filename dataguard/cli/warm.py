"""`dataguard warm`: compile the kernels now."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """
[bold]Examples[/bold]

dataguard warm

NUMBA_CACHE_DIR=/opt/kernels dataguard warm --quiet

The second is for an image: set the same variable where it runs.
"""


def warm(
    *,
    plugins: Annotated[
        list[str] | None,
        typer.Option("--plugin", metavar="MODULE", help="Compile a plugin's kernels too; it is imported."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what was compiled to a file, as JSON.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Tell what was compiled as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors, and --json.")] = False,
) -> None:
    """Compile all kernels, for every type of column, into the cache that later runs read."""
    from dataclasses import asdict

    from dataguard.cli.documents import deliver
    from dataguard.cli.streams import say
    from dataguard.run.kernels import warm_all
    from dataguard.suite.plugins import Known

    def note(text: str) -> None:
        if not quiet:
            say(f"{text}\n", sys.stderr)

    warmed = warm_all(Known(plugins or ()).loaded(), note)
    where = "no folder can be written, so every process compiles for itself" if warmed.cache is None else warmed.cache
    text = (
        f"{warmed.kernels} kernels are ready: {warmed.compiled} variants compiled now, {warmed.found} found in the cache, "
        f"in {warmed.seconds:.1f} s\ncache {where}\n"
    )
    text += f"without {', '.join(warmed.left_out)}\n" if warmed.left_out else ""
    document = {**asdict(warmed), "seconds": round(warmed.seconds, 3)}
    deliver(document, text, out=out, as_json=as_json, quiet=quiet)
