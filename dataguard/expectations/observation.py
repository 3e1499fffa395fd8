"""What was seen of a sampler: which samples each rank took, in which order, whoever collected it.

An observation is to the expectations of the sampler what the metric table is to those of the rows: they judge it and know
nothing of torch, processes or files. `dataguard.sampler` collects observations, and reads and writes their JSON form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.int64]
"""Numbers of samples, each in [0, samples)."""
DropLast = bool | Literal["sampler", "loader"]
"""What is left out: the samples that do not divide among the ranks (sampler), a rank's incomplete last batch (loader)."""


def joined(orders: Iterable[Samples]) -> Samples:
    """Return orders behind each other, of which there may be none."""
    parts = list(orders)
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


@dataclass(frozen=True)
class Epoch:
    """One epoch as the ranks saw it.

    Args:
        epoch: Its number, as it was told to the sampler or counted by the trainer.
        ranks: The samples that each rank took, in order.
        first_batch: A digest of the tokens of each rank's first batch, where content was looked at.
        batches: How many batches each rank's loader made of them, where somebody counted: workers of an iterable dataset
            each have an incomplete last one.
    """

    epoch: int
    ranks: tuple[Samples, ...]
    first_batch: tuple[str, ...] | None = None
    batches: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Told:
    """What one process told its sampler."""

    rank: int
    world_size: int
    seed: int | None = None


@dataclass(frozen=True)
class Worker:
    """What one worker of one rank took in an epoch, and what its random stream gave.

    Args:
        samples: Its samples, in order; None where only its stream was looked at.
        seed: Of its stream.
        draws: The first numbers of its stream.
    """

    epoch: int
    rank: int
    worker: int
    samples: Samples | None = None
    seed: int | None = None
    draws: tuple[float, ...] | None = None

    def same_stream(self, other: Worker) -> bool:
        """Whether two workers draw the same numbers; what they drew says more than a seed."""
        if self.draws and other.draws:
            return all(ours == theirs for ours, theirs in zip(self.draws, other.draws, strict=False))
        return self.seed is not None and self.seed == other.seed


@dataclass(frozen=True)
class Resume:
    """A run that was stopped inside an epoch, and resumed.

    Args:
        epoch: The one that was stopped.
        consumed_per_rank: Samples that each rank had taken.
        unbroken: The epoch's whole order by rank, as a run has it that is never stopped.
        ranks: What each rank took after the resume.
        world_size: After the resume.
        batch_size: Of one rank, after the resume.
        changed: The number of ranks or the batch size is another one than before.
    """

    epoch: int
    consumed_per_rank: int
    unbroken: tuple[Samples, ...]
    ranks: tuple[Samples, ...]
    world_size: int
    batch_size: int
    changed: bool = False


@dataclass(frozen=True)
class Stall:
    """A rank that gave no further batch for so many seconds, after so many of them."""

    epoch: int
    rank: int
    step: int
    seconds: float


@dataclass(frozen=True)
class SeedOrder:
    """The orders that another seed gave."""

    seed: int
    epochs: tuple[Epoch, ...]


@dataclass(frozen=True)
class Places:
    """Where samples stand: sample i is row i - starts[s] of the shard s that holds it.

    Args:
        shards: Names of the shards that hold the samples.
        starts: The first sample of each shard, and the number of all samples. Shape (shards + 1,), int64, rising.
    """

    shards: Sequence[str]
    starts: npt.NDArray[np.int64]

    def of(self, sample: int) -> tuple[str, int]:
        """Return shard and row of a sample."""
        place = int(np.searchsorted(self.starts, sample, side="right")) - 1
        return self.shards[place], sample - int(self.starts[place])


class Dropping:
    """What `drop_last` means."""

    drop_last: DropLast

    @property
    def drops_remainder(self) -> bool:
        """Whether samples that do not divide among the ranks are left out."""
        return self.drop_last in {True, "sampler"}

    @property
    def drops_batch(self) -> bool:
        """Whether a rank's incomplete last batch is left out."""
        return self.drop_last in {True, "loader"}


