"""Two reports side by side, as a value: what broke, what was mended, and what changed in numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from dataguard.reports.json_report import plain
from dataguard.result import SEVERITIES, Severity
from dataguard.version import __version__

Status = Literal["holds", "failed", "not judged", "skipped"]
Kind = Literal["broken", "worse", "mended", "changed", "added", "removed"]
KINDS: tuple[Kind, ...] = ("broken", "worse", "mended", "changed", "added", "removed")


@dataclass(frozen=True)
class Told:
    """What one report says of an expectation.

    Args:
        status: `failed` whatever the severity.
        severity: None where it was skipped.
        judged: Rows, shards or sources that were judged; None where nothing is counted.
        unexpected: How many of them are unexpected.
        reasons: How many by reason code.
        kwargs: Its arguments.
        why: What is missing where it was not judged or skipped.
        place: Where the first unexpected one stands: its entry of the report.
    """

    status: Status
    severity: Severity | None
    judged: int | None
    unexpected: int | None
    reasons: Mapping[str, int]
    kwargs: Mapping[str, Any]
    why: str | None = None
    place: Mapping[str, Any] | None = None

    @property
    def share(self) -> float | None:
        """The share of those judged that is unexpected, from 0 to 1; None where nothing is counted."""
        return None if self.unexpected is None or not self.judged else self.unexpected / self.judged


@dataclass(frozen=True)
class Change:
    """An expectation that is not as it was.

    Args:
        old, new: What each report says of it; None where it has no such expectation.
    """

    kind: Kind
    name: str
    type: str
    old: Told | None
    new: Told | None

    def is_worse(self, fail_on: Severity) -> bool:
        """Whether something that held is broken; one that cannot be judged any more counts as critical."""
        if self.kind not in {"broken", "worse"}:
            return False
        if self.new is not None and self.new.status == "not judged":
            return True
        severity = next((told.severity for told in (self.new, self.old) if told and told.severity), "critical")
        return SEVERITIES.index(severity) <= SEVERITIES.index(fail_on)


@dataclass(frozen=True)
class Amount:
    """A number of the whole data set; None where a report does not know it."""

    name: str
    old: int | None
    new: int | None


@dataclass(frozen=True)
class Drift:
    """How far a distribution has moved.

    Args:
        index: The population stability index.
        chance: What chance alone gives once in a thousand times.
        at_least: The two are counted in different classes, and the index is that of their most alike reading.
        moved: Whether the index, less chance, is past 0.1.
        most: Which class differs most, in words.
    """

    column: str
    name: str
    index: float
    chance: float
    at_least: bool
    moved: bool
    most: str


@dataclass(frozen=True)
class Difference:
    """What is not alike in two reports.

    Args:
        changes: By kind, then in the order of the new report.
        alike: How many expectations are as they were.
        notes: What keeps the two from being compared well.
    """

    old: str
    new: str
    fail_on: Severity
    changes: Sequence[Change]
    alike: int
    amounts: Sequence[Amount]
    drifts: Sequence[Drift]
    notes: Sequence[str]

    @property
    def success(self) -> bool:
        """Whether nothing that held is broken, at or above `fail_on`."""
        return not any(change.is_worse(self.fail_on) for change in self.changes)

    def of(self, kind: Kind) -> list[Change]:
        """Return the changes of a kind."""
        return [change for change in self.changes if change.kind == kind]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, the same for the same reports."""
        changes = [{**asdict(change), "fails": change.is_worse(self.fail_on)} for change in self.changes]
        told: dict[str, Any] = plain(
            {"dataguard": __version__, "success": self.success, **asdict(self), "changes": changes}
        )
        return told


def difference_json(difference: Difference) -> str:
    """Return diff.json."""
    return json.dumps(difference.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
