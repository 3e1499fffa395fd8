"""Data that drifts from what an earlier run was trained on changes the run, though every row of it is sound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, WithJsonSchema, field_validator

from dataguard.errors import nearest
from dataguard.expectations.base import CannotJudge, Expectation, Level, Outcome
from dataguard.expectations.baseline import KNOWN, TOKEN_USE, Baseline, Distribution
from dataguard.expectations.context import Context, MetricTable
from dataguard.expectations.distributions import USUAL, measured, metrics_of, roles_of, wanting
from dataguard.expectations.psi import by_chance, psi
from dataguard.metrics.base import Metric
from dataguard.result import Finding, Severity, Unjudged

ANEW = "make one with dataguard profile DATA --out DIR; or take the report.json of a run that this suite judged"
Name = Annotated[str, WithJsonSchema({"type": "string", "enum": sorted(KNOWN)})]


@dataclass(frozen=True)
class Compared:
    """Two distributions in the same classes.

    Args:
        psi: How far apart they are.
        chance: How far apart chance alone puts them, once in a thousand times.
        most: Which class differs most, in words.
    """

    name: str
    psi: float
    chance: float
    rows: int
    baseline_rows: int
    most: str

    def drifted(self, max_psi: float) -> bool:
        """Whether they are further apart than is allowed and may be chance."""
        return self.psi > max_psi + self.chance

    def to_dict(self) -> dict[str, Any]:
        """Return it for the report."""
        numbers = {"psi": self.psi, "chance": self.chance}
        return {"metric": self.name, **numbers, "rows": self.rows, "baseline_rows": self.baseline_rows}


class ExpectDistributionsToMatchBaseline(Expectation):
    """Lengths, source mix, token use, supervised, symbol and digit share are distributed as in an earlier report.

    `baseline` is that report.json, its path relative to the suite's file. Two distributions are compared by their population
    stability index (0: the same; 0.1: they begin to differ; 0.25: they clearly do), less what chance alone gives once in a
    thousand times for so many rows. `metrics` are those to compare: names of `dataguard catalogue --metrics`, `source` or
    `token_use`; without it all that the baseline holds.
    """

    level: ClassVar[Level] = "dataset"
    default_severity: ClassVar[Severity] = "warning"
    reasons: ClassVar[tuple[str, ...]] = ("drift",)
    fix: ClassVar[str] = (
        "see what changed upstream; where the change is wanted, take this run's report.json as baseline"
    )
    value_name: ClassVar[str] = "index"
    paths: ClassVar[tuple[str, ...]] = ("baseline",)

    baseline: Annotated[str, Field(min_length=1)]
    max_psi: Annotated[float, Field(ge=0)] = 0.2
    asked: Annotated[Annotated[tuple[Name, ...], Field(min_length=1)] | None, Field(alias="metrics")] = None
    """`metrics` in suites; here that is the name of a method."""

    @field_validator("asked")
    @classmethod
    def _known(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for name in names or ():
            if name not in KNOWN:
                msg = f"no distribution has the name {name}, {nearest(name, KNOWN)}"
                raise ValueError(msg)
        return names

    def _held(self, context: Context) -> Mapping[str, Distribution]:
        """Return the distributions that the baseline holds of the column; none where there is no baseline."""
        baseline = context.baselines.get(self.baseline)
        return baseline.columns.get(self.column, {}) if isinstance(baseline, Baseline) else {}

    def wanted(self, context: Context) -> tuple[str, ...]:
        """Return what is compared; where there is no baseline yet, what the next one should hold."""
        return tuple(dict.fromkeys(self.asked or self._held(context) or USUAL))

    def _possible(self, context: Context) -> list[str]:
        return [name for name in self.wanted(context) if wanting(name, context, self.column) is None]

    def columns_read(self, context: Context) -> Sequence[str]:
        roles = (role for name in self._possible(context) for role in roles_of(name, self.column))
        return tuple(dict.fromkeys((self.column, *roles)))

    def metrics(self, context: Context) -> Sequence[Metric]:
        return [metric for name in self._possible(context) for metric in metrics_of(name, context, self.column)]

    def judge(self, table: MetricTable, context: Context) -> Outcome:
        baseline, held = self._baseline(context), self._held(context)
        compared: list[Compared] = []
        unjudged: list[Unjudged] = []
        for name in self.wanted(context):
            absent = wanting(name, context, self.column)
            if name not in held:
                unjudged.append(Unjudged(f"{self.baseline} holds no {name} of {self.column}", ANEW))
            elif absent is not None:
                unjudged.append(Unjudged(f"{name} cannot be compared: {absent.missing}", absent.fix))
            elif (own := measured(name, table, context, self.column, held[name])) is None:
                unjudged.append(Unjudged(f"{name} cannot be compared: no row has it", "give the data that it was of"))
            elif len(own.counts) != len(held[name].counts) or (name == TOKEN_USE and own.edges != held[name].edges):
                unjudged.append(Unjudged(f"{self.baseline} counts {name} in other classes than this version", ANEW))
            else:
                compared.append(compare(name, held[name], own))
        return self._outcome(compared, unjudged, _notes(baseline, compared, context, self.max_psi))

    def _baseline(self, context: Context) -> Baseline:
        """Return the baseline.

        Raises:
            CannotJudge: There is none, or it holds nothing of the column.
        """
        baseline = context.baselines.get(self.baseline)
        if baseline is None or isinstance(baseline, Unjudged):
            absent = baseline or Unjudged(f"{self.baseline} was not read", ANEW)
            raise CannotJudge(absent.missing, absent.fix)
        if self.column not in baseline.columns:
            raise CannotJudge(f"{self.baseline} holds no distributions of {self.column}", ANEW)
        return baseline

    def _outcome(self, compared: Sequence[Compared], unjudged: Sequence[Unjudged], notes: Sequence[str]) -> Outcome:
        drifted = [each for each in compared if each.drifted(self.max_psi)]
        details: dict[str, Any] = {"reasons": {"drift": len(drifted)}} if drifted else {}
        if notes:
            details["notes"] = list(notes)
        return Outcome(
            success=not drifted,
            element_count=len(compared) + len(unjudged),
            unexpected_count=len(drifted),
            missing_count=len(unjudged),
            observed_value=[each.to_dict() for each in compared],
            findings=tuple(
                Finding("drift", column=self.column, value=each.psi, detail=f"{each.name}: {each.most}")
                for each in drifted
            ),
            details=details,
            unjudged=unjudged[0] if unjudged else None,
        )


def compare(name: str, before: Distribution, now: Distribution) -> Compared:
    """Return how far apart two distributions are, which are counted in the same classes."""
    samples = (before.samples, now.samples)
    theirs, ours = (np.array(each.counts, np.float64) for each in (before, now))
    classes = int(((theirs > 0) | (ours > 0)).sum())
    shares = theirs / theirs.sum(), ours / ours.sum()
    place = int(np.abs(shares[1] - shares[0]).argmax())
    most = f"{before.classes()[place]} was {shares[0][place]:.1%} and is {shares[1][place]:.1%}"
    chance = by_chance(classes, samples, clustered=name == TOKEN_USE)
    return Compared(name, psi(theirs, ours, samples), chance, now.rows, before.rows, most)


def _notes(baseline: Baseline, compared: Sequence[Compared], context: Context, max_psi: float) -> list[str]:
    """Return what else a reader should know of a comparison."""
    notes = []
    fingerprint = context.vocabulary.fingerprint
    if baseline.fingerprint != fingerprint and None not in {baseline.fingerprint, fingerprint}:
        notes.append("the baseline was made with another tokenizer")
    if baseline.is_partial:
        notes.append("the baseline was made of the first rows of each shard alone")
    if baseline.unknown:
        notes.append(f"the baseline also holds what this version does not know: {', '.join(baseline.unknown[:5])}")
    notes += [
        f"{each.name}: of {each.rows:,} rows and {each.baseline_rows:,} an index up to {each.chance:.3g} may be chance, so that "
        "a smaller drift is not seen"
        for each in compared
        if each.chance > max(max_psi, NOTABLE)
    ]
    return notes


NOTABLE = 0.1
"""An index that chance may give and that is worth a note, however little is allowed."""
