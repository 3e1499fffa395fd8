"""The reports of a run that are files: asked for by name, and staged with its other outputs."""

from __future__ import annotations

from collections.abc import Sequence

from dataguard.errors import UsageError
from dataguard.reports.files import FILES, HTML, REPORTS, files_of
from dataguard.reports.json_report import report_json
from dataguard.result import Result
from dataguard.run.arguments import known_names
from dataguard.run.outputs import REPORT, Outputs


def check_reports(reports: Sequence[str], *, placed: bool, pages: bool = False) -> None:
    """Refuse reports that there are none of, and such as are files where there is no place for them.

    Args:
        placed: Whether there is an output folder.
        pages: Whether rows are at hand, which report.html shows.

    Raises:
        UsageError: There is one.
    """
    if HTML in reports and not pages:
        why = "it shows rows, and no row is read here"
        raise UsageError("there can be no report html", why=why, fix="run dataguard validate --report html")
    known_names("report", reports, (*REPORTS, HTML) if pages else REPORTS)
    if not placed and (files := files_of(reports)):
        why = f"{files[0]} is written into the output folder, and none is given"
        named = next(name for name in reports if name in FILES or name == HTML)
        raise UsageError(f"the report {named} needs a place", why=why, fix="give --out DIR (from Python: out=FOLDER)")


def stage_reports(outputs: Outputs, result: Result, reports: Sequence[str]) -> None:
    """Stage report.json, and the others that are files.

    Raises:
        OutputError: One cannot be written.
    """
    for name in dict.fromkeys(reports):
        if name in FILES:
            outputs.write_text(FILES[name].file, FILES[name].text(result))
    outputs.write_text(REPORT, report_json(result))
