"""A shard that the index does not list is never read; one that it lists and that is gone stops the run; lost rows do neither."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from dataguard.expectations.base import Expectation, Level, Outcome
from dataguard.expectations.context import Context, MetricTable, ShardFacts
from dataguard.result import MOST_ENTRIES, Finding
from dataguard.shards.manifest import Claim


class ExpectShardsToMatchManifest(Expectation):
    """The selected shards are those that state.json, dataset_info.json or index.json lists, with as many rows and tokens."""

    level: ClassVar[Level] = "dataset"
    reasons: ClassVar[tuple[str, ...]] = (
        "missing_shard",
        "unlisted_shard",
        "row_count",
        "token_count",
        "index_inconsistent",
        "bad_field",
    )
    fix: ClassVar[str] = (
        "copy what is missing, take away what does not belong, or write the data set and its manifest anew"
    )
    value_name: ClassVar[Mapping[str, str]] = {"row_count": "rows", "token_count": "tokens"}

    def needs(self, context: Context) -> Sequence[str]:
        return ("manifest",)

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        shards = {shard.name: shard for shard in context.intact}
        found = [
            Finding(reason=fault.reason, shard=fault.shard, detail=fault.detail)
            for manifest in context.manifests
            for fault in manifest.faults
        ]
        notes = [note for manifest in context.manifests for note in manifest.notes]
        for claim in (claim for manifest in context.manifests for claim in manifest.claims):
            for each in _differences(claim, shards):
                if claim.is_stale:
                    notes.append(f"{each.shard or 'all shards'}: {each.detail}, before map, filter or select")
                else:
                    found.append(each)
        details = {"reasons": dict(sorted(Counter(each.reason for each in found).items())), "notes": notes}
        return Outcome(
            success=not found,
            observed_value=[{"manifest": each.name, "listed": each.listed} for each in context.manifests],
            findings=tuple(found[:MOST_ENTRIES]),
            details={key: value for key, value in details.items() if value},
        )


def _differences(claim: Claim, shards: Mapping[str, ShardFacts]) -> Iterator[Finding]:
    """Yield what differs, where all shards of a claim are intact: the rows of others are not known."""
    facts = [shards[name] for name in claim.shards if name in shards]
    if len(facts) != len(claim.shards):
        return
    where = claim.shards[0] if len(claim.shards) == 1 else None
    for reason, claimed, held in (
        ("row_count", claim.rows, sum(each.rows for each in facts)),
        ("token_count", claim.tokens, sum(each.tokens for each in facts)),
    ):
        if claimed is not None and claimed != held:
            detail = f"{held:,} {reason.partition('_')[0]}s; {claim.said_by} says {claimed:,}"
            yield Finding(reason=reason, shard=where, value=held, detail=detail)
