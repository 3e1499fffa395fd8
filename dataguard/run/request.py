"""What is asked of a run, and who is told how it gets on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from dataguard.engines import threads
from dataguard.errors import SuiteError
from dataguard.result import Severity
from dataguard.run.timings import Timings
from dataguard.sampler.settings import Settings

SourceFrom = Literal["column", "path", "none"]


class Watch(Protocol):
    """Somebody who is told how a run gets on."""

    def note(self, text: str) -> None:
        """Take a line for people."""

    def start(self, rows: int | None, doing: str = "scanning") -> None:
        """Take that scanning (or something else) begins, of so many rows as far as is known."""

    def advance(self, rows: int, tokens: int) -> None:
        """Take that so many more rows and tokens have been scanned."""

    def stop(self) -> None:
        """Take that scanning has ended."""


class Nobody:
    """Nobody is told."""

    def note(self, text: str) -> None:
        pass

    def start(self, rows: int | None, doing: str = "scanning") -> None:
        pass

    def advance(self, rows: int, tokens: int) -> None:
        pass

    def stop(self) -> None:
        pass


@dataclass(frozen=True)
class Request:
    """Which data to judge, by what, and how.

    Args:
        data: A path, several, or a table in memory (pyarrow, Polars, datasets).
        suite: Name of a shipped suite, a file, or a suite as a dict; None takes the shipped one that fits the columns.
        tokenizer: tokenizer.json, a tokenizer's folder, or a hub name that the local cache holds; None takes one beside the
            data.
        model: A model's folder, for its config and the rows of its embedding.
        vocab_size: Ids below it can be looked up; wins over everything else.
        parameters: Values for the suite's parameters.
        columns: {role: column}; wins over the suite's.
        columns_from: Where the columns that no option gives were asked for, by role, for messages.
        vocabulary: What no tokenizer tells, as in a suite; field by field it wins over the suite's.
        source_from: What says a row's source; None takes the column, else the folder, else the split.
        head: Judge the first so many rows of each shard; None judges all.
        jobs: Units scanned at once.
        fail_on: The least severity whose failures make `success` false.
        plugins: Modules that give further expectations.
        store: Folder that keeps numbers between runs; `auto` lies in the user's cache; None keeps none.
        verify: Believe no file to be unchanged: take its digest again.
        record: shards.parquet of an earlier run: its stored numbers are judged, and no shard is read.
        sampler: How a run samples the rows, where that is to be judged as well.
        pictures: Whether what report.html draws is measured beside what the suite asks for.
        taken: What was taken from a project file, for people.
        watch: Is told how the run gets on.
        timings: Takes in where its time goes.
    """

    data: Any
    suite: str | Path | Mapping[str, Any] | None = None
    tokenizer: str | Path | None = None
    model: str | Path | None = None
    vocab_size: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    columns_from: Mapping[str, str] = field(default_factory=dict)
    vocabulary: Mapping[str, Any] = field(default_factory=dict)
    source_from: SourceFrom | None = None
    head: int | None = None
    jobs: int = field(default_factory=threads.default_jobs)
    fail_on: Severity = "critical"
    plugins: Sequence[str] = ()
    store: str | Path | None = None
    verify: bool = False
    record: Path | None = None
    sampler: Settings | None = None
    pictures: bool = False
    taken: Sequence[str] = ()
    watch: Watch = field(default_factory=Nobody)
    timings: Timings = field(default_factory=Timings)


def with_max_length(parameters: Mapping[str, Any] | None, max_length: int | None) -> dict[str, Any]:
    """Return a suite's parameters with the one that has an option of its own.

    Raises:
        SuiteError: It is given twice, and not the same.
    """
    given = dict(parameters or {})
    if max_length is not None:
        if given.get("max_length", max_length) != max_length:
            why = f"max_length is {max_length} by its own option, and {given['max_length']} among the parameters"
            raise SuiteError("max_length is given twice", why=why, fix="give it once")
        given["max_length"] = max_length
    return given
