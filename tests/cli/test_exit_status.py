"""Exit statuses: what scripts rely on, whatever happens."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import dataguard.run.rejudge
import dataguard.run.validate
from dataguard.cli import end, run
from dataguard.errors import DataError, ShardFault, SuiteError
from dataguard.result import ExpectationResult, Result
from tests.builders import table_of

Fake = Callable[..., Any]


def result(*successes: bool, fail_on: Any = "critical", severity: Any = "critical") -> Result:
    verdicts = tuple(ExpectationResult(f"expect_{place}", {}, severity, each) for place, each in enumerate(successes))
    return Result("s", {}, verdicts, {}, fail_on=fail_on)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[[Fake], None]:
    """Put a function in the place of the library's `validate`."""

    def put(function: Fake) -> None:
        monkeypatch.setattr(dataguard.run.validate, "validate", function)

    return put


def raises(error: BaseException) -> Fake:
    def fake_validate(*_: Any, **__: Any) -> Result:
        raise error

    return fake_validate


@pytest.mark.parametrize(
    ("judged", "status"),
    [(result(True, True), 0), (result(True, False), 1), (result(False, severity="warning"), 0)],
    ids=["all hold", "one fails", "a warning"],
)
def test_0_and_1_are_the_verdict(fake: Any, judged: Result, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    fake(lambda *_, **__: judged)
    assert run(["validate", "x"]) == status
    assert capsys.readouterr().err == ""


def test_what_is_unusable_is_2_and_one_message(fake: Any, capsys: pytest.CaptureFixture[str]) -> None:
    fake(raises(DataError("nothing to judge", where="data/", why="the folder is empty", fix="give a folder of shards")))
    assert run(["validate", "data/"]) == 2
    assert capsys.readouterr() == (
        "",
        "error: nothing to judge\n  where data/\n  why   the folder is empty\n  fix   give a folder of shards\n",
    )


def test_a_message_shows_control_characters_and_keeps_its_lines(fake: Any, capsys: pytest.CaptureFixture[str]) -> None:
    fake(raises(SuiteError("bad key \x1b[2J", file="a\nb.yaml", line=3)))
    assert run(["validate", "x"]) == 2
    assert capsys.readouterr().err == "error: bad key \\x1b[2J\n  where a\nb.yaml, line 3\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], ""),
        (["validate"], "Missing argument"),
        (["validate", "x", "--nonsense"], "--nonsense"),
        (["validate", "x", "--vocab", "5"], "--vocab"),
        (["validate", "x", "--vocab-size", "many"], "--vocab-size"),
        (["validate", "x", "--vocab-size", "0"], "--vocab-size"),
        (["validate", "x", "--fail-on", "never"], "never"),
        (["validate", "x", "--fail-on", "warn"], "did you mean warning?"),
        (["validate", "x", "--source-from", "colum"], "did you mean column?"),
        (["validate", "x", "--quarantine-limit", "big"], "'big' is no size"),
        (["validate", "x", "--set", "max_length"], "'max_length' is no NAME=VALUE"),
        (["validate", "x", "--set", "a=1", "--set", "a=2"], "a is given twice"),
        (["validate", "x", "--column", "=ids"], "give --column ROLE=NAME, such as --column input_ids=tokens"),
        (["validate", "x", "--report", "pdf"], "pdf"),
        (["vaildate", "x"], "vaildate"),
        (["catalogue", "expect_token_ids_to_be_in_vocabulry"], "did you mean expect_token_ids_to_be_in_vocabulary"),
    ],
)
def test_a_wrong_command_is_2(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    told = capsys.readouterr()
    assert says in told.err
    assert not says or (told.out == "" and told.err.startswith("error: "))
    assert "Traceback" not in told.err + told.out


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--fail-on", "warn", "why   it must be critical or warning or info\n  fix   did you mean warning?\n"),
        ("--vocab-size", "many", "why   it must be a whole number\n  fix   see dataguard validate --help\n"),
        ("--jobs", "0", "why   it must be at least 1\n  fix   see dataguard validate --help\n"),
    ],
)
def test_a_value_is_refused_in_plain_words(
    option: str, value: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["validate", "x", option, value]) == 2
    assert capsys.readouterr().err == f"error: {option} cannot be {value!r}\n  {told}"


@pytest.mark.parametrize("error", [ZeroDivisionError("oh"), ShardFault("corrupt", "leaked"), MemoryError()], ids=repr)
def test_a_fault_of_ours_is_3_with_a_log(fake: Any, error: BaseException, capsys: pytest.CaptureFixture[str]) -> None:
    fake(raises(error))
    assert run(["validate", "some data"]) == 3
    told = capsys.readouterr().err
    assert told.startswith(f"error: a fault of dataguard, not of your data: {type(error).__name__}")
    assert "Traceback" not in told
    found = re.search(r"^  log   (.*)$", told, re.MULTILINE)
    assert found is not None
    log = Path(found[1]).read_text(encoding="utf-8")
    assert "Traceback" in log
    assert "['validate', 'some data']" in log


def test_a_panic_of_another_language_is_a_fault_too(fake: Any, capsys: pytest.CaptureFixture[str]) -> None:
    class PanicException(BaseException):
        """As Rust's panics come through to Python."""

    fake(raises(PanicException("index out of bounds")))
    assert run(["validate", "x"]) == 3
    assert "PanicException: index out of bounds" in capsys.readouterr().err


