"""What GitHub Actions tells its steps by the environment: where the repository lies, and where a step's summary goes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from dataguard.errors import OutputError
from dataguard.reports.github import MOST_SUMMARY, SUMMARY
from dataguard.reports.markdown import MOST_BYTES, markdown_report
from dataguard.result import Result

LEAST = 1_000
"""Bytes below which there is no room for a summary."""


def before_shards(data: Sequence[Path]) -> str:
    """Return what makes names of shards paths from the repository's root; nothing where DATA lies elsewhere, or is several."""
    if len(data) != 1:
        return ""
    folder = data[0] if data[0].is_dir() else data[0].parent
    place, root = folder.resolve(), Path(os.environ.get("GITHUB_WORKSPACE") or ".").resolve()
    inside = place.relative_to(root).as_posix() if place.is_relative_to(root) else "."
    return "" if inside == "." else f"{inside}/"


def add_summary(result: Result) -> None:
    """Add the report to the step's summary, where there is one, as far as there is room.

    Raises:
        OutputError: It cannot be written.
    """
    place = os.environ.get(SUMMARY)
    if not place:
        return
    try:
        with Path(place).open("ab") as file:
            room = MOST_SUMMARY - file.tell()
            if room >= LEAST:
                file.write(markdown_report(result, min(room, MOST_BYTES)).encode())
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        fix = f"unset {SUMMARY}, or name a file that can be written"
        raise OutputError("the step's summary cannot be written", where=place, why=why, fix=fix) from error
