"""What a command has to say as one JSON document, and the same for people: to a file, to stdout, or to nobody."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dataguard.cli.streams import say
from dataguard.errors import OutputError


def deliver(
    document: Mapping[str, Any] | Sequence[Any], text: str, *, out: Path | None, as_json: bool, quiet: bool
) -> None:
    """Write a document to a file, where one is named, and print it or what it says.

    Args:
        document: Plain values.
        text: What it says, for people; empty where there is nothing to add.
        out: The file; it is replaced whole or not at all.
        as_json: Print the document, not the text.
        quiet: Print no text.

    Raises:
        OutputError: The file cannot be written.
    """
    body = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if out is not None:
        _replace(out, body)
    if as_json:
        say(body, sys.stdout)
    elif not quiet and text:
        say(text, sys.stdout)


def _replace(place: Path, body: str) -> None:
    staged = None
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=place.parent, delete=False) as file:
            staged = file.name
            file.write(body)
        mask = os.umask(0)
        os.umask(mask)
        Path(staged).chmod(0o666 & ~mask)
        Path(staged).replace(place)
    except OSError as error:
        if staged is not None:
            Path(staged).unlink(missing_ok=True)
        why = (error.strerror or str(error)).lower()
        raise OutputError("the file cannot be written", where=str(place), why=why, fix="name another --out") from error
