"""A suite that has been understood: what is expected of a data set, with every parameter filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dataguard.expectations.base import Expectation
from dataguard.result import Severity


@dataclass(frozen=True)
class Configured:
    """One expectation as a suite asks for it.

    Args:
        expectation: With the suite's arguments, validated.
        severity: The suite's, or the expectation's own.
        when: Names (`Context.absent`) of what must be there; where one is absent the expectation is skipped.
        kwargs: The arguments that the suite gives, parameters resolved, defaults not filled in.
        meta: As in the suite.
        id: As in the suite.
        line: Where it stands in the file, from 1; None where the suite came as a dict.
    """

    expectation: Expectation
    severity: Severity
    when: tuple[str, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Suite:
    """What is expected of a data set.

    Args:
        name: As reports call it.
        expectations: In the order of the file; never empty.
        parameters: The suite's own `suite_parameters`, overridden by those given.
        columns: {role: column} of `meta.dataguard.columns`.
        vocabulary: `meta.dataguard.vocabulary`: what the suite knows of the vocabulary.
        quarantine: Severities whose unexpected rows are set aside.
        origin: The file, as it was named; `shipped suite NAME`; or `a dict`.
    """

    name: str
    expectations: tuple[Configured, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    vocabulary: Mapping[str, Any] = field(default_factory=dict)
    quarantine: tuple[Severity, ...] = ("critical", "warning")
    origin: str = "a dict"
