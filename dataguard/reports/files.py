"""Which reports there are: some are files beside report.json, the others are printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dataguard.reports.junit import junit_report
from dataguard.reports.markdown import markdown_report
from dataguard.reports.sarif import sarif_report
from dataguard.result import Result


class FileReport(NamedTuple):
    """A report that is a file: its name in the output folder, and what makes its text."""

    file: str
    text: Callable[[Result], str]


FILES: Mapping[str, FileReport] = {
    "junit": FileReport("report.junit.xml", junit_report),
    "sarif": FileReport("report.sarif", sarif_report),
    "markdown": FileReport("report.md", markdown_report),
}
HTML, PAGE = "html", "report.html"
"""The report that is a page, and its file: it shows rows as well, which the result alone does not hold."""
REPORTS = ("console", "json", "github", *FILES)
"""Names of all others; report.json is written whenever there is an output folder."""


def files_of(reports: Sequence[str]) -> list[str]:
    """Return the names of the files that reports become."""
    files = {HTML: PAGE, **{name: each.file for name, each in FILES.items()}}
    return [files[name] for name in dict.fromkeys(reports) if name in files]
