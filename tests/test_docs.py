"""Every expectation of the table is documented and tested, and the commands of the page on reports are run."""

from __future__ import annotations

import inspect
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataguard.expectations import EXPECTATIONS
from dataguard.expectations.base import Expectation
from dataguard.reports.files import REPORTS
from tests.conftest import ROOT
from tests.pages import run_commands

TESTS = Path(__file__).parent / "expectations"
every_expectation = pytest.mark.parametrize("expectation", EXPECTATIONS.values(), ids=list(EXPECTATIONS))


def test_the_table_is_not_empty():
    assert EXPECTATIONS


def test_every_expectation_stands_under_its_own_type():
    assert {name: each.type() for name, each in EXPECTATIONS.items()} == {name: name for name in EXPECTATIONS}


@every_expectation
def test_has_a_line_for_the_catalogue(expectation: type[Expectation]):
    assert expectation.__doc__ is not None, "it has only the docstring of its base"
    assert inspect.cleandoc(expectation.__doc__).splitlines()[0].endswith(".")


@every_expectation
def test_says_how_to_mend_it_and_which_reasons_it_gives(expectation: type[Expectation]):
    assert expectation.fix
    assert expectation.reasons


@every_expectation
def test_has_a_test_module(expectation: type[Expectation]):
    module = TESTS / f"test_{expectation.__module__.rpartition('.')[2]}.py"
    assert module.is_file(), f"{expectation.type()} has no {module.name}"


def test_the_commands_of_the_page_on_reports_do_what_they_say(tmp_path: Path):
    table = pa.table({"input_ids": pa.array([[1, 2, 300], [4, 5]], pa.list_(pa.int32()))})
    (tmp_path / "data").mkdir()
    pq.write_table(table, tmp_path / "data" / "a.parquet")
    assert run_commands("reports.md", tmp_path)
    forms = {"report.json", "report.junit.xml", "report.sarif", "report.md"}
    assert forms <= {each.name for each in (tmp_path / "checked").iterdir()}
    assert (tmp_path / "compared" / "diff.json").read_text() == (tmp_path / "comparison.json").read_text()


def test_the_page_on_reports_names_every_report():
    text = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
    assert [name for name in REPORTS if f"| `{name}` |" not in text] == []
