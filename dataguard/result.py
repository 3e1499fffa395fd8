"""The verdict on a data set, as one frozen value in the shape of Great Expectations' results.

Everything that tells about a run (terminal, report.json, HTML) is a function of a `Result`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from dataguard.version import __version__

if TYPE_CHECKING:
    import polars as pl

Severity = Literal["critical", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")
MOST_ENTRIES = 200
"""Entries that `partial_unexpected_index_list` holds at most; the quarantine holds every row."""


@dataclass(frozen=True)
class Finding:
    """One unexpected row (shard and row), shard (shard alone), source (source alone), or place in a sampler's order.

    The last has epoch and rank, the position in the rank's order, and the sample as its value.
    """

    reason: str
    shard: str | None = None
    row: int | None = None
    source: str | None = None
    column: str | None = None
    position: int | None = None
    value: Any = None
    detail: str | None = None
    epoch: int | None = None
    rank: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of `partial_unexpected_index_list`, without what is not known."""
        keys = ("shard", "row", "source", "epoch", "rank", "column", "reason", "position", "value", "detail")
        return {key: value for key in keys if (value := getattr(self, key)) is not None}


@dataclass(frozen=True)
class Unjudged:
    """Why an expectation could not be judged, or was skipped, and what would supply what is missing."""

    missing: str
    fix: str

    def __str__(self) -> str:
        return f"{self.missing}; {self.fix}"


