"""`dataguard sampler`: will the sampler deal the same data again?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dataguard.cli.options import BY, OUT, REPORT_NAMES, AsJson, FailOnLeast, Plugins, SetParameters, Verbose
from dataguard.cli.telling import tell
from dataguard.cli.values import Backend, Deal, DropLast, FailOn, SourceFrom, is_told, mapping_of, names_of, parameter
from dataguard.errors import UsageError

EXAMPLES = """
[bold]Examples[/bold]

dataguard sampler data/ --world-size 8 --batch-size 4 --epochs 3

dataguard sampler data/ --world-size 64 --batch-size 8 --drop-last both --num-workers 4 --seed 17

dataguard sampler --observed observed.json

dataguard sampler --observed observed.json --set exact=true --out sampler-out

Exit status: 0 the sampler holds, 1 it does not, 2 the command or the observation is unusable, 3 a fault of dataguard.
"""
HOW = "How the run samples"


OF_A_RUN = {
    "world_size": "--world-size",
    "batch_size": "--batch-size",
    "epochs": "--epochs",
    "seed": "--seed",
    "shuffle": "--shuffle or --no-shuffle",
    "drop_last": "--drop-last",
    "num_workers": "--num-workers",
    "grad_accum": "--grad-accum",
    "deal": "--deal",
    "backend": "--backend",
    "samples": "--samples",
}
"""Options that say how a run samples: a file that was observed says so itself."""


def sampler(
    context: typer.Context,
    data: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DATA]", show_default=False, help="Shards, as in validate: their rows are the samples."
        ),
    ] = None,
    *,
    world_size: Annotated[int, typer.Option(metavar="N", rich_help_panel=HOW, help="Number of ranks.")] = 1,
    batch_size: Annotated[int, typer.Option(metavar="N", rich_help_panel=HOW, help="Rows in a batch of one rank.")] = 1,
    epochs: Annotated[int, typer.Option(metavar="N", rich_help_panel=HOW, help="Epochs to look at.")] = 2,
    seed: Annotated[int, typer.Option(metavar="N", rich_help_panel=HOW, help="Of the sampler.")] = 0,
    shuffle: Annotated[
        bool, typer.Option("--shuffle/--no-shuffle", rich_help_panel=HOW, help="Whether the sampler shuffles.")
    ] = True,
    drop_last: Annotated[
        DropLast,
        typer.Option(
            rich_help_panel=HOW,
            help="What is left out: rows that do not divide among the ranks (sampler), incomplete last batches (loader).",
        ),
    ] = DropLast.NONE,
    num_workers: Annotated[
        int, typer.Option(metavar="N", rich_help_panel=HOW, help="Workers of each rank's loader.")
    ] = 0,
    grad_accum: Annotated[
        int, typer.Option(metavar="N", rich_help_panel=HOW, help="Batches of a rank in a step of the optimizer.")
    ] = 1,
    deal: Annotated[
        Deal,
        typer.Option(
            rich_help_panel=HOW,
            help="shards: an iterable dataset deals whole shards; who runs out first is foreseen from their row counts alone.",
        ),
    ] = Deal.ROWS,
    backend: Annotated[
        Backend,
        typer.Option(
            rich_help_panel=HOW,
            help="simulate computes the orders; gloo and nccl start real ranks; auto does so for a --loader.",
        ),
    ] = Backend.AUTO,
    loader: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FACTORY",
            rich_help_panel=HOW,
            help="Your own loader: FACTORY(rank, world_size, epoch, ...) returns it; it is imported, and run in each rank.",
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, rich_help_panel=HOW, help="Length of the loader's dataset, where that is not DATA."
        ),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0.1,
            rich_help_panel=HOW,
            help="Time without a batch after which a real rank has hung.",
        ),
    ] = 60,
    observed: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=BY,
            help="What a training run saw of its sampler, as JSON or Parquet (docs/sampler.md).",
        ),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            rich_help_panel=BY,
            show_default="sampler",
            help="A shipped suite or a file; its expectations of a sampler are judged.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="ROLE=NAME", rich_help_panel=BY, help="As in validate."),
    ] = None,
    source_from: Annotated[
        SourceFrom | None, typer.Option(rich_help_panel=BY, show_default=False, help="As in validate.")
    ] = None,
    settings: SetParameters = None,
    fail_on: FailOnLeast = FailOn.CRITICAL,
    plugins: Plugins = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            rich_help_panel=OUT,
            show_default="nothing is written",
            help="Folder for report.json and run.json.",
        ),
    ] = None,
    report: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            rich_help_panel=OUT,
            help=f"{REPORT_NAMES}. Those that are files need an --out, where report.json always is.",
        ),
    ] = "console",
    as_json: AsJson = False,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", rich_help_panel=OUT, help="Print nothing but errors, and one line where it fails."),
    ] = False,
    verbose: Verbose = False,
    store: Annotated[
        Path | None,
        typer.Option(metavar="DIR", rich_help_panel=OUT, show_default="the user's cache", help="As in validate."),
    ] = None,
    no_store: Annotated[bool, typer.Option("--no-store", rich_help_panel=OUT, help="As in validate.")] = False,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", min=1, show_default="the cores", help="As in validate.")
    ] = None,
) -> int:
    """Judge what a sampler deals: the same again, to every rank its own, and to all equally much."""
    parameters = {name: parameter(text) for name, text in mapping_of("--set", settings or ()).items()}
    if bool(data or loader) == (observed is not None):
        what = "there is nothing to judge" if observed is None else "DATA and --observed are two things to judge"
        raise UsageError(what, fix="give DATA, --observed FILE, or --loader MODULE:FACTORY")

    if observed is not None and (idle := [flag for name, flag in OF_A_RUN.items() if is_told(context, name)]):
        why = "the file itself says how the run sampled"
        raise UsageError(f"{', '.join(idle)} cannot be given with --observed", why=why, fix="leave it out")

    from dataguard.cli.progress import Watch
    from dataguard.run.sampler import judge_observed, judge_sampler
    from dataguard.sampler.settings import DROPS, Settings

    reports = names_of(report)
    asked: dict[str, Any] = {
        "suite": suite,
        "parameters": parameters,
        "plugins": plugins or (),
        "fail_on": fail_on.value,
        "out": out,
        "reports": reports,
    }
    if observed is not None:
        result = judge_observed(observed, **asked)
    else:
        how = Settings(world_size, batch_size, epochs, seed, shuffle, DROPS[drop_last.value], num_workers, grad_accum)
        result = judge_sampler(
            data or None,
            how,
            **asked,
            backend=backend.value,
            loader=loader,
            samples=samples,
            timeout=timeout,
            deal=deal.value,
            columns=mapping_of("--column", columns or ()),
            source_from=None if source_from is None else source_from.value,
            store=None if no_store else store or "auto",
            jobs=jobs,
            watch=Watch(quiet=quiet, bar=not as_json),
        )
    tell(result, out, reports, data=data or (), as_json=as_json, quiet=quiet, verbose=verbose)
    return 0 if result.success else 1
