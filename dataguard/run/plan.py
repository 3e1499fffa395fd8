"""Which numbers a suite needs, and which of them a shard's columns can give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dataguard.expectations.base import CannotJudge, Expectation, RowExpectation
from dataguard.expectations.content import content_of
from dataguard.expectations.context import Context, ShardFacts
from dataguard.metrics.base import Metric
from dataguard.metrics.lengths import Lengths
from dataguard.result import Unjudged
from dataguard.shards.roles import INPUT_IDS
from dataguard.suite.model import Configured, Suite


@dataclass(frozen=True)
class Plan:
    """The metrics to compute, each once.

    Args:
        metrics: Of all expectations, without doubles, in the order of the suite.
        tokens: The column whose tokens are counted, and by which work is cut into pieces.
        wanted_by: The types of the expectations that ask for each metric.
    """

    metrics: tuple[Metric, ...]
    tokens: str
    wanted_by: Mapping[Metric, Sequence[str]] = field(default_factory=dict)

    def of_shard(self, facts: ShardFacts) -> list[Metric]:
        """Return the metrics that a shard's columns can give."""
        types = {role: kind for role in facts.roles if (kind := facts.type_of(role)) is not None}
        return [metric for metric in self.metrics if metric.can_compute(types)]


def make_plan(suite: Suite, context: Context) -> Plan:
    """Return what must be computed for the expectations that will be judged."""
    tokens = _tokens_column(suite, context)
    wanted: dict[Metric, list[str]] = {Lengths(tokens): [], content_of(context, tokens): []}
    for each in suite.expectations:
        if skipped(each, context) is None:
            for metric in metrics_of(each.expectation, context):
                wanted.setdefault(metric, []).append(each.expectation.type())
    return Plan(tuple(wanted), tokens, wanted)


def metrics_of(expectation: Expectation, context: Context) -> Sequence[Metric]:
    """Return the metrics that an expectation judges; none where it lacks what it needs."""
    try:
        if isinstance(expectation, RowExpectation):
            return expectation.all_metrics(context)
        return expectation.metrics(context)
    except CannotJudge:
        return ()


def skipped(configured: Configured, context: Context) -> Unjudged | None:
    """Return why an expectation is skipped: something that its `when` names is absent."""
    return _first_absent(configured.when, configured.expectation, context)


def lacking(expectation: Expectation, context: Context) -> Unjudged | None:
    """Return what an expectation cannot be judged without, where it is absent."""
    return _first_absent(expectation.needs(context), expectation, context)


def _first_absent(names: Iterable[str], expectation: Expectation, context: Context) -> Unjudged | None:
    given = expectation.model_dump(exclude={"column"})
    return next((absent for name in names if (absent := context.absent(name, given)) is not None), None)


def _tokens_column(suite: Suite, context: Context) -> str:
    if context.has(INPUT_IDS):
        return INPUT_IDS
    named = [each.expectation.column for each in suite.expectations if context.has(each.expectation.column)]
    return named[0] if named else INPUT_IDS
