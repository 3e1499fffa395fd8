"""expectations/README.md says what the table and the shipped suites say."""

from __future__ import annotations

from pathlib import Path

from dataguard.expectations import EXPECTATIONS
from dataguard.suite.readme import readme, shipped_suites

PAGE = Path(__file__).resolve().parents[2] / "expectations" / "README.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == readme(EXPECTATIONS, shipped_suites()), "run `make catalogue`"


def test_every_expectation_is_told_with_its_arguments_and_reasons() -> None:
    page = readme(EXPECTATIONS, ())
    for name, kind in EXPECTATIONS.items():
        section = page.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert f"level: {kind.level}; default severity: {kind.default_severity}" in section
        assert all(f"`{reason}`" in section for reason in kind.reasons)
        assert f"{(kind.__doc__ or '').splitlines()[0]}\n" in section


def test_every_shipped_suite_is_told_line_by_line() -> None:
    for suite in shipped_suites():
        section = readme({}, [suite]).partition(f"## {suite.name}\n")[2]
        assert [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")] == [
            each.expectation.type() for each in suite.expectations
        ]
