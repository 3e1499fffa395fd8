"""Every expectation, by the type that suites use. A new one is a file in this room and a line in this table."""

from __future__ import annotations

from dataguard.expectations.base import Expectation

EXPECTATIONS: dict[str, type[Expectation]] = {each.type(): each for each in ()}
