"""`dataguard judge OUT`: other thresholds on stored numbers, without a scan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dataguard.cli.options import REPORT_NAMES
from dataguard.cli.telling import tell, tell_timings
from dataguard.cli.values import FailOn, mapping_of, names_of, parameter

EXAMPLES = """
[bold]Examples[/bold]

dataguard judge dataguard-out --suite stricter.yaml

dataguard judge dataguard-out --suite sft --set max_length=4096 --out second-look
"""


def judge(
    earlier: Annotated[
        Path,
        typer.Argument(metavar="OUT", show_default=False, help="The output folder of a run of dataguard validate."),
    ],
    *,
    suite: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="A shipped suite or a file; without it, the one that fits.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Value of a suite parameter. May be given several times."),
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option(metavar="PATH", show_default="that of the run", help="As in validate.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="DIR", show_default="that of the run", help="As in validate.")
    ] = None,
    vocab_size: Annotated[
        int | None, typer.Option(metavar="N", min=1, show_default="that of the run", help="As in validate.")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The suite's parameter max_length, as in validate.")
    ] = None,
    plugins: Annotated[
        list[str] | None,
        typer.Option("--plugin", metavar="MODULE", help="As in validate. May be given several times."),
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option(help="Least severity whose failures make the exit status 1.")
    ] = FailOn.CRITICAL,
    store: Annotated[
        Path | None, typer.Option(metavar="DIR", show_default="that of the run", help="Where the numbers are kept.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", show_default="nothing is written", help="Folder for report.json and rejected.parquet."
        ),
    ] = None,
    report: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help=f"{REPORT_NAMES}. Those that are files need an --out, where report.json always is.",
        ),
    ] = "console",
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print all of every expectation, those that hold too.")
    ] = False,
    timings: Annotated[bool, typer.Option("--timings", help="Tell on stderr where the time went.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The result on stdout, everything else on stderr.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print nothing but errors, and one line where the data fails.")
    ] = False,
) -> int:
    """Judge an earlier run by another suite or other thresholds. No shard is read."""
    parameters = {name: parameter(text) for name, text in mapping_of("--set", settings or ()).items()}

    from dataguard.cli.progress import Watch
    from dataguard.run.rejudge import rejudge
    from dataguard.run.timings import Timings

    spent = Timings()
    result = rejudge(
        earlier,
        suite=suite,
        tokenizer=tokenizer,
        model=model,
        vocab_size=vocab_size,
        max_length=max_length,
        parameters=parameters,
        store=store,
        out=out,
        reports=names_of(report),
        plugins=plugins or (),
        fail_on=fail_on.value,
        watch=Watch(quiet=quiet, bar=False),
        timings=spent,
    )
    tell(result, out, names_of(report), as_json=as_json, quiet=quiet, verbose=verbose)
    if timings:
        tell_timings(spent)
    return 0 if result.success else 1
