"""An earlier report, as far as a data set can be compared with it: how its numbers were distributed.

Numbers of rows stand in bins that held about a tenth of the rows each; sources and ranges of ids hold tokens. Rows are samples;
of the tokens that they bring together, `samples` says how many independent ones they are worth.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dataguard.metrics.named import NUMBERS

SOURCE, TOKEN_USE = "source", "token_use"
KNOWN = (*NUMBERS, SOURCE, TOKEN_USE)
HIGHEST = (1 << 62) - 1
"""Past which numbers are all one."""


@dataclass(frozen=True)
class Distribution:
    """How much there is of each class.

    Args:
        rows: Rows that were counted.
        samples: How many independent samples the counts are worth.
        counts: Rows of each bin, or tokens of each range of ids or source.
        edges: Of bins: bin i holds what is at least edges[i - 1] and below edges[i]; one fewer than counts.
        names: Of sources, null for none; behind their counts stand the tokens of all other sources.
    """

    rows: int
    samples: float
    counts: tuple[int, ...]
    edges: tuple[float, ...] = ()
    names: tuple[str | None, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as report.json has it."""
        classes = {"names": list(self.names)} if self.names else {"edges": list(self.edges)}
        return {"rows": self.rows, "samples": self.samples, **classes, "counts": list(self.counts)}

    def classes(self) -> list[str]:
        """Return what each count is of, in words."""
        if self.names:
            return [*("no source" if name is None else name for name in self.names), "other sources"]
        told = [f"{edge:,}" if isinstance(edge, int) else f"{edge:g}" for edge in self.edges]
        between = [f"{start} to {stop}" for start, stop in itertools.pairwise(told)]
        return [f"below {told[0]}", *between, f"{told[-1]} and more"]


@dataclass(frozen=True)
class Baseline:
    """The distributions that a report holds.

    Args:
        columns: By token column and name.
        unknown: Names that this version does not know.
        fingerprint: Of the tokenizer that it was made with.
        is_partial: It was made of the first rows of each shard alone.
    """

    columns: Mapping[str, Mapping[str, Distribution]]
    unknown: tuple[str, ...] = ()
    fingerprint: str | None = None
    is_partial: bool = False


def baseline_of(report: Any) -> Baseline:
    """Return what a report says of the distributions of its data.

    Args:
        report: report.json as plain values, from whomever.

    Raises:
        ValueError: It is no report, or one that holds no distributions.
    """
    told = _mapping(_mapping(report, "it").get("meta"), "meta").get("dataguard")
    meta = _mapping(told, "meta.dataguard")
    if "distributions" not in meta:
        msg = f"version {meta.get('version')!s:.40} of dataguard wrote none"
        raise ValueError(msg)
    columns: dict[str, dict[str, Distribution]] = {}
    unknown: dict[str, None] = {}
    for column, held in _mapping(meta["distributions"], "meta.dataguard.distributions").items():
        for name, document in _mapping(held, "a column's distributions").items():
            if name not in KNOWN:
                unknown[f"{name!s:.40}"] = None
                continue
            try:
                columns.setdefault(column, {})[name] = parsed(document)
            except ValueError as error:
                msg = f"its distribution {name} is none: {error}"
                raise ValueError(msg) from None
    vocabulary = meta.get("vocabulary")
    fingerprint = vocabulary.get("fingerprint") if isinstance(vocabulary, Mapping) else None
    known = fingerprint if isinstance(fingerprint, str) else None
    return Baseline(columns, tuple(unknown), known, is_partial=meta.get("partial") is True)


def _mapping(value: Any, what: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        msg = f"{what} is no mapping, as in a report of dataguard validate"
        raise ValueError(msg)  # noqa: TRY004  # what a file holds is a value, whatever its type
    return value


def parsed(document: Any) -> Distribution:
    """Return a distribution of a report.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(document, Mapping):
        msg = "it is no mapping"
        raise ValueError(msg)  # noqa: TRY004  # what a file holds is a value, whatever its type
    rows, samples, counts = (document.get(key) for key in ("rows", "samples", "counts"))
    edges, names = (document.get(key, ()) for key in ("edges", "names"))
    if not (isinstance(rows, int) and _is_count(rows) and isinstance(samples, (int, float)) and _is_number(samples)):
        msg = "rows and samples must be numbers"
        raise ValueError(msg)
    if samples < 1:
        msg = "samples must be at least 1"
        raise ValueError(msg)
    if not (isinstance(counts, list) and counts and all(map(_is_count, counts)) and sum(counts) > 0):
        msg = "counts must be a list of whole numbers, not all of them 0"
        raise ValueError(msg)
    classes = edges or names
    if not isinstance(classes, list) or not classes or len(classes) != len(counts) - 1:
        msg = "there must be edges or names, one fewer than there are counts"
        raise ValueError(msg)
    if edges and not (all(map(_is_number, edges)) and all(a < b for a, b in itertools.pairwise(edges))):
        msg = "edges must be rising numbers"
        raise ValueError(msg)
    if names and not (all(each is None or isinstance(each, str) for each in names) and len(set(names)) == len(names)):
        msg = "names must be texts, each once"
        raise ValueError(msg)
    return Distribution(rows, samples, tuple(counts), tuple(edges), tuple(names))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= HIGHEST


def _is_number(value: Any) -> bool:
    real = isinstance(value, (int, float)) and not isinstance(value, bool)
    return real and math.isfinite(value) and abs(value) <= HIGHEST
