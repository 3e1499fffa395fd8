"""What went wrong, told in one message; the traceback of a fault of ours goes to a log."""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dataguard.cli.streams import say
from dataguard.errors import OutputError, UsageError
from dataguard.run.cache import cache_folder
from dataguard.version import __version__


def usage_of(error: Any) -> UsageError:
    """Return what the parser of the command line objects to, in plain words."""
    context, option = getattr(error, "ctx", None), (getattr(getattr(error, "param", None), "opts", None) or [""])[0]
    see = f"see {'dataguard' if context is None else context.command_path} --help"
    objections = getattr(error.__cause__, "errors", None)  # pydantic's, where the parser has its values checked by it
    if not option or not callable(objections):
        return UsageError(str(error.format_message()).rstrip("."), fix=see)

    from dataguard.suite.words import allowed, did_you_mean, nearest_allowed

    errors = objections()
    got, why = errors[0].get("input"), allowed(errors).rstrip(".")
    fix = nearest_allowed(errors, got)
    if one_of := ONE_OF.fullmatch(why):
        choices = QUOTED.findall(one_of[1])
        why, fix = f"it must be {' or '.join(choices)}", did_you_mean(str(got), choices)
    return UsageError(f"{option} cannot be {got!r}", why=why, fix=fix or see)


ONE_OF, QUOTED = re.compile(r"'.*' is not one of ((?:'[^']*'(?:, )?)+)"), re.compile(r"'([^']*)'")
"""How the parser objects to a word that is none of a few: their names stand nowhere else in its error."""


def tell_usage(error: UsageError) -> None:
    """Tell what is unusable, where, why, and how to mend it."""
    _tell(f"error: {error}\n")


def tell_interruption(error: BaseException) -> None:
    """Tell in one line that the command was interrupted, and what has become of its output folder, where it has one."""
    _tell("; ".join(["interrupted", *getattr(error, "__notes__", ())]) + "\n")


def tell_fault(error: BaseException, arguments: Sequence[str]) -> None:
    """Tell that dataguard itself failed, and where the log lies."""
    kind = type(error).__name__
    summary = " ".join(str(error).split())[:200]
    lines = [f"error: a fault of dataguard, not of your data: {kind}" + (f": {summary}" if summary else "")]
    log = _write_log(error, arguments)
    if log is not None:
        lines += [f"  log   {log}", "  fix   please send this log with a report of what you did"]
    if isinstance(error, MemoryError):
        lines += ["  why   there was not enough memory; fewer --jobs need less"]
    _tell("\n".join(lines) + "\n")


def _tell(text: str) -> None:
    """Write a message to stderr, if anybody can read it there."""
    shown = "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)
    try:
        say(shown, sys.stderr)
    except OutputError:
        return


def _write_log(error: BaseException, arguments: Sequence[str]) -> Path | None:
    """Write the traceback to the user's cache folder, else to the temporary one; None where neither can be written."""
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    about = [
        f"dataguard {__version__}",
        f"python {sys.version}",
        f"platform {platform.platform()}",
        f"arguments {list(arguments)!r}",
        f"folder {Path.cwd()}",
    ]
    text = "\n".join(about) + "\n\n" + "".join(traceback.format_exception(error))
    for folder in _log_folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError:
            continue
        return folder / name
    return None


def _log_folders() -> Iterator[Path]:
    with suppress(OSError):
        yield cache_folder() / "logs"
    with suppress(OSError):
        yield Path(tempfile.gettempdir()) / "dataguard-logs"
