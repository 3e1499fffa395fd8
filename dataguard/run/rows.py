"""The rows of a judged data set: those that are set aside, and those that an expectation found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from dataguard.expectations.context import Context
from dataguard.expectations.divided import Scratch
from dataguard.run.judge import Verdicts
from dataguard.run.set_aside import rows_set_aside
from dataguard.run.table import RunTable
from dataguard.suite.model import Suite


@dataclass(frozen=True)
class Rows:
    """Rows by shard name, as long as somebody holds this: it holds the store that they are read from."""

    store: RunTable
    verdicts: Verdicts
    suite: Suite
    context: Context
    scratch: Scratch | None = None

    @cached_property
    def _set_aside(self) -> pl.LazyFrame:
        return rows_set_aside(self.verdicts, self.suite, self.context.shards, self.scratch)

    def rejected(self) -> pl.LazyFrame:
        """Return every row that is set aside: shard, row, expectations, reasons, in the order of DATA."""
        return self._named(self._set_aside)

    def collect_rejected(self) -> pl.DataFrame:
        """Return the same in memory."""
        return self.rejected().collect(engine="streaming")

    def unexpected(self, kind: str) -> pl.DataFrame:
        """Return every unexpected row of the expectations of a type: shard, row, column, reason, position, value.

        A position is null where the fault has none, and a value where there is none to tell; values are of the type that
        the expectation gives (ids are whole numbers, shares are floats).
        """
        columns = ("reason", "position", "value")
        frames = [
            self._named(frame).select("shard", "row", pl.lit(result.column).alias("column"), *columns)
            for result, frame in zip(self.verdicts.results, self.verdicts.unexpected, strict=True)
            if result.type == kind and frame is not None
        ]
        if frames:
            return pl.concat(frames, how="vertical_relaxed").collect(engine="streaming")
        kinds = {"shard": pl.String, "row": pl.Int64, "column": pl.String, "reason": pl.String}
        return pl.DataFrame(schema={**kinds, "position": pl.Int64, "value": pl.Float64})

    def _named(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Replace the place of each shard by its name."""
        names = pl.Series([shard.name for shard in self.context.shards], dtype=pl.String)
        return rows.with_columns(shard=pl.lit(names).gather(pl.col("shard")))
