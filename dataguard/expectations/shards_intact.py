"""A shard that was cut, overwritten or never fetched breaks a run in its middle, or leaves rows out in silence."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar, Literal, get_args

from dataguard.expectations.base import Expectation, Level, Outcome
from dataguard.expectations.context import Context, MetricTable
from dataguard.result import MOST_ENTRIES, Finding

Fault = Literal[
    "empty_file",
    "lfs_pointer",
    "not_recognised",
    "truncated",
    "no_end_marker",
    "corrupt",
    "trailing_data",
    "duplicate_column",
    "unsupported_layout",
    "unreadable",
]


class ExpectShardsToBeIntact(Expectation):
    """Every shard can be read from its first byte to its last; `allow` tolerates reasons."""

    level: ClassVar[Level] = "shard"
    reasons: ClassVar[tuple[str, ...]] = get_args(Fault)
    fix: ClassVar[str] = "copy or write these shards again"

    allow: tuple[Fault, ...] = ()

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        broken = [(shard.name, *shard.fault) for shard in context.shards if shard.fault is not None]
        found = [
            Finding(shard=name, reason=reason, detail=why) for name, reason, why in broken if reason not in self.allow
        ]
        tolerated = [
            f"{name} is {reason}, which is allowed: {why}" for name, reason, why in broken if reason in self.allow
        ]
        details = {
            "reasons": dict(sorted(Counter(each.reason for each in found).items())),
            "misnamed": [f"{shard.name} is {shard.layout}" for shard in context.shards if shard.misnamed],
            "ignored": [f"{name}: {why}" for name, why in context.ignored],
            "notes": tolerated,
        }
        return Outcome(
            success=not found,
            element_count=len(context.shards),
            unexpected_count=len(found),
            missing_count=0,
            observed_value=len(context.shards) - len(broken),
            findings=tuple(found[:MOST_ENTRIES]),
            details={key: value for key, value in details.items() if value},
        )
