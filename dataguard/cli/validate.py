"""`dataguard validate`: judge shards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dataguard.cli.options import BY, OUT, REPORT_NAMES, AsJson, FailOnLeast, Plugins, SetParameters, Verbose
from dataguard.cli.telling import tell, tell_timings
from dataguard.cli.values import FailOn, SourceFrom, is_told, mapping_of, names_of, parameter, size_of

EXAMPLES = """
[bold]Examples[/bold]

dataguard validate data/

dataguard validate data/ --suite sft --tokenizer tokenizer.json --max-length 2048

dataguard validate shard.arrow --column input_ids=tokens --vocab-size 50257

dataguard validate data/ --clean --out checked

dataguard validate data/ --fail-on warning --json > result.json

dataguard validate data/ --report console,junit,markdown

Exit status: 0 the data holds, 1 it does not, 2 the command or DATA is unusable, 3 a fault of dataguard.
"""
DATA = "What the columns mean"


def validate(
    context: typer.Context,
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA",
            show_default=False,
            help="Shards (Arrow, Parquet), folders of them, or data sets saved by datasets.",
        ),
    ],
    *,
    suite: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            rich_help_panel=BY,
            help="A shipped suite or a file. Without it, the shipped suite that fits the columns is taken.",
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            rich_help_panel=BY,
            help="tokenizer.json, a tokenizer's folder, or a hub name in the local cache. Without it, one beside DATA is taken.",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            rich_help_panel=BY,
            help="A model's folder: ids are judged against its embedding. No weights are loaded.",
        ),
    ] = None,
    vocab_size: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            rich_help_panel=BY,
            help="Ids from 0 up to N-1 are allowed; wins over tokenizer, model and suite.",
        ),
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            rich_help_panel=BY,
            help="Longest row that the trainer takes; the suite's parameter max_length.",
        ),
    ] = None,
    settings: SetParameters = None,
    fail_on: FailOnLeast = FailOn.CRITICAL,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="ROLE=NAME",
            rich_help_panel=DATA,
            help="Which column plays a role, such as input_ids=tokens. May be given several times.",
        ),
    ] = None,
    source_from: Annotated[
        SourceFrom | None,
        typer.Option(
            rich_help_panel=DATA,
            show_default=False,
            help="What says a row's source. Without it: the column source, else the first folder, else the split.",
        ),
    ] = None,
    head: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            rich_help_panel=BY,
            help="Judge the first N rows of each shard alone. The report is marked partial.",
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            rich_help_panel=OUT,
            help="Folder for report.json, rejected.parquet, the quarantine and the clean copy.",
        ),
    ] = Path("dataguard-out"),
    quarantine: Annotated[
        bool,
        typer.Option(
            "--quarantine/--no-quarantine",
            rich_help_panel=OUT,
            help="Copy the rejected rows into a data set of their own.",
        ),
    ] = True,
    quarantine_limit: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            rich_help_panel=OUT,
            help="Most bytes of rows to copy; rejected.parquet always names every row.",
        ),
    ] = "10GiB",
    clean: Annotated[
        bool,
        typer.Option(
            "--clean",
            rich_help_panel=OUT,
            help="Also write the rows that remain, laid out as DATA is, to the folder clean in --out.",
        ),
    ] = False,
    report: Annotated[
        str,
        typer.Option(
            metavar="NAME,...", rich_help_panel=OUT, help=f"{REPORT_NAMES}, html. report.json is always written."
        ),
    ] = "console",
    as_json: AsJson = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", rich_help_panel=OUT, help="Print nothing but errors, and one line where the data fails."
        ),
    ] = False,
    verbose: Verbose = False,
    timings: Annotated[
        bool,
        typer.Option(
            "--timings", rich_help_panel=OUT, help="Tell on stderr where the time went; run.json always does."
        ),
    ] = False,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            rich_help_panel=OUT,
            show_default="the user's cache",
            help="Folder that keeps numbers between runs: unchanged shards are not scanned again.",
        ),
    ] = None,
    no_store: Annotated[
        bool, typer.Option("--no-store", rich_help_panel=OUT, help="Keep no numbers, and use none.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            rich_help_panel=OUT,
            help="Read shards again to see that they are unchanged, instead of believing their size and times.",
        ),
    ] = False,
    plugins: Plugins = None,
    project: Annotated[
        bool,
        typer.Option(
            "--project/--no-project",
            rich_help_panel=BY,
            help="Take settings from dataguard.yaml, in the working directory or above it, and with DATA.",
        ),
    ] = True,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", min=1, show_default="the cores", help="Units that are scanned at once.")
    ] = None,
) -> int:
    """Judge shards by a suite of expectations, and set aside the rows that fail."""
    options: dict[str, Any] = {
        "suite": suite,
        "tokenizer": tokenizer,
        "model": model,
        "vocab_size": vocab_size,
        "max_length": max_length,
        "parameters": {name: parameter(text) for name, text in mapping_of("--set", settings or ()).items()},
        "columns": mapping_of("--column", columns or ()),
        "source_from": None if source_from is None else source_from.value,
        "head": head,
        "out": out,
        "quarantine": quarantine,
        "quarantine_limit": size_of("--quarantine-limit", quarantine_limit),
        "clean": clean,
        "store": None if no_store else store or "auto",
        "verify": verify,
        "reports": names_of(report),
        "jobs": jobs,
        "plugins": plugins or [],
        "fail_on": fail_on.value,
    }

    from dataguard.run.memory import asked_for
    from dataguard.run.timings import Timings

    spent = Timings()
    told = {name: value for name, value in options.items() if _is_told(context, name)}
    where = {name: options[name] for name in ("store", "verify")}
    asked = asked_for({"data": data, **told, **where}, projects=project)
    answer = None if asked is None else asked.answer(spent)
    if answer is not None:
        result = answer.result
        options |= {"out": answer.out, "reports": answer.reports}
    else:
        from dataguard.cli.progress import Watch
        from dataguard.run.project import with_projects
        from dataguard.run.validate import validate as judge

        if project:
            options |= with_projects(data, told)
            if options["store"] != where["store"] or options["plugins"]:
                asked = None  # a project file keeps verdicts elsewhere, or lets foreign code take part
        result = judge(data, **options, watch=Watch(quiet=quiet, bar=not as_json), timings=spent, asked=asked)
    tell(result, options["out"], options["reports"], data=data, as_json=as_json, quiet=quiet, verbose=verbose)
    if timings:
        tell_timings(spent)
    return 0 if result.success else 1


PARAMETERS = {"parameters": ["settings"], "reports": ["report"], "store": ["store", "no_store"]}
"""Parameters of the command that are called otherwise than the library's argument."""


def _is_told(context: typer.Context, name: str) -> bool:
    """Whether the command line gives an argument of the library."""
    return any(is_told(context, each) for each in PARAMETERS.get(name, [name]))
