"""Expectations: numbers become verdicts. An expectation never sees a token.

An expectation is a pydantic model: its fields are the arguments that a suite may give. A row-level one says with Polars
expressions which rows are missing (somebody else's fault, or nobody's) and for which reason a row is unexpected.
"""

from __future__ import annotations

import fractions
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, Self

import polars as pl
from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from dataguard.expectations.context import NONE_INTACT, OBSERVATION, Context, MetricTable, ShardFacts
from dataguard.expectations.observation import Observation
from dataguard.metrics.base import Metric
from dataguard.result import MOST_ENTRIES, Finding, Severity, Unjudged

Level = Literal["row", "shard", "source", "dataset", "observation"]
Fraction = Annotated[float, Field(ge=0, le=1)]
TokenNumber = Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)]
"""An id, or what stands in its place: kernels compare in 64 bits."""


@dataclass(frozen=True)
class Outcome:
    """What an expectation found; `ExpectationResult` says the same, with the suite's settings beside it."""

    success: bool
    element_count: int | None = None
    unexpected_count: int | None = None
    missing_count: int | None = None
    observed_value: Any = None
    findings: tuple[Finding, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    unexpected: pl.LazyFrame | None = None
    """Every unexpected row: shard, row, source (as in the metric table), reason, position, value, detail."""
    unjudged: Unjudged | None = None
    idle: tuple[str, Unjudged] | None = None
    """Nothing was there to judge: the name for `when` by which that is a skip, and what is missing."""


class CannotJudge(Exception):
    """Raised by an expectation that lacks something: its outcome is unknown, never a pass."""

    def __init__(self, missing: str, fix: str) -> None:
        self.unjudged = Unjudged(missing, fix)
        super().__init__(missing)


def intact_shards(context: Context) -> Sequence[ShardFacts]:
    """Return the shards that can be judged.

    Raises:
        CannotJudge: There are none, so that nothing can be said of their columns.
    """
    if not context.intact:
        raise CannotJudge(NONE_INTACT.missing, NONE_INTACT.fix)
    return context.intact


class Expectation(BaseModel):
    """What acceptable data looks like. Subclasses add arguments, and say what they need and how they judge."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    level: ClassVar[Level]
    default_severity: ClassVar[Severity] = "critical"
    reasons: ClassVar[tuple[str, ...]] = ()
    fix: ClassVar[str] = ""
    value_name: ClassVar[str | Mapping[str, str]] = ""
    """What the findings' values are, in a word or two for people; by reason where that differs."""
    paths: ClassVar[tuple[str, ...]] = ()
    """Arguments that name files: in a suite's file, relative to that file."""

    column: str = "input_ids"

    @classmethod
    def type(cls) -> str:
        """Return the name that suites use: the class name in snake case."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def arguments(cls) -> dict[str, FieldInfo]:
        """Return the arguments by the names that suites give them."""
        return {field.alias or name: field for name, field in cls.model_fields.items()}

    def needs(self, context: Context) -> Sequence[str]:
        """Return the names (`Context.absent`) of what it cannot judge without."""
        return ()

    def columns_read(self, context: Context) -> Sequence[str]:
        """Return the roles that every judged shard must have, as lists of whole numbers."""
        return ()

    def one_column_of(self, context: Context) -> str | None:
        """Return the name (`context.COLUMNS_FOR_WHEN`) of roles of which every judged shard must have one; None for none."""
        return None

    def metrics(self, context: Context) -> Sequence[Metric]:
        """Return the metrics whose numbers it judges."""
        return ()

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        """Return the verdict.

        Raises:
            CannotJudge: Something that it needs is not known.
        """
        raise NotImplementedError


class ObservationExpectation(Expectation):
    """An expectation on what was seen of a sampler: it reads no shard and no number of a row."""

    level: ClassVar[Level] = "observation"
    parts: ClassVar[tuple[str, ...]] = ()
    """What it cannot judge without (`observation.PARTS`)."""

    def needs(self, context: Context) -> Sequence[str]:
        return (OBSERVATION, *self.parts)

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        if context.observation is None:
            raise CannotJudge("no sampler was observed", "run dataguard sampler")
        return self.judge_observation(context.observation)

    def judge_observation(self, seen: Observation) -> Outcome:
        """Return the verdict.

        Raises:
            CannotJudge: Something that it needs was not looked at.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Judgement:
    """How one row is judged, as expressions over the metric table.

    Args:
        missing: True where the row is not this expectation's to judge.
        reason: The reason code where the row is unexpected, null where it holds.
        position: Where in the row the fault stands, from 0.
        value: What stands there, or how much it is.
        detail: What else there is to say, in words.
    """

    missing: pl.Expr
    reason: pl.Expr
    position: pl.Expr | None = None
    value: pl.Expr | None = None
    detail: pl.Expr | None = None


class RowExpectation(Expectation):
    """An expectation on each row by itself."""

    level: ClassVar[Level] = "row"

    mostly: Fraction = 1.0
    by_source: dict[str, dict[str, Any]] = Field(default_factory=dict)

    def columns_read(self, context: Context) -> Sequence[str]:
        return (self.column,)

    def judgement(self, context: Context, table: MetricTable | None = None) -> Judgement:
        """Return how a row is judged with these arguments.

        Args:
            table: The numbers of the whole data set, for the few that must look at it first.
        """
        raise NotImplementedError

    def unknown(self, context: Context) -> Unjudged | None:
        """Return what is missing where rows can be judged in part only, so that the verdict is never a pass."""
        return None

    def details(self, judged: pl.LazyFrame, context: Context) -> Mapping[str, Any]:
        """Return what stands in `details` beside the reasons and the counts by source.

        Args:
            judged: The metric table with `missing`, `reason`, `position`, `value` and `detail` of this expectation.
        """
        return {}

    def observed(self, judged: pl.LazyFrame, context: Context) -> Any:
        """Return `observed_value`."""
        return None

    def holds(self, unexpected: int, judged: int) -> bool:
        """Whether so few unexpected rows, of so many judged ones, are tolerated by `mostly`, taken as it is written."""
        return unexpected <= judged * (1 - fractions.Fraction(str(self.mostly)))

    def variants(self) -> dict[str, Self]:
        """Return the expectation that holds for each source of `by_source`."""
        own = self.model_dump(exclude={"by_source"})
        return {source: type(self)(**{**own, **arguments}) for source, arguments in self.by_source.items()}

    def all_metrics(self, context: Context) -> list[Metric]:
        """Return the metrics of the expectation and of its variants."""
        return [metric for each in (self, *self.variants().values()) for metric in each.metrics(context)]

    def variants_here(self, context: Context) -> list[tuple[pl.Expr, Self]]:
        """Return the variants of the sources that there are, each with what is true in its rows."""
        places = {source: place for place, source in enumerate(context.sources)}
        known = [(source, variant) for source, variant in self.variants().items() if source in places]
        return [(pl.col("source") == places[source], variant) for source, variant in known]

    def judgement_by_source(self, context: Context, table: MetricTable) -> Judgement:
        """Return how a row is judged, with the arguments that hold for its source."""
        whole = self.judgement(context, table)
        for here, variant in self.variants_here(context):
            own = variant.judgement(context, table)
            whole = Judgement(
                missing=_either(here, own.missing, whole.missing),
                reason=_either(here, own.reason, whole.reason),
                position=_either(here, own.position, whole.position),
                value=_either(here, own.value, whole.value),
                detail=_either(here, own.detail, whole.detail),
            )
        return whole

    def _unjudged(self, table: MetricTable, context: Context) -> Unjudged | None:
        """Return what is missing where some rows cannot be judged, with the arguments of their source too.

        Raises:
            CannotJudge: A source's arguments need what is not known.
        """
        found = [self.unknown(context)]
        for source, variant in self.variants().items():
            if source in context.sources:
                given = variant.model_dump(exclude={"column"})
                for name in variant.needs(context):
                    if (absent := context.absent(name, given)) is not None:
                        raise CannotJudge(f"{absent.missing}, for the source {source}", absent.fix)
                found += [variant.unknown(context), variant.unread(source, table, context)]
        return next((each for each in found if each is not None), None)

    def unread(self, source: str, table: MetricTable, context: Context) -> Unjudged | None:
        """Return which shard with rows of a source lacks what is read of them with these arguments."""
        lacking = {
            place: role
            for place, shard in enumerate(context.shards)
            if shard.fault is None
            and (role := shard.unread(self.columns_read(context), self.metrics(context))) is not None
        }
        if not lacking:
            return None
        here = (pl.col("source") == context.sources.index(source)) & pl.col("shard").is_in(list(lacking))
        first = table.collect(pl.col("shard").filter(here).min().alias("shard"))["shard"]
        if first is None:
            return None
        missing = f"the rows of source {source} in {context.shards[first].name} cannot be judged: {lacking[first]}"
        return Unjudged(missing, "name the right column in by_source, or with --column ROLE=NAME")

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        unjudged = self._unjudged(table, context)
        how = self.judgement_by_source(context, table)
        nothing = pl.lit(None)
        judged = table.frame.with_columns(
            missing=how.missing.fill_null(value=True),
            reason=pl.when(~how.missing).then(how.reason).cast(pl.String),
            position=(how.position if how.position is not None else nothing).cast(pl.Int64),
            value=how.value if how.value is not None else nothing,
            detail=(how.detail if how.detail is not None else nothing).cast(pl.String),
        )
        counts = judged.group_by("source", "missing", "reason").len().collect(engine="streaming")
        tally = Tally.of(counts, context)
        unexpected = judged.filter(pl.col("reason").is_not_null())
        unexpected = unexpected.select("shard", "row", "source", "reason", "position", "value", "detail")
        observed, details = self.observed(judged, context), self.details(judged, context)
        return self.outcome(tally, unexpected, context, observed=observed, details=details, unjudged=unjudged)

    def outcome(
        self,
        tally: Tally,
        unexpected: pl.LazyFrame,
        context: Context,
        *,
        observed: Any = None,
        details: Mapping[str, Any] | None = None,
        unjudged: Unjudged | None = None,
    ) -> Outcome:
        """Return the verdict on rows that have been counted.

        Args:
            unexpected: As `Outcome.unexpected`, in the order of DATA.
            details: What else stands in `details`.
            unjudged: What is missing where some rows could not be judged.
        """
        details = {"reasons": tally.reasons, "by_source": tally.by_source, **(details or {})}
        unknown = sorted(set(self.by_source) - set(context.sources))
        if unknown:
            note = f"by_source names no source of this data: {', '.join(unknown)}"
            details["notes"] = [*details.get("notes", []), note]
        return Outcome(
            success=self.holds(tally.unexpected, tally.rows - tally.missing),
            element_count=tally.rows,
            unexpected_count=tally.unexpected,
            missing_count=tally.missing,
            observed_value=observed,
            findings=row_findings(unexpected, context, self.column) if tally.unexpected else (),
            details={key: value for key, value in details.items() if value},
            unexpected=unexpected,
            unjudged=unjudged,
        )


def _either(condition: pl.Expr, then: pl.Expr | None, otherwise: pl.Expr | None) -> pl.Expr:
    nothing = pl.lit(None)
    chosen = pl.when(condition).then(nothing if then is None else then)
    return chosen.otherwise(nothing if otherwise is None else otherwise)


@dataclass(frozen=True)
class Tally:
    """How many rows there are, are missing, and are unexpected for which reason and in which source."""

    rows: int
    missing: int
    unexpected: int
    reasons: dict[str, int]
    by_source: dict[str, int]

    @classmethod
    def of(cls, counts: pl.DataFrame, context: Context) -> Tally:
        """Add up counts by source, missing and reason."""
        rows = missing = unexpected = 0
        reasons: Counter[str] = Counter()
        sources: Counter[int] = Counter()
        for source, is_missing, reason, count in counts.select("source", "missing", "reason", "len").iter_rows():
            rows += count
            missing += count if is_missing else 0
            if reason is not None:
                unexpected += count
                reasons[reason] += count
                if source is not None:
                    sources[source] += count
        return cls(
            rows=rows,
            missing=missing,
            unexpected=unexpected,
            reasons=dict(sorted(reasons.items())),
            by_source={context.sources[source]: count for source, count in sorted(sources.items())},
        )


def row_findings(unexpected: pl.LazyFrame, context: Context, column: str) -> tuple[Finding, ...]:
    """Return the first unexpected rows as findings."""
    first = unexpected.head(MOST_ENTRIES).collect(engine="streaming")
    return tuple(
        Finding(
            reason=each["reason"],
            shard=context.shards[each["shard"]].name,
            row=each["row"],
            column=column,
            position=each["position"],
            value=each["value"],
            detail=each["detail"],
        )
        for each in first.iter_rows(named=True)
    )


def first_reason(*cases: tuple[pl.Expr, str]) -> pl.Expr:
    """Return the reason of the first case whose condition holds, null where none does."""
    return pl.coalesce([pl.when(condition).then(pl.lit(reason)) for condition, reason in cases])


def words(text: str, *values: pl.Expr) -> pl.Expr:
    """Return a text with a value in the place of each `{}`; null where a value is null.

    As pl.format does, which panics (Polars 2.1) on parts of a table that a filter has emptied.
    """
    first, *rest = text.split("{}")
    parts = [pl.lit(first)]
    for value, following in zip(values, rest, strict=True):
        parts += [value.cast(pl.String), pl.lit(following)]
    return pl.concat_str(parts)
