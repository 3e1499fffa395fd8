"""Ids mean nothing under another tokenizer than the one that made them; a stale cache is read without a word."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from dataguard.expectations.base import Expectation, Level, Outcome, intact_shards
from dataguard.expectations.context import Context, MetricTable
from dataguard.result import MOST_ENTRIES, Finding, Unjudged
from dataguard.shards.hf import INFO, TOKENIZER

NOT_GIVEN = Unjudged(
    "no tokenizer is given to compare the shards with",
    "give --tokenizer PATH, or the argument fingerprint in the suite (dataguard fingerprint prints it)",
)


class ExpectTokenizerToMatchDataset(Expectation):
    """Every shard names the tokenizer that made it, in its schema's metadata or in dataset_info.json, and it is the given one."""

    level: ClassVar[Level] = "shard"
    reasons: ClassVar[tuple[str, ...]] = ("different_tokenizer", "mixed_tokenizers", "unknown_tokenizer")
    fix: ClassVar[str] = "tokenize these shards again with the tokenizer of the run, or give the one that made them"
    value_name: ClassVar[str] = "tokenizer"

    fingerprint: str | None = None

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        shards = intact_shards(context)
        given = context.vocabulary.fingerprint if self.fingerprint is None else self.fingerprint
        found = []
        for shard in shards:
            if shard.tokenizer is None:
                detail = f"neither its schema's metadata nor {INFO} says {TOKENIZER}"
                found.append(Finding("unknown_tokenizer", shard.name, detail=detail))
            elif given is not None and shard.tokenizer != given:
                detail = f"the given one is {given}"
                found.append(Finding("different_tokenizer", shard.name, value=shard.tokenizer, detail=detail))
        named = Counter(shard.tokenizer for shard in shards if shard.tokenizer is not None)
        reasons = Counter(each.reason for each in found)
        details: dict[str, Any] = {}
        if len(named) > 1:
            reasons["mixed_tokenizers"] = len(named)
            details["notes"] = [f"the shards name {len(named):,} different tokenizers"]
        if reasons:
            details["reasons"] = dict(sorted(reasons.items()))
        return Outcome(
            success=not reasons,
            element_count=len(shards),
            unexpected_count=len(found),
            missing_count=0,
            observed_value=dict(sorted(named.items())),
            findings=tuple(found[:MOST_ENTRIES]),
            details=details,
            unjudged=NOT_GIVEN if given is None else None,
        )
