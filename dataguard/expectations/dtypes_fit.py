"""A column type that cannot hold every id wraps ids around in silence; an unsigned one cannot hold ignore_index."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, ClassVar

import pyarrow as pa
from pydantic import Field

from dataguard.expectations.base import CannotJudge, Expectation, Level, Outcome
from dataguard.expectations.context import VOCABULARY_FIELDS, Context, MetricTable
from dataguard.result import MOST_ENTRIES, Finding
from dataguard.shards.roles import LABELS, is_list, role_of


class ExpectDtypesToFit(Expectation):
    """The column's type holds what it must: the vocabulary's ids, ignore_index (labels), max_length (position_ids)."""

    level: ClassVar[Level] = "shard"
    reasons: ClassVar[tuple[str, ...]] = ("too_narrow", "not_integer", "cannot_hold_ignore_index")
    fix: ClassVar[str] = "tokenize again into a wider integer type (int32 for ids, int64 for labels)"

    max_length: Annotated[int, Field(ge=1)] | None = None
    ignore_index: int = -100

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        highest, what = self._highest(context)
        found = []
        judged = [(shard, kind) for shard in context.intact if (kind := shard.type_of(self.column)) is not None]
        if not judged:
            raise CannotJudge(f"no shard has a column {self.column}", f"give --column {self.column}=NAME")
        for shard, kind in judged:
            if reason := self._fault(kind, highest):
                detail = f"{kind} cannot hold {what}" if reason != "not_integer" else f"{kind} is no list of integers"
                if reason == "cannot_hold_ignore_index":
                    detail = f"{kind} cannot hold {self.ignore_index}"
                found.append(
                    Finding(shard=shard.name, column=self.column, reason=reason, value=str(kind), detail=detail)
                )
        return Outcome(
            success=not found,
            element_count=len(judged),
            unexpected_count=len(found),
            missing_count=0,
            observed_value=sorted({str(kind) for _, kind in judged}),
            findings=tuple(found[:MOST_ENTRIES]),
            details={"reasons": dict(sorted(Counter(each.reason for each in found).items()))} if found else {},
        )

    def _highest(self, context: Context) -> tuple[int, str]:
        """Return the highest number that the column must hold, and what it is for people."""
        if role_of(self.column) == "position_ids":
            if self.max_length is None:
                raise CannotJudge("max_length is not given", "give the argument max_length, or --max-length N")
            return self.max_length - 1, f"position {self.max_length - 1}"
        size = context.vocabulary.limit if context.vocabulary.size is None else context.vocabulary.size
        if size is None:
            raise CannotJudge(*VOCABULARY_FIELDS["limit"])
        return size - 1, f"id {size - 1}"

    def _fault(self, kind: pa.DataType, highest: int) -> str | None:
        inner = kind.value_type if is_list(kind) else kind
        if pa.types.is_null(inner):
            return None
        if not is_list(kind) or not pa.types.is_integer(inner):
            return "not_integer"
        signed = pa.types.is_signed_integer(inner)
        top = 2 ** (inner.bit_width - signed) - 1
        if highest > top:
            return "too_narrow"
        if role_of(self.column) == LABELS and not (-(top + 1) if signed else 0) <= self.ignore_index <= top:
            return "cannot_hold_ignore_index"
        return None
