"""The command line: a file for each command, and one place that turns what happened into an exit status.

0: nothing at or above --fail-on failed. 1: something did, or could not be judged. 2: the command, the suite, DATA or the
output folder is unusable. 3: a fault of dataguard. 130: interrupted (143: terminated).

This module and those of the commands load nothing heavy; a command imports what it calls when it is called.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from dataguard.cli import (
    catalogue,
    diff,
    fingerprint,
    judge,
    locate,
    profile,
    sampler,
    schema,
    show,
    store,
    validate,
    warm,
)
from dataguard.cli.faults import tell_fault, tell_interruption, tell_usage, usage_of
from dataguard.cli.streams import prepare_streams, silence
from dataguard.errors import UsageError
from dataguard.version import __version__

UNUSABLE, FAULT, INTERRUPTED, TERMINATED = 2, 3, 130, 143


class Interrupted(Exception):
    """A command was interrupted by Ctrl-C; its cause is the KeyboardInterrupt."""


class Command(TyperCommand):
    """A command whose interruption is told by us: typer would turn it into a status alone."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; one that ends before it came to its output folder has left that alone."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, SystemExit) as error:
            out = ctx.params.get("out")
            if out is not None and not getattr(error, "__notes__", ()):
                error.add_note(f"{out} is as it was before")
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted from error
            raise


app = typer.Typer(
    name="dataguard",
    help="Judge tokenized training shards before a run: which rows would blow it up, where, why, and how to mend them.",
    epilog="Start with: dataguard validate FOLDER",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command(cls=Command, epilog=validate.EXAMPLES)(validate.validate)
app.command(cls=Command, epilog=judge.EXAMPLES)(judge.judge)
app.command(cls=Command, epilog=diff.EXAMPLES)(diff.diff)
app.command(cls=Command, epilog=profile.EXAMPLES)(profile.profile)
app.command(cls=Command, epilog=sampler.EXAMPLES)(sampler.sampler)
app.command(cls=Command, epilog=store.EXAMPLES)(store.store)
app.command(cls=Command, epilog=show.EXAMPLES)(show.show)
app.command(cls=Command, epilog=catalogue.EXAMPLES)(catalogue.catalogue)
app.command(cls=Command, epilog=locate.EXAMPLES)(locate.locate)
app.command(cls=Command, epilog=schema.EXAMPLES)(schema.schema)
app.command(cls=Command, epilog=fingerprint.EXAMPLES)(fingerprint.fingerprint)
app.command(cls=Command, epilog=warm.EXAMPLES)(warm.warm)


def _version(asked: bool) -> None:  # noqa: FBT001  # typer gives an option's value
    if asked:
        typer.echo(f"dataguard {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _dataguard(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001, FBT002  # its callback does it all
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)
        raise typer.Exit(UNUSABLE)


def main() -> NoReturn:
    """Run the command that the process was started with, and end the process."""
    prepare_streams()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    sys.unraisablehook = end_again
    status = run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the verdict has been told, and is not to be taken back
    silence(sys.stdout, sys.stderr)
    if threading.active_count() > 1 or status == INTERRUPTED:
        # Threads that are still in a kernel or a read have nothing to clean up, and may outlive what they use. And where
        # Ctrl-C fell into an exec() of source, as dataclasses make, Python would end with a status of its own.
        os._exit(status)
    sys.exit(status)


def end(number: int, _frame: FrameType | None) -> None:
    """End in the ordinary way, so that what was staged is removed; a signal that comes while one is obeyed changes nothing.

    One Ctrl-C can come twice: Polars raises KeyboardInterrupt for it, and then Python calls this. The second would end the
    removal that the first has begun.
    """
    error = sys.exc_info()[1]
    while error is not None:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            return
        error = error.__context__
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(TERMINATED)


def end_again(ignored: sys.UnraisableHookArgs) -> None:
    """End after all where a signal fell into a call whose errors Python ignores, as those of a finalizer are."""
    if ignored.exc_type not in {KeyboardInterrupt, SystemExit}:
        sys.__unraisablehook__(ignored)
        return
    number = signal.SIGINT if ignored.exc_type is KeyboardInterrupt else signal.SIGTERM
    again = threading.Timer(0.01, signal.pthread_kill, [threading.main_thread().ident, number])
    again.daemon = True
    again.start()


def run(arguments: Sequence[str]) -> int:
    """Run a command and return the exit status; whatever went wrong has been told on stderr.

    Args:
        arguments: What stands behind `dataguard`.
    """
    status = UNUSABLE
    try:
        returned = app(list(arguments), prog_name="dataguard", standalone_mode=False)
        status = returned if isinstance(returned, int) else 0
    except UsageError as error:
        tell_usage(error)
    except (Interrupted, KeyboardInterrupt) as error:
        tell_interruption(error.__cause__ or error)
        status = INTERRUPTED
    except BrokenPipeError:
        silence(sys.stdout)
    except SystemExit as end:
        # rich ends the process where nobody reads a page of help any more; that is no verdict on data.
        status = end.code if isinstance(end.code, int) and end.code != 1 else UNUSABLE
        if status == TERMINATED:
            tell_interruption(end)
    except BaseException as error:  # noqa: BLE001  # a panic of Polars is no Exception
        if "KeyboardInterrupt" in str(error):  # it fell into Polars, which turns it into a panic that quotes it
            tell_interruption(error)
            status = INTERRUPTED
        elif hasattr(error, "format_message"):  # of the command line's parser, whichever package it comes from
            tell_usage(usage_of(error))
        else:
            tell_fault(error, arguments)
            status = FAULT
    return status
