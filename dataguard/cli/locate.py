"""`dataguard locate`: which rows did each rank see at a training step?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dataguard.cli.values import DropLast, SourceFrom, mapping_of, parameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataguard.reports.page import Page
    from dataguard.run.locate import Located

EXAMPLES = """
[bold]Examples[/bold]

dataguard locate data/ --step 1870 --world-size 64 --batch-size 8 --seed 17

dataguard locate data/ --step 120 --epoch 2 --world-size 8 --batch-size 4 --grad-accum 4 --window 0 --show

dataguard locate data/ --step 1870 --observed observed.json --json > rows.json
"""
HOW, BY, OUT = "How the run sampled", "By what rows are judged", "What comes out"


def locate(
    data: Annotated[list[Path], typer.Argument(metavar="DATA", show_default=False, help="As in validate.")],
    *,
    step: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            rich_help_panel=HOW,
            help="Step of the optimizer, from 0; over all epochs without --epoch.",
        ),
    ],
    epoch: Annotated[
        int | None, typer.Option(metavar="N", min=0, rich_help_panel=HOW, help="The epoch in which --step counts.")
    ] = None,
    window: Annotated[
        int, typer.Option(metavar="N", min=0, rich_help_panel=HOW, help="Steps before and behind it to look at.")
    ] = 50,
    world_size: Annotated[int, typer.Option(metavar="N", rich_help_panel=HOW, help="Number of ranks.")] = 1,
    batch_size: Annotated[int, typer.Option(metavar="N", rich_help_panel=HOW, help="Rows in a batch of one rank.")] = 1,
    seed: Annotated[int, typer.Option(metavar="N", rich_help_panel=HOW, help="Of the sampler.")] = 0,
    shuffle: Annotated[
        bool, typer.Option("--shuffle/--no-shuffle", rich_help_panel=HOW, help="Whether the sampler shuffled.")
    ] = True,
    drop_last: Annotated[
        DropLast, typer.Option(rich_help_panel=HOW, help="What was left out, as in dataguard sampler.")
    ] = DropLast.NONE,
    grad_accum: Annotated[
        int, typer.Option(metavar="N", rich_help_panel=HOW, help="Batches of a rank in a step of the optimizer.")
    ] = 1,
    observed: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", rich_help_panel=HOW, help="What the run saw (docs/sampler.md), instead of computing it."
        ),
    ] = None,
    suite: Annotated[str | None, typer.Option(metavar="NAME|FILE", rich_help_panel=BY, help="As in validate.")] = None,
    tokenizer: Annotated[str | None, typer.Option(metavar="PATH", rich_help_panel=BY, help="As in validate.")] = None,
    model: Annotated[Path | None, typer.Option(metavar="DIR", rich_help_panel=BY, help="As in validate.")] = None,
    vocab_size: Annotated[
        int | None, typer.Option(metavar="N", min=1, rich_help_panel=BY, help="As in validate.")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(metavar="N", min=1, rich_help_panel=BY, help="As in validate.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", rich_help_panel=BY, help="As in validate.")
    ] = None,
    columns: Annotated[
        list[str] | None, typer.Option("--column", metavar="ROLE=NAME", rich_help_panel=BY, help="As in validate.")
    ] = None,
    source_from: Annotated[
        SourceFrom | None, typer.Option(rich_help_panel=BY, show_default=False, help="As in validate.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, rich_help_panel=OUT, help="Rows to print.")] = 20,
    show: Annotated[
        bool, typer.Option("--show", rich_help_panel=OUT, help="Show the text of the three worst rows, too.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", rich_help_panel=OUT, show_default="nothing is written", help="Folder for located.json."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", rich_help_panel=OUT, help="All rows as JSON on stdout.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", rich_help_panel=OUT, help="Print nothing but errors.")] = False,
) -> None:
    """Say which rows each rank took at a training step and around it, the worst first."""
    parameters = {name: parameter(text) for name, text in mapping_of("--set", settings or ()).items()}
    roles = mapping_of("--column", columns or ())

    from dataguard.cli.progress import Watch
    from dataguard.cli.streams import say
    from dataguard.run.locate import locate as find
    from dataguard.run.request import Request, with_max_length
    from dataguard.sampler.settings import DROPS, Settings

    asked: dict[str, Any] = {"suite": suite, "tokenizer": tokenizer, "model": model, "vocab_size": vocab_size}
    request = Request(
        data=data,
        **asked,
        parameters=with_max_length(parameters, max_length),
        columns=roles,
        source_from=None if source_from is None else source_from.value,
        watch=Watch(quiet=quiet, bar=not as_json),
    )
    how = Settings(
        world_size,
        batch_size,
        seed=seed,
        shuffle=shuffle,
        drop_last=DROPS[drop_last.value],
        grad_accum=grad_accum,
    )
    located = find(request, how, step=step, epoch=epoch, window=window, observed=observed, out=out)
    if as_json:
        say(json.dumps(located.to_dict(), ensure_ascii=False) + "\n", sys.stdout)
    elif not quiet:
        say(_told(located, limit), sys.stdout)
        if show:
            _show(located, request)


def _told(located: Located, limit: int) -> str:
    """Return the rows for people."""
    from rich.console import Console

    from dataguard.cli.streams import Sheet
    from dataguard.reports.page import Page
    from dataguard.reports.text import counted, number, printable

    sheet = Sheet(sys.stdout)
    page = Page(Console(file=sheet, highlight=False))
    place = f"epoch {located.epoch}, step {number(located.step)} of {number(located.steps)}"
    steps = [row["step"] for row in located.rows]
    around = f"; looked at from step {number(min(steps))} to {number(max(steps))}" if located.window and steps else ""
    page.labelled("step", f"{place}{around}", "bold", 6)
    for note in located.notes:
        page.labelled("note", printable(note), "yellow", 6)
    for title, rows in (
        ("at the step, the worst first", [row for row in located.rows if not row["offset"]]),
        ("around it, the worst first", [row for row in located.rows if row["offset"] and _is_bad(row)]),
    ):
        if rows:
            page.gap()
            page.text(f"{title} ({min(limit, len(rows)):,} of {counted(len(rows), 'row')})", indent=0, style="bold")
            _table(rows[:limit], page)
    return sheet.text()


def _is_bad(row: Mapping[str, Any]) -> bool:
    return bool(row["findings"] or row["unusual"])


def _table(rows: Sequence[Mapping[str, Any]], page: Page) -> None:
    from rich.text import Text

    from dataguard.reports.text import printable

    cells = [("step", "rank", "tokens", "row", "what")]
    for row in rows:
        what = _reasons(row["findings"])
        what += [f"{name} {row['numbers'][name]:g}" for name in row["unusual"]]
        where = f"{printable(row['shard'])}:{row['row']}"
        where += "" if row["source"] is None else f" ({printable(row['source'])})"
        tokens = row["numbers"].get("tokens")
        cells.append(
            (str(row["step"]), str(row["rank"]), "-" if tokens is None else f"{tokens:g}", where, ", ".join(what))
        )
    widths = [max(len(each[place]) for each in cells) for place in range(4)]
    for place, each in enumerate(cells):
        line = "  ".join(
            cell.rjust(width) if number < 3 else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(each, widths, strict=False))
        )
        page.line(Text(f"{line}  {each[4]}".rstrip(), style="dim" if place == 0 else ""))


def _reasons(findings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the reasons of a row; with the expectation where another has the same reason."""
    reasons = [each["reason"] for each in findings]
    return [
        each["reason"] if reasons.count(each["reason"]) == 1 else f"{each['reason']} ({each['expectation']})"
        for each in findings
    ]


def _show(located: Located, request: Any) -> None:
    """Show the three worst rows as people read them."""
    from dataguard.cli.show import print_shown
    from dataguard.run.show import show

    names = list(dict.fromkeys(f"{row['shard']}:{row['row']}" for row in located.rows))[:3]
    kept = ("suite", "tokenizer", "model", "vocab_size", "parameters", "columns")
    print_shown(show(request.data, rows=names, **{name: getattr(request, name) for name in kept}))
