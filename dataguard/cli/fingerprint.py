"""`dataguard fingerprint`: which tokenizer this is, whatever its files are called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """
[bold]Examples[/bold]

dataguard fingerprint tokenizer.json

dataguard fingerprint model-folder --json
"""


def fingerprint(
    tokenizer: Annotated[
        str,
        typer.Argument(
            metavar="TOKENIZER",
            show_default=False,
            help="tokenizer.json, a tokenizer's folder, or a hub name in the local cache.",
        ),
    ],
    *,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to a file too, as JSON.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with what it was made of.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors, and --json.")] = False,
) -> None:
    """Print a tokenizer's fingerprint: over vocabulary, merges, added tokens and special ids, and nothing else.

    Two tokenizers with the same fingerprint give a text the same ids.
    """
    from dataguard.cli.documents import deliver
    from dataguard.vocabulary.loading import load_vocabulary
    from dataguard.vocabulary.paths import resolve

    path = resolve(tokenizer, what="tokenizer", option="TOKENIZER")
    known = load_vocabulary(tokenizer=path, model=None, given={}, vocab_size=None)
    special = dict(sorted(known.tokenizer_ids.items()))
    document = {"fingerprint": known.fingerprint, "size": known.size, "base_size": known.base_size, "special": special}
    deliver(document, f"{known.fingerprint}\n", out=out, as_json=as_json, quiet=quiet)
