"""What stops a command, as one tree; faults of the data are no exceptions but findings of the result.

DataguardError
├── UsageError             the command, its options or its surroundings are unusable      (exit status 2)
│   ├── DataError          DATA is missing, empty, or has no token column
│   ├── SuiteError         a suite cannot be understood; it knows file and line
│   ├── PluginError        a plugin cannot be loaded, or gives what is no expectation
│   ├── VocabularyError    a tokenizer or model folder cannot be read
│   └── OutputError        the output folder cannot be written
└── ShardFault             one shard cannot be trusted: becomes a finding, never leaves the run
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class DataguardError(Exception):
    """Root of the exceptions that dataguard raises on purpose."""


class UsageError(DataguardError):
    """Say in one message what is wrong, where, why, and how to mend it.

    Args:
        what: What could not be done, one sentence without a full stop.
        where: The path, option or place in a file that it is about.
        why: The cause, where `what` does not say it.
        fix: What the user can do now.
    """

    def __init__(self, what: str, *, where: str | None = None, why: str | None = None, fix: str | None = None) -> None:
        self.what, self.where, self.why, self.fix = what, where, why, fix
        super().__init__(str(self))

    def __str__(self) -> str:
        lines = [self.what]
        lines += [f"  {label:<6}{text}" for label, text in self.parts()]
        return "\n".join(lines)

    def parts(self) -> list[tuple[str, str]]:
        """Return the labelled parts that are known, in the order in which they are told."""
        known = (("where", self.where), ("why", self.why), ("fix", self.fix))
        return [(label, text) for label, text in known if text]


class DataError(UsageError):
    """DATA is missing, empty, or has no column of token ids."""


class SuiteError(UsageError):
    """A suite (or dataguard.yaml) that cannot be understood; `file` and `line` (from 1) say where."""

    def __init__(
        self,
        what: str,
        *,
        file: str | None = None,
        line: int | None = None,
        why: str | None = None,
        fix: str | None = None,
    ) -> None:
        self.file, self.line = file, line
        where = file if line is None else f"{file}, line {line}"
        super().__init__(what, where=where, why=why, fix=fix)


class PluginError(UsageError):
    """A plugin that cannot be loaded, or that gives what is no expectation or has a name that is taken."""


class VocabularyError(UsageError):
    """A tokenizer, a model folder or a vocabulary setting that cannot be used."""


class OutputError(UsageError):
    """The output folder cannot be written."""


class ShardFault(DataguardError):
    """One shard cannot be trusted.

    Args:
        reason: A reason code of `expect_shards_to_be_intact` (`truncated`, `corrupt`, …).
        detail: What was found, for people, with the place in bytes or rows where known.
    """

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(f"{reason}: {detail}")


def nearest(name: str, known: Iterable[str]) -> str:
    """Return 'did you mean …?' for a name that is not known, or the known names where none is near."""
    names = sorted(known)
    close = get_close_matches(name, names, n=3, cutoff=0.6)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return f"known: {', '.join(names)}"
