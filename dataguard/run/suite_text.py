"""A proposed suite as text: YAML with the reason of each line as a comment, or JSON with the reasons as notes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dataguard.reports.text import printable
from dataguard.result import Severity

WIDTH = 120
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*\Z")
_WORDS_OF_YAML = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


@dataclass(frozen=True)
class Line:
    """One proposed expectation.

    Args:
        reason: What it was derived from, and what it says of the data.
        severity: Where it is not the type's own.
        when: What must be there; where it is not, the shard is left out.
        section: What it stands with.
    """

    type: str
    kwargs: Mapping[str, Any]
    reason: str
    severity: Severity | None = None
    when: Sequence[str] = ()
    section: str = ""

    def entry(self) -> dict[str, Any]:
        """Return it as a suite has it."""
        severity = {} if self.severity is None else {"severity": self.severity}
        kwargs = {"kwargs": dict(self.kwargs)} if self.kwargs else {}
        meta = {"meta": {"dataguard": {"when": list(self.when)}}} if self.when else {}
        return {"type": self.type, **severity, **kwargs, **meta}


@dataclass(frozen=True)
class Proposed:
    """A proposed suite.

    Args:
        head: Remarks on all of it.
        left_out: Types that were not proposed, each with the reason.
        settings: `meta.dataguard`: columns and vocabulary, as far as options gave them.
    """

    lines: Sequence[Line]
    head: Sequence[str] = ()
    left_out: Sequence[tuple[str, str]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the suite as plain values, the reasons as notes."""
        entries = [{**line.entry(), "notes": line.reason} for line in self.lines]
        return {"name": "proposed", "expectations": entries, **self._meta(), "notes": "\n".join(self.head)}

    def json(self) -> str:
        """Return the suite as JSON."""
        return json.dumps(self.document(), indent=2, ensure_ascii=False) + "\n"

    def yaml(self) -> str:
        """Return the suite as YAML, every remark and reason as a comment."""
        parts = [*_comment("", self.head), "name: proposed"]
        parts += [f"{key}: {flow(value)}" for key, value in self._meta().items()]
        parts += ["", "expectations:"]
        for section, line in zip(self._sections(), self.lines, strict=True):
            parts += [*([""] if parts[-1] != "expectations:" else []), f"  # {section}"] if section else []
            parts += [*_comment("  ", [line.reason]), f"  - type: {flow(line.type)}"]
            parts += [f"    {key}: {flow(value)}" for key, value in line.entry().items() if key != "type"]
        if self.left_out:
            by_reason: dict[str, list[str]] = {}
            for kind, why in self.left_out:
                by_reason.setdefault(why, []).append(kind)
            parts += ["", "# Not proposed:"]
            parts += _comment("", [f"  {why}: {', '.join(kinds)}" for why, kinds in by_reason.items()])
        return "\n".join(parts) + "\n"

    def _sections(self) -> list[str]:
        """Return the section that begins with each line; nothing where none does."""
        own = [line.section for line in self.lines]
        return [each if each != before else "" for before, each in zip(["", *own], own, strict=False)]

    def _meta(self) -> dict[str, Any]:
        return {"meta": {"dataguard": dict(self.settings)}} if self.settings else {}


def flow(value: Any) -> str:
    """Return a value as YAML has it in one line; text that is more than a word stands in double quotes."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(key)}: {flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str):
        return value if _PLAIN.match(value) and value.lower() not in _WORDS_OF_YAML else _quoted(value)
    return json.dumps(value)


def _quoted(text: str) -> str:
    spelled = (each if each.isprintable() and each not in '"\\' else f"\\U{ord(each):08x}" for each in text)
    return '"' + "".join(spelled) + '"'


def _comment(indent: str, texts: Sequence[str]) -> list[str]:
    """Return texts as comments, wrapped; nothing in them can end the comment."""
    lines: list[str] = []
    for text in texts:
        current = f"{indent}#"
        shown = printable(text)
        inner = " " * (len(shown) - len(shown.lstrip()))
        current += inner
        for word in shown.split():
            if len(current) + 1 + len(word) > WIDTH and current.strip(" #"):
                lines.append(current)
                current = f"{indent}#{inner}"
            current += f" {word}"
        lines.append(current.rstrip())
    return lines
