"""Results as plain Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Goal:
    """What was aimed at, and what was measured. `met` is None where it was not measured."""

    number: int
    what: str
    measured: str
    met: bool | None


@dataclass
class Section:
    """What a part found out.

    Args:
        machine: Facts of the run that measured it.
        body: Markdown.
    """

    title: str
    machine: Sequence[str] = ()
    body: list[str] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.body += [text, ""]

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Add a table; numbers to the right."""
        lines = ["| " + " | ".join(heads) + " |", "|" + "---|" + "---:|" * (len(heads) - 1)]
        self.body += [*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows), ""]

    def goal(self, number: int, what: str, measured: str, *, met: bool | None) -> None:
        """Add a goal."""
        self.goals.append(Goal(number, what, measured, met))

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Section:
        """Return what `to_dict` gave."""
        return cls(**{**values, "goals": [Goal(**goal) for goal in values["goals"]]})


def number(value: float, digits: int = 3) -> str:
    """Return a number with so many digits that tell something."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{max(0, digits - len(str(int(value))))}f}" if value >= 1 else f"{value:.{digits}f}"


def millions(tokens: float) -> str:
    """Return a number of tokens in millions."""
    return f"{tokens / 1e6:,.0f} M" if tokens >= 1e7 else f"{tokens / 1e6:,.1f} M"


def render(sections: Sequence[Section]) -> str:
    """Return RESULTS.md."""
    lines = [
        "# Results",
        "",
        "Written by `make bench`: what it measured, on the machine that each part names. Nothing here is asserted by a test.",
        "Times are medians in seconds; ratios compare what ran in turn in one process unless a table says otherwise.",
        "",
        "## Goals",
        "",
        "| goal | measured | met |",
        "|---|---|---|",
    ]
    goals = sorted((goal for section in sections for goal in section.goals), key=lambda goal: goal.number)
    words = {True: "yes", False: "**no**", None: "not measured"}
    lines += [f"| {goal.number}. {goal.what} | {goal.measured} | {words[goal.met]} |" for goal in goals]
    for section in sections:
        lines += ["", f"## {section.title}", "", *(f"- {fact}" for fact in section.machine), "", *section.body]
    return "\n".join(lines).rstrip() + "\n"
