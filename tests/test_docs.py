"""Every expectation of the table is documented and tested."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from dataguard.expectations import EXPECTATIONS
from dataguard.expectations.base import Expectation

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
