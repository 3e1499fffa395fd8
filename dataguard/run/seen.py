"""What a profile may ask of a data set that has been scanned: how numbers are spread, and what an expectation would say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.expectations import EXPECTATIONS
from dataguard.expectations.base import Expectation
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.distributions import counted
from dataguard.result import ExpectationResult
from dataguard.run.judge import judge
from dataguard.shards.roles import BOUNDARIES, INPUT_IDS, PER_TOKEN, companion
from dataguard.suite.model import Configured, Suite

Kwargs = Mapping[str, Any]


@dataclass(frozen=True)
class Spread:
    """How many rows have each value of a number.

    Args:
        steps: The values, rising, in steps of 1 / grid. Shape (n,), int64.
        rows: Shape (n,), int64.
    """

    steps: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    grid: int = 1

    @property
    def total(self) -> int:
        """Rows that have the number."""
        return int(self.rows.sum())

    @property
    def lowest(self) -> float:
        """The lowest value."""
        return self._value(0)

    @property
    def highest(self) -> float:
        """The highest value."""
        return self._value(-1)

    def quantile(self, share: float) -> float:
        """Return the lowest value that this share of the rows does not exceed."""
        seen = np.cumsum(self.rows)
        return self._value(int(np.searchsorted(seen, share * seen[-1])))

    def share_above(self, value: float) -> float:
        """Return the share of the rows whose value is higher."""
        return float(self.rows[self.steps > value * self.grid].sum() / self.total)

    def share_at(self, value: float) -> float:
        """Return the share of the rows that have this value."""
        return float(self.rows[self.steps == value * self.grid].sum() / self.total)

    def _value(self, place: int) -> float:
        step = int(self.steps[place])
        return step if self.grid == 1 else step / self.grid


@dataclass(frozen=True)
class Seen:
    """A data set as one of its token columns shows it.

    Args:
        owners: Expectations that name shards which lack a column, so that the others are judged without them.
        scarce: Roles that most shards have no column for: those are judged without them.
        column: The token column.
    """

    table: MetricTable
    context: Context
    owners: tuple[Expectation, ...] = ()
    scarce: tuple[str, ...] = ()
    column: str = INPUT_IDS

    @property
    def roles(self) -> list[str]:
        """The lists beside the token column, and itself, that there are."""
        beside = (companion(self.column, role) for role in (*PER_TOKEN, *BOUNDARIES))
        return [self.column, *(role for role in beside if self.context.has(role))]

    @property
    def rows(self) -> int:
        """Rows of all intact shards."""
        return sum(shard.rows for shard in self.context.intact)

    def missing(self, names: Sequence[str]) -> str | None:
        """Return what is missing of what a rule needs, and what would supply it."""
        absent = next((each for name in self.own(names) if (each := self.context.absent(name, {})) is not None), None)
        if absent is None:
            return None
        return absent.missing if "--column" in absent.fix else str(absent)

    def own(self, names: Iterable[str]) -> list[str]:
        """Return names with the column's own companions in the place of roles."""
        return [companion(self.column, name) if name in {*PER_TOKEN, *BOUNDARIES} else name for name in names]

    def of(self, column: str) -> Seen:
        """Return the same data by another token column."""
        return replace(self, column=column)

    def spread(self, name: str) -> Spread | None:
        """Return how a number (`dataguard catalogue --metrics`) is spread; None where no row has it."""
        counts, grid = counted(name, self.table, self.context, self.column)
        return _spread(counts, grid)

    def spread_by_source(self, name: str) -> dict[str, Spread]:
        """Return the same for each source."""
        counts, grid = counted(name, self.table, self.context, self.column)
        parts = counts.drop_nulls("source").partition_by("source", as_dict=True)
        found = {self.context.sources[place]: _spread(part, grid) for (place,), part in parts.items()}
        return {source: spread for source, spread in sorted(found.items()) if spread is not None}

    def trial(self, kind: str, kwargs: Kwargs | None = None) -> ExpectationResult:
        """Return what an expectation on the column says of the data."""
        expectation = EXPECTATIONS[kind].model_validate({**self.named, **(kwargs or {})})
        asked = (*self.owners, expectation)
        suite = Suite("trial", tuple(Configured(each, "critical", when=tuple(self.scarce)) for each in asked))
        return judge(suite, self.table, self.context).results[-1]

    @cached_property
    def named(self) -> dict[str, str]:
        """The column as an argument, where it is not the usual one."""
        return {} if self.column == INPUT_IDS else {"column": self.column}


def _spread(counts: pl.DataFrame, grid: int) -> Spread | None:
    if counts.is_empty():
        return None
    whole = counts.group_by("step").agg(pl.col("rows").sum()).sort("step")
    return Spread(whole["step"].to_numpy(), whole["rows"].to_numpy(), grid)


def token_columns(context: Context) -> list[str]:
    """Return the roles that hold token ids: input_ids, else each side of a pair."""
    if context.has(INPUT_IDS):
        return [INPUT_IDS]
    roles = {role for shard in context.intact for role in shard.roles if role.endswith(f"_{INPUT_IDS}")}
    return sorted(role for role in roles if context.has(role))
