"""Writing to stdout and stderr: whole texts, and quietly where nobody reads any more."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TextIO

from dataguard.errors import OutputError


def prepare_streams() -> None:
    """Make stdout and stderr usable whatever they are.

    A name that the terminal's encoding lacks is spelled out instead of being a reason to fail. A stream that was closed
    (`>&-`) leads nowhere, instead of into the next file that is opened.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  # for as long as we run
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class Sheet(io.TextIOWrapper):
    """What is to be written to a stream, in its encoding and as if it were it, without touching it.

    rich writes as it goes, and ends the process where a pipe is closed: a verdict must not depend on who reads it.
    """

    def __init__(self, stream: TextIO) -> None:
        self._bytes, self._terminal = io.BytesIO(), stream.isatty()
        super().__init__(self._bytes, stream.encoding or "utf-8", errors="backslashreplace", newline="\n")

    def isatty(self) -> bool:
        return self._terminal

    def text(self) -> str:
        """Return what has been written."""
        self.flush()
        return self._bytes.getvalue().decode(self.encoding)


def say(text: str, stream: TextIO) -> None:
    """Write text to a stream at once. A closed pipe is no fault: what follows is dropped.

    Raises:
        OutputError: The stream cannot be written, as when it is a file on a full disk.
    """
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        silence(stream)
    except OSError as error:
        silence(stream)
        name = "stdout" if stream is sys.stdout else "stderr"
        why = (error.strerror or str(error)).lower()
        raise OutputError(f"{name} cannot be written", why=why, fix="send it somewhere else") from error


def silence(*streams: TextIO) -> None:
    """Drop whatever is still to be written, so that the interpreter does not complain about it at its end."""
    for stream in streams:
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