@dataclass(frozen=True)
class Observation(Dropping):
    """What was seen of a sampler.

    Args:
        samples: Length of the dataset.
        world_size: Number of ranks, as the run was told; may be nonsense, which is a finding.
        batch_size: Of one rank.
        drop_last: What is left out on purpose.
        shuffle: Whether the sampler shuffles.
        seed: As the run was told.
        epochs: What the ranks took.
        items: What each sample really is, as numbers that are equal where the samples are. Shape (samples,).
        reproduction: The same epochs, collected again with the same seed.
        arguments: What each process that was looked at told its sampler; empty where nobody looked.
        workers: What workers took and drew.
        resumes: What followed resumes.
        seeds: Orders of other seeds.
        lengths: Tokens of each sample. Shape (samples,).
        sources: The place of each sample's source in `source_names`, -1 where it has none. Shape (samples,).
        places: Where samples stand, where DATA is known.
        stalls: Ranks that hung.
        told: What the collector has to say, such as why ranks were ended.
    """

    samples: int
    world_size: int
    batch_size: int
    drop_last: DropLast
    shuffle: bool
    seed: int
    epochs: tuple[Epoch, ...]
    items: Samples | None = None
    reproduction: tuple[Epoch, ...] = ()
    arguments: tuple[Told, ...] = ()
    workers: tuple[Worker, ...] = ()
    resumes: tuple[Resume, ...] = ()
    seeds: tuple[SeedOrder, ...] = ()
    lengths: npt.NDArray[np.int64] | None = None
    sources: npt.NDArray[np.int64] | None = None
    source_names: tuple[str, ...] = ()
    places: Places | None = None
    stalls: tuple[Stall, ...] = ()
    told: tuple[str, ...] = ()

    def batches(self, samples: int) -> int:
        """Return how many batches a rank makes of so many samples."""
        return samples // self.batch_size if self.drops_batch else -(-samples // self.batch_size)

    def identities(self, samples: Samples) -> Samples:
        """Return what samples really are: by item where items are known, else by number."""
        return samples if self.items is None else self.items[samples]

    def absent(self, part: str) -> tuple[str, str] | None:
        """Return what is missing and what would supply it where a part was not looked at; None where it was."""
        there, missing, fix = PARTS[part]
        return None if there(self) else (missing, fix)


def _streams(seen: Observation) -> bool:
    return any(each.seed is not None or each.draws for each in seen.workers)


OF_OBSERVATION = "give it in --observed, or DATA to observe a sampler"
PARTS: Mapping[str, tuple[Callable[[Observation], bool], str, str]] = {
    "reproduction": (
        lambda seen: bool(seen.reproduction),
        "no second collection with the same seed was observed",
        OF_OBSERVATION,
    ),
    "several_epochs": (lambda seen: len(seen.epochs) > 1, "only one epoch was observed", "observe two: --epochs 2"),
    "workers": (
        lambda seen: any(each.samples is not None for each in seen.workers),
        "what each worker took was not observed",
        "give --num-workers 2, or workers in --observed",
    ),
    "worker_streams": (
        _streams,
        "no random stream of a worker was observed",
        "give --num-workers 2 with --backend gloo, or workers with seed or draws in --observed",
    ),
    "resume": (lambda seen: bool(seen.resumes), "no resume was observed", OF_OBSERVATION),
    "same_world_resume": (
        lambda seen: any(not each.changed for each in seen.resumes),
        "no resume with as many ranks was observed",
        OF_OBSERVATION,
    ),
    "other_world_resume": (
        lambda seen: any(each.changed for each in seen.resumes),
        "no resume with another number of ranks was observed",
        OF_OBSERVATION,
    ),
    "other_seeds": (lambda seen: bool(seen.seeds), "no order of another seed was observed", OF_OBSERVATION),
    "lengths_or_sources": (
        lambda seen: seen.lengths is not None or seen.sources is not None,
        "neither lengths nor sources of the samples are known",
        "give DATA, or lengths or sources in --observed",
    ),
}
"""What `when` and an expectation's needs may name of an observation: whether it is there, what is missing, what helps."""


def pairs_of_epochs(seen: Observation) -> Iterator[tuple[Epoch, Epoch]]:
    """Yield each epoch with its second collection: the same number, the first with the first where it comes twice."""
    again: dict[int, list[Epoch]] = {}
    for each in seen.reproduction:
        again.setdefault(each.epoch, []).append(each)
    for epoch in seen.epochs:
        if again.get(epoch.epoch):
            yield epoch, again[epoch.epoch].pop(0)
