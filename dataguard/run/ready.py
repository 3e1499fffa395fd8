"""Everything that is known before a row is read: the suite, the shards and their columns, the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dataguard.expectations.context import Context, ShardFacts
from dataguard.expectations.shards_intact import ExpectShardsToBeIntact
from dataguard.run.baselines import read_baselines
from dataguard.run.cache import store_folder
from dataguard.run.columns import demand_columns, refuse_unknown_roles
from dataguard.run.dataset import Dataset, open_dataset, paths_of, source_of_rows
from dataguard.run.head import first_rows
from dataguard.run.record import read_record
from dataguard.run.request import Request
from dataguard.run.store import TOKENIZERS
from dataguard.suite.loading import load_suite
from dataguard.suite.model import Suite
from dataguard.suite.plugins import Known
from dataguard.suite.shipped import choose
from dataguard.vocabulary.beside import beside_data
from dataguard.vocabulary.loading import load_vocabulary, tokenizer_with


@dataclass(frozen=True)
class Ready:
    """What a run judges, and by what.

    Args:
        suite: The one that was asked for, or the shipped one that fits.
        dataset: The shards, opened.
        context: What expectations may know; its sources are a stand-in for those that only the rows know.
        mapped: {role: column} of the options and the suite.
        tokenizer: The one that was asked for or found.
        taken: What was taken without being told, for the report.
    """

    suite: Suite
    dataset: Dataset
    context: Context
    mapped: Mapping[str, str]
    tokenizer: str | Path | None
    taken: list[str]


def get_ready(request: Request) -> Ready:
    """Understand the suite, open the shards, load the vocabulary.

    Raises:
        UsageError: One of them is unusable.
    """
    refuse_unknown_roles(request.columns)
    known = Known(request.plugins)
    suite = None if request.suite is None else load_suite(request.suite, request.parameters, known)
    if request.record is None:
        dataset = open_dataset(request.data, _tolerated(suite), request.jobs)
    else:
        dataset = read_record(request.record)
    if request.head is not None:
        dataset = first_rows(dataset, request.head)
    taken = [*request.taken, *(f"{name} of {package}" for name, package in known.installed.items())]
    if suite is None:
        suite = _fitting(dataset, request)
        taken.append(f"suite {suite.name}, by the columns")
    mapped = {**suite.columns, **request.columns}
    shards = dataset.facts(mapped)
    demand_columns(shards, suite, request)
    tokenizer = request.tokenizer
    if tokenizer is None and (request.model is None or tokenizer_with(request.model) is None):
        tokenizer = beside_data(paths_of(request.data))
        taken += [] if tokenizer is None else [f"{tokenizer.name}, beside the data"]
    vocabulary = load_vocabulary(
        tokenizer=tokenizer,
        model=request.model,
        given=suite.vocabulary,
        over=request.vocabulary,
        vocab_size=request.vocab_size,
        keep_in=_tokenizers(request),
    )
    context = Context(
        vocabulary,
        shards,
        _likely_sources(dataset, shards, request),
        suite.parameters,
        dataset.ignored,
        dataset.manifests,
        baselines=read_baselines(suite),
    )
    return Ready(suite, dataset, context, mapped, tokenizer, taken)


def _tokenizers(request: Request) -> Path | None:
    """Return the store's folder for what tokenizers say; None where nothing is to be stored."""
    if request.store is None:
        return None
    try:
        return store_folder(request.store) / TOKENIZERS
    except OSError:  # that it cannot be used is told when numbers are to be stored
        return None


def _tolerated(suite: Suite | None) -> set[str]:
    expectations = () if suite is None else (each.expectation for each in suite.expectations)
    return {reason for each in expectations if isinstance(each, ExpectShardsToBeIntact) for reason in each.allow}


def _fitting(dataset: Dataset, request: Request) -> Suite:
    """Return the shipped suite that fits the columns."""
    present = {role for shard in dataset.facts(request.columns) for role in shard.roles if shard.has(role)}
    return load_suite(choose(present), request.parameters)


def _likely_sources(dataset: Dataset, shards: Sequence[ShardFacts], request: Request) -> tuple[str, ...]:
    """Return a stand-in for the names of the sources, which only the scan knows; none where no row can have one."""
    pairs = [source_of_rows(*each, request.source_from) for each in zip(dataset.shards, shards, strict=True)]
    return ("",) if any(name or column for name, column in pairs) else ()