@dataclass(frozen=True, repr=False)
class ExpectationResult:
    """The verdict of one expectation."""

    type: str
    kwargs: Mapping[str, Any]
    severity: Severity
    success: bool
    meta: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None
    unjudged: Unjudged | None = None
    element_count: int | None = None
    unexpected_count: int | None = None
    missing_count: int | None = None
    observed_value: Any = None
    findings: tuple[Finding, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    fix: str = ""
    """What to do about it; told to people, not part of report.json."""
    value_name: str | Mapping[str, str] = ""
    """What the findings' values are, in a word or two, or by reason where that differs; told to people, as `fix` is."""

    def __repr__(self) -> str:
        """Return the verdict in one line: what was judged, and how many are unexpected."""
        parts = [self.type if self.column == "input_ids" else f"{self.type} on {self.column}"]
        if self.unjudged is not None:
            parts.append(f"could not be judged: {self.unjudged.missing}")
        else:
            parts.append("holds" if self.success else f"failed ({self.severity})")
        if self.unexpected_count is not None and self.judged_count is not None:
            parts.append(f"{self.unexpected_count:,} of {self.judged_count:,} unexpected")
        return f"<ExpectationResult {', '.join(parts)}>"

    @property
    def judged_count(self) -> int | None:
        """How many rows, shards or sources were judged; None where nothing is counted."""
        return None if self.element_count is None else self.element_count - (self.missing_count or 0)

    def name_of_value(self, reason: str) -> str:
        """Return what the value of a finding with this reason is; nothing where it needs no name."""
        return self.value_name if isinstance(self.value_name, str) else self.value_name.get(reason, "")

    @property
    def column(self) -> str:
        """The column that was judged; input_ids where the suite names none."""
        return str(self.kwargs.get("column") or "input_ids")

    def to_dict(self) -> dict[str, Any]:
        """Return this verdict in Great Expectations' shape."""
        unexpected_percent = None
        if self.unexpected_count is not None and (judged := self.judged_count) is not None:
            unexpected_percent = 100 * self.unexpected_count / judged if judged else 0.0
        return {
            "success": self.success,
            "expectation_config": {
                "type": self.type,
                "kwargs": dict(self.kwargs),
                "severity": self.severity,
                "meta": dict(self.meta),
                "id": self.id,
            },
            "exception_info": {
                "raised_exception": self.unjudged is not None,
                "exception_message": str(self.unjudged) if self.unjudged else None,
                "exception_traceback": None,
            },
            "result": {
                "element_count": self.element_count,
                "unexpected_count": self.unexpected_count,
                "unexpected_percent": unexpected_percent,
                "missing_count": self.missing_count,
                "observed_value": self.observed_value,
                "partial_unexpected_index_list": [finding.to_dict() for finding in self.findings],
                "details": {"reasons": {}, **self.details},
            },
        }


@dataclass(frozen=True, repr=False)
class Result:
    """The verdict on a data set.

    `meta` is `meta.dataguard` of report.json: version, suite choice, shards, rows, tokens, vocabulary, columns,
    sources (with length histograms), skipped, accounting, notes.
    """

    suite_name: str
    suite_parameters: Mapping[str, Any]
    results: tuple[ExpectationResult, ...]
    meta: Mapping[str, Any]
    fail_on: Severity = "critical"
    rejected: Callable[[], pl.DataFrame] | None = field(default=None, compare=False)
    """Gives every rejected row: shard, row, expectations, reasons (lists); None where nothing was scanned."""
    unexpected_rows: Callable[[str], pl.DataFrame] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """Return the verdict in one line; `to_dict` has all of it."""
        parts = [f"suite {self.suite_name}: {self.verdict()}"]
        parts += [f"{self.meta[key]:,} {key}" for key in ("rows", "tokens") if isinstance(self.meta.get(key), int)]
        return f"<Result {'pass' if self.success else 'fail'}, {'; '.join(parts)}>"

    def verdict(self) -> str:
        """Return how many expectations hold, failed, could not be judged, and failed too mildly to fail the run."""
        total, failures = len(self.results), self.failures()
        unjudged = sum(each.unjudged is not None for each in failures)
        failed, hold = len(failures) - unjudged, sum(each.success for each in self.results)
        expectations = f"{total:,} expectation{'' if total == 1 else 's'}"
        parts = [
            f"{failed:,} of {expectations} failed"
            if failed
            else f"{hold:,} of {expectations} hold{'s' if hold == 1 else ''}"
        ]
        if unjudged:
            parts.append(f"{unjudged:,} could not be judged")
        if warned := total - hold - len(failures):
            parts.append(f"{warned:,} warning{'' if warned == 1 else 's'}")
        return ", ".join(parts)

    @property
    def success(self) -> bool:
        """What the exit status says: nothing at or above `fail_on` failed or could not be judged."""
        return not self.failures()

    def failures(self) -> list[ExpectationResult]:
        """Return the verdicts that decide the exit status; what could not be judged counts as critical."""
        worst = SEVERITIES.index(self.fail_on)
        return [
            each
            for each in self.results
            if not each.success and (each.unjudged is not None or SEVERITIES.index(each.severity) <= worst)
        ]

    def unexpected(self, type: str) -> pl.DataFrame:
        """Return every unexpected row of an expectation: shard, row, column, reason, position, value.

        Args:
            type: An expectation's type, such as `expect_rows_not_to_be_periodic`.

        Raises:
            KeyError: The suite holds no such expectation.
        """
        if type not in {each.type for each in self.results}:
            msg = f"{type} was not judged; judged were {', '.join(sorted({each.type for each in self.results}))}"
            raise KeyError(msg)
        if self.unexpected_rows is None:
            msg = "this result has no rows at hand"
            raise RuntimeError(msg)
        return self.unexpected_rows(type)

    def to_dict(self) -> dict[str, Any]:
        """Return report.json as a dict of plain values, the same for the same input."""
        evaluated = len(self.results)
        successful = sum(each.success for each in self.results)
        return {
            "success": self.success,
            "suite_name": self.suite_name,
            "suite_parameters": dict(self.suite_parameters),
            "statistics": {
                "evaluated_expectations": evaluated,
                "successful_expectations": successful,
                "unsuccessful_expectations": evaluated - successful,
                "success_percent": 100 * successful / evaluated if evaluated else None,
            },
            "meta": {"dataguard": {"version": __version__, **self.meta}},
            "results": [each.to_dict() for each in self.results],
        }
