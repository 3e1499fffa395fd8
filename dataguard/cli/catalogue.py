"""`dataguard catalogue`: what can be expected of shards."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dataguard.errors import UsageError, nearest

if TYPE_CHECKING:
    from dataguard.expectations.base import Expectation

EXAMPLES = """
[bold]Examples[/bold]

dataguard catalogue

dataguard catalogue expect_token_ids_to_be_in_vocabulary

dataguard catalogue --metrics
"""


def catalogue(
    type: Annotated[
        str | None,
        typer.Argument(metavar="TYPE", show_default=False, help="Tell of one expectation alone, and all of it."),
    ] = None,
    *,
    metrics: Annotated[
        bool,
        typer.Option("--metrics", help="List the numbers that expect_metric_to_be_between can bound; TYPE names one."),
    ] = False,
    plugins: Annotated[
        list[str] | None,
        typer.Option("--plugin", metavar="MODULE", help="Tell of a plugin's expectations too; it is imported."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to a file too, as JSON.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors, and --json.")] = False,
) -> None:
    """List the expectations; of one, its arguments, defaults and reasons."""
    from dataguard.cli.documents import deliver

    described, text = _metrics(type) if metrics else _expectations(type, plugins or ())
    deliver(described if type is None else described[0], text, out=out, as_json=as_json, quiet=quiet)


def _expectations(type: str | None, plugins: Sequence[str]) -> tuple[list[dict[str, Any]], str]:
    """Return what there is to say of all expectations, or of one, and that for people."""
    from rich.console import Console

    from dataguard.cli.streams import Sheet
    from dataguard.suite.plugins import Known

    known = Known(plugins)
    if type is not None and type not in known:
        raise UsageError(f"no expectation is called {type}", fix=nearest(type, known))
    chosen = {type: known[type]} if type is not None else known.loaded()
    described = [_described(each) for each in chosen.values()]
    sheet = Sheet(sys.stdout)
    for each in described:
        _print(each, Console(file=sheet, highlight=False), whole=type is not None)
    return described, sheet.text()


def _metrics(name: str | None) -> tuple[list[dict[str, Any]], str]:
    """Return what there is to say of every number that has a name, or of one, and that for people."""
    from rich.console import Console

    from dataguard.cli.streams import Sheet
    from dataguard.metrics.named import NUMBERS
    from dataguard.reports.page import Page

    if name is not None and name not in NUMBERS:
        raise UsageError(f"no metric is called {name}", fix=nearest(name, NUMBERS))
    chosen = NUMBERS if name is None else {name: NUMBERS[name]}
    described = [{"metric": each, "what": of.meaning, "needs": list(of.needs)} for each, of in chosen.items()]
    sheet = Sheet(sys.stdout)
    page = Page(Console(file=sheet, highlight=False))
    width = max(map(len, NUMBERS)) + 2
    for each, of in chosen.items():
        needs = f" (needs {', '.join(of.needs)})" if of.needs else ""
        page.labelled(each, f"{of.meaning}{needs}", "cyan", width)
    return described, sheet.text()


def _described(kind: type[Expectation]) -> dict[str, Any]:
    """Return what there is to say of an expectation, as plain values."""
    import inspect

    from pydantic_core import PydanticUndefined

    arguments = {}
    for name, field in kind.arguments().items():
        default = field.get_default(call_default_factory=True)
        arguments[name] = "(must be given)" if default is PydanticUndefined else default
    return {
        "type": kind.type(),
        "level": kind.level,
        "severity": kind.default_severity,
        "what": (inspect.getdoc(kind) or "").partition("\n")[0],
        "arguments": arguments,
        "reasons": list(kind.reasons),
        "fix": kind.fix,
    }


def _print(each: dict[str, Any], console: Any, *, whole: bool) -> None:
    from dataguard.reports.page import Page
    from dataguard.reports.reasons import in_words

    page = Page(console)
    page.labelled(
        "", f"{each['type']}  {each['level']}, {each['severity']}", indent=0, text_style="bold" if whole else ""
    )
    page.text(each["what"], indent=6, style="" if whole else "dim")
    if not whole:
        return
    page.gap()
    labels = max(map(len, each["arguments"])) + 2
    for name, default in each["arguments"].items():
        page.labelled(f"      {name}", _flow(default), "cyan", 6 + labels)
    if each["reasons"]:
        page.gap()
        width = max(map(len, each["reasons"])) + 2
        for reason in each["reasons"]:
            page.labelled(f"      {reason}", in_words(reason) or "", "yellow", 6 + width)
    if each["fix"]:
        page.gap()
        page.labelled("fix", each["fix"], "bold", 6)


def _flow(value: Any) -> str:
    import json

    return json.dumps(value, default=str)