def test_a_log_that_cannot_be_written_is_no_second_fault(
    fake: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    fake(raises(ZeroDivisionError("oh")))
    assert run(["validate", "x"]) == 3
    assert capsys.readouterr().err == "error: a fault of dataguard, not of your data: ZeroDivisionError: oh\n"


def test_an_interruption_is_130_and_one_line(fake: Any, capsys: pytest.CaptureFixture[str]) -> None:
    fake(raises(KeyboardInterrupt()))
    assert run(["validate", "x"]) == 130
    assert capsys.readouterr() == ("", "interrupted; dataguard-out is as it was before\n")


def test_a_command_without_an_output_folder_speaks_of_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dataguard.run.rejudge, "rejudge", raises(KeyboardInterrupt()))
    assert run(["judge", "earlier"]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")


@pytest.mark.parametrize("options", [[], ["--quiet"], ["--json"]])
def test_an_interruption_says_what_has_become_of_the_output_folder(
    options: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dataguard.run.validate, "run", raises(KeyboardInterrupt()))
    monkeypatch.chdir(tmp_path)
    pq.write_table(table_of(input_ids=[[1, 2]]), "x.parquet")
    assert run(["validate", "x.parquet", "--out", "there/out", *options]) == 130
    assert capsys.readouterr() == ("", "interrupted; there/out is as it was before\n")
    assert not (tmp_path / "there").exists()


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["validate", "--help"], ["catalogue"]])
def test_help_and_the_like_are_0(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 0
    assert capsys.readouterr().err == ""


SLOW = """
import signal, sys, threading, time
import dataguard.run.validate
from dataguard.cli import main
def validate(*_, **__):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    try:
        print("begun", file=sys.stderr, flush=True)
        time.sleep(60)
    finally:
        signal.raise_signal(signal.SIGINT)  # as when it is pressed twice
        print("cleaned up", file=sys.stderr, flush=True)
dataguard.run.validate.validate = validate
main()
"""
LONG = """
import dataguard.run.validate
from dataguard.cli import main
from dataguard.result import ExpectationResult, Result
verdicts = tuple(ExpectationResult(f"expect_{place}", {}, "critical", False) for place in range(2_000))
dataguard.run.validate.validate = lambda *_, **__: Result("s", {}, verdicts, {})
main()
"""


@pytest.mark.parametrize(
    ("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "terminated"]
)
def test_a_signal_ends_a_run_at_once_and_in_order(sent: signal.Signals, status: int) -> None:
    process = subprocess.Popen([sys.executable, "-c", SLOW, "validate", "x"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline() == "begun\n"
    started = time.monotonic()
    process.send_signal(sent)
    _, told = process.communicate(timeout=40)
    assert (process.returncode, told) == (status, "cleaned up\ninterrupted; dataguard-out is as it was before\n")
    assert time.monotonic() - started < 30  # and not the minute that the run would take


FALLEN_INTO_A_FINALIZER = """
class Place:
    def __del__(self):
        print("begun", file=sys.stderr, flush=True)
        time.sleep(60)
def validate(*_, **__):
    place = Place()
    del place
    time.sleep(60)
"""
FALLEN_INTO_SOURCE = """
def validate(*_, **__):
    exec("print('begun', file=sys.stderr, flush=True); time.sleep(60)")
"""
STAGED = """
import sys, time
import dataguard.run.validate
from dataguard.cli import main
{}
dataguard.run.validate.validate = validate
main()
"""


@pytest.mark.parametrize(
    ("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "terminated"]
)
@pytest.mark.parametrize("code", [FALLEN_INTO_A_FINALIZER, FALLEN_INTO_SOURCE], ids=["finalizer", "source"])
def test_a_signal_that_python_would_lose_ends_the_run(code: str, sent: signal.Signals, status: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STAGED.format(code), "validate", "x"], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "begun\n"
    process.send_signal(sent)
    _, told = process.communicate(timeout=40)
    assert (process.returncode, told) == (status, "interrupted; dataguard-out is as it was before\n")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_pipe_that_is_closed_changes_no_verdict(options: list[str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", LONG, "validate", "x", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    told = process.stderr.read() if not options else b""
    process.stderr.close()
    assert process.wait(timeout=60) == 1
    assert told == b""


def test_closed_streams_change_no_verdict() -> None:
    command = f"{sys.executable} -c '{LONG}' validate x >&- 2>&-"
    assert subprocess.run(command, shell=True, check=False).returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_onto_a_full_disk_is_2_and_said() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", LONG, "validate", "x"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert "stdout cannot be written" in done.stderr
    assert "no space left" in done.stderr


def test_the_module_is_called_dataguard(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dataguard", "validate", "--help"], capture_output=True, text=True, check=True
    )
    assert "Usage: dataguard validate" in done.stdout
    done = subprocess.run(
        [sys.executable, "-m", "dataguard", "validate", str(tmp_path / "none"), "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert not (tmp_path / "out").exists()


def test_an_ascii_terminal_is_no_fault(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, "-m", "dataguard", "validate", str(tmp_path / "ö文"), "--out", str(tmp_path / "out")],
        capture_output=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 2
    assert rb"\xf6\u6587" in done.stderr


def test_an_interruption_that_falls_into_polars_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class PanicException(BaseException):
        """What Polars makes of an exception in the middle of its own work."""

    def panic(*_: object, **__: object) -> None:
        msg = "Failed to access NumPy array API capsule: PyErr { type: <class 'KeyboardInterrupt'>, value: … }"
        raise PanicException(msg)

    monkeypatch.setattr("dataguard.cli.app", panic)
    assert run(["validate", "data"]) == 130
    assert "interrupted" in capsys.readouterr().err


def raising(error: type[BaseException]) -> None:
    raise error


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_one_is_obeyed_changes_nothing(number: signal.Signals) -> None:
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        end(number, None)
    for first in (KeyboardInterrupt, SystemExit):
        try:
            raising(first)
        except first:
            end(number, None)
            try:
                raising(OSError)
            except OSError:
                end(number, None)
    try:
        raising(OSError)
    except OSError:
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            end(number, None)
