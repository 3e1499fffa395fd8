"""Progress is for terminals, notes are for stderr, and --quiet silences both."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from dataguard.cli.progress import Watch


def watched(*, terminal: bool, quiet: bool = False, bar: bool = True) -> str:
    """Return what a whole scan shows on a console."""
    file = io.StringIO()
    watch = Watch(console=Console(file=file, force_terminal=terminal, width=100), quiet=quiet, bar=bar)
    watch.note("kernels are compiled")
    watch.start(1000)
    watch.advance(500, 200_000)
    watch.advance(500, 200_000)
    watch.stop()
    return file.getvalue()


def test_a_terminal_sees_rows_and_speed_and_the_line_goes() -> None:
    shown = watched(terminal=True)
    assert "1,000 rows" in shown
    assert "100 %" in shown
    assert "tokens/s" in shown
    assert shown.endswith("\x1b[2K")


@pytest.mark.parametrize(
    "options", [{"terminal": False}, {"terminal": True, "quiet": True}, {"terminal": True, "bar": False}]
)
def test_nobody_else_sees_any_of_it(options: dict[str, bool]) -> None:
    assert watched(**options) == ""


def test_notes_go_to_stderr_unless_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    watched(terminal=False)
    assert capsys.readouterr() == ("", "kernels are compiled\n")
    watched(terminal=False, quiet=True)
    assert capsys.readouterr() == ("", "")


def test_a_scan_of_unknown_length_can_be_watched() -> None:
    file = io.StringIO()
    watch = Watch(console=Console(file=file, force_terminal=True, width=100), quiet=False, bar=True)
    watch.start(None)
    watch.advance(5, 10)
    watch.note("a note meanwhile")
    watch.stop()
    watch.stop()
    assert "a note meanwhile" in file.getvalue()
    assert "5 rows" in file.getvalue()
