"""The rows of a data set as a sampler sees them: numbers from 0, in the order of DATA, of all shards that are intact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from dataguard.errors import UsageError
from dataguard.expectations.context import Context
from dataguard.expectations.observation import Observation, Places
from dataguard.expectations.seeds_agree import ExpectSeedsToAgreeInDistribution
from dataguard.expectations.shards_intact import ExpectShardsToBeIntact
from dataguard.metrics.lengths import Lengths
from dataguard.run.dataset import Dataset
from dataguard.run.fill import fill
from dataguard.run.plan import make_plan
from dataguard.run.ready import get_ready
from dataguard.run.request import Request
from dataguard.run.store import opened_store
from dataguard.run.table import RunTable
from dataguard.sampler.content import Content
from dataguard.sampler.simulate import simulate
from dataguard.suite.loading import load_suite
from dataguard.suite.model import Suite


@dataclass(frozen=True)
class SampleRows:
    """A data set whose rows are samples.

    Args:
        suite: What judges it.
        context: What is known of the shards.
        content: Where each sample stands, and what is in it.
        lengths: Tokens of each sample. Shape (samples,).
        sources: The place of each sample's source in the names that the context has, -1 where it has none.
        taken: What was taken without being told.
    """

    suite: Suite
    context: Context
    content: Content
    lengths: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    taken: Sequence[str]

    def described(self, seen: Observation) -> Observation:
        """Return an observation of these samples with what is known of each."""
        return replace(
            seen,
            lengths=self.lengths,
            sources=self.sources if self.context.sources else None,
            source_names=tuple(self.context.sources),
            places=self.content.places,
        )


def read_samples(request: Request) -> SampleRows:
    """Return the rows of DATA as samples; how long they are comes from the store where it is known.

    Raises:
        UsageError: The suite or DATA is unusable.
    """
    ready = get_ready(request)
    dataset, context = ready.dataset, ready.context
    whole = make_plan(ready.suite, context)
    tokens = whole.tokens
    plan = replace(whole, metrics=(Lengths(tokens),), wanted_by={})
    filled = RunTable(plan.metrics)
    with opened_store(request) as store:
        shards = fill(dataset, context.shards, plan, filled, store=store, request=request)
    context = replace(context, shards=shards, sources=filled.sources)
    return _samples_of(ready.suite, context, dataset, filled, tokens, ready.taken)


def announced(request: Request) -> tuple[SampleRows, list[int]]:
    """Return the rows of DATA as samples, and how many each shard has, as its head or footer says: no row is read.

    Raises:
        UsageError: The suite or DATA is unusable.
    """
    ready = get_ready(request)
    shards = ready.context.shards
    sizes = [0 if each.fault is not None else each.rows for each in shards]
    places = Places([each.name for each in shards], np.cumsum([0, *sizes]))
    content = Content(places, ready.dataset.shards, [""] * len(shards))
    nothing = np.empty(0, np.int64)
    context = replace(ready.context, sources=())
    return SampleRows(ready.suite, context, content, nothing, nothing, ready.taken), sizes


def _samples_of(  # noqa: PLR0917  # what a run has at hand
    suite: Suite, context: Context, dataset: Dataset, filled: RunTable, tokens: str, taken: Sequence[str] = ()
) -> SampleRows:
    """Return rows that have been scanned as samples."""
    length = Lengths(tokens)["length"].fill_null(0).cast(pl.Int64)
    source = pl.col("source").fill_null(-1).cast(pl.Int64)
    rows = filled.frame().select(length.alias("length"), source).collect(engine="streaming")
    starts = np.zeros(len(context.shards) + 1, np.int64)
    np.cumsum([shard.rows for shard in context.shards], out=starts[1:])
    asked = [each.expectation for each in suite.expectations]
    intact = [each for each in asked if isinstance(each, ExpectShardsToBeIntact)]
    content = Content(
        places=Places([shard.name for shard in context.shards], starts),
        shards=dataset.shards,
        columns=[shard.roles.get(tokens, "") for shard in context.shards],
        tolerated=frozenset(reason for each in intact for reason in each.allow),
    )
    return SampleRows(
        suite=suite,
        context=context,
        content=content,
        lengths=rows["length"].to_numpy(),
        sources=rows["source"].to_numpy(),
        taken=taken,
    )


def wanted_seeds(suite: Suite) -> list[int] | None:
    """Return the other seeds that a suite asks for by number; None where it names none."""
    asked = (each.expectation for each in suite.expectations)
    named = {seed for each in asked if isinstance(each, ExpectSeedsToAgreeInDistribution) for seed in each.seeds or ()}
    return sorted(named) or None


def with_sampler(  # noqa: PLR0917  # as above
    suite: Suite, context: Context, dataset: Dataset, filled: RunTable, tokens: str, request: Request
) -> tuple[Suite, Context]:
    """Return suite and context of a run that judges the sampler as well: what it deals of the rows, and what is expected of it.

    Raises:
        UsageError: Only the first rows are judged, or torch is not installed.
    """
    settings = request.sampler
    assert settings is not None
    if request.head is not None:
        why = "the sampler deals all rows, and only the first ones of each shard are read"
        raise UsageError("the sampler cannot be judged with --head", why=why, fix="leave out --head, or the sampler")
    samples = _samples_of(suite, context, dataset, filled, tokens)
    first = samples.content.first_batches
    seen = simulate(len(samples.content), settings, seeds=wanted_seeds(suite), first_batch=first)
    own = {each.expectation.type() for each in suite.expectations}
    shipped = load_suite("sampler", {"shuffle": settings.shuffle}).expectations
    added = [each for each in shipped if each.expectation.type() not in own]
    expectations = (*suite.expectations, *added)
    return replace(suite, expectations=expectations), replace(context, observation=samples.described(seen))
