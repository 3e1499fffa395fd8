"""A column type that cannot hold every id wraps ids around in silence; an unsigned one cannot hold ignore_index."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, ClassVar

import pyarrow as pa
from pydantic import Field

from dataguard.expectations.base import CannotJudge, Expectation, Level, Outcome, intact_shards
from dataguard.expectations.context import VOCABULARY_FIELDS, Context, MetricTable
from dataguard.result import MOST_ENTRIES, Finding
from dataguard.shards.roles import ATTENTION_MASK, INPUT_IDS, LABELS, is_list, role_of

IDS = (INPUT_IDS, LABELS, "prompt_ids")
"""Roles that hold ids of the vocabulary; a name that stands for no role is taken as input_ids."""
MASKS = (ATTENTION_MASK, "loss_mask")


class ExpectDtypesToFit(Expectation):
    """The column's type holds what it must: the vocabulary's ids, ignore_index (labels), max_length (position_ids).

    Masks and document numbers must be whole numbers; masks may be booleans.
    """

    level: ClassVar[Level] = "shard"
    reasons: ClassVar[tuple[str, ...]] = ("too_narrow", "not_integer", "cannot_hold_ignore_index")
    fix: ClassVar[str] = "tokenize again into a wider integer type (int32 for ids, int64 for labels)"
    value_name: ClassVar[str] = "type"

    max_length: Annotated[int, Field(ge=1)] | None = None
    ignore_index: int = -100

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        intact, highest = intact_shards(context), self._highest(context)
        found = []
        judged = [(shard, kind) for shard in intact if (kind := shard.type_of(self.column)) is not None]
        if not judged:
            raise CannotJudge(f"no shard has a column {self.column}", f"give --column {self.column}=NAME")
        for shard, kind in judged:
            if (fault := self._fault(kind, highest)) is not None:
                reason, detail = fault
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

    def _highest(self, context: Context) -> int:
        """Return the highest number that the column must hold; 0 where the type alone is judged."""
        role = role_of(self.column)
        if role == "position_ids":
            if self.max_length is None:
                raise CannotJudge("max_length is not given", f"give {context.way_to_give('max_length')}")
            return self.max_length - 1
        if role not in IDS:
            return 0
        size = context.vocabulary.limit if context.vocabulary.size is None else context.vocabulary.size
        if size is None:
            raise CannotJudge(*VOCABULARY_FIELDS["limit"])
        return size - 1

    def _fault(self, kind: pa.DataType, highest: int) -> tuple[str, str] | None:
        """Return the reason why a type does not fit, and that in words."""
        inner, role = kind.value_type if is_list(kind) else kind, role_of(self.column)
        if is_list(kind) and (pa.types.is_null(inner) or (role in MASKS and pa.types.is_boolean(inner))):
            return None
        if not is_list(kind) or not pa.types.is_integer(
            inner
        ):  # of which type a column of bare nulls is, nobody can say
            return "not_integer", f"{kind} is no list of integers"
        signed = pa.types.is_signed_integer(inner)
        top = 2 ** (inner.bit_width - signed) - 1
        if highest > top:
            return "too_narrow", f"{kind} cannot hold {'position' if role == 'position_ids' else 'id'} {highest}"
        if role == LABELS and not (-(top + 1) if signed else 0) <= self.ignore_index <= top:
            return "cannot_hold_ignore_index", f"{kind} cannot hold {self.ignore_index}"
        return None
