"""A column that some shards lack stops the loader, or changes what is trained on from one shard to the next."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dataguard.expectations.base import Expectation, Level, Outcome, intact_shards
from dataguard.expectations.context import Context, MetricTable
from dataguard.result import MOST_ENTRIES, Finding


class ExpectColumnsToExist(Expectation):
    """Every shard has each of these columns (roles, or names as they stand in the files)."""

    level: ClassVar[Level] = "shard"
    reasons: ClassVar[tuple[str, ...]] = ("missing_column",)
    fix: ClassVar[str] = "write the column into these shards, or name it with --column ROLE=NAME"

    columns: Annotated[tuple[str, ...], Field(min_length=1)]

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        intact = intact_shards(context)
        missing = [
            Finding(shard=shard.name, column=column, reason="missing_column")
            for shard in intact
            for column in self.columns
            if column not in shard.roles
        ]
        return Outcome(
            success=not missing,
            element_count=len(intact),
            unexpected_count=len({each.shard for each in missing}),
            missing_count=0,
            findings=tuple(missing[:MOST_ENTRIES]),
            details={"reasons": {"missing_column": len(missing)}} if missing else {},
        )
