"""The JSON form of an observation (docs/sampler.md): read strictly, told in sentences where it cannot be, and written.

A log of ids may be a Parquet file as well: rows of epoch, rank and sample, and the rest of the document in its metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dataguard.errors import DataError
from dataguard.expectations.observation import (
    DropLast,
    Epoch,
    Observation,
    Resume,
    Samples,
    SeedOrder,
    Stall,
    Told,
    Worker,
)
from dataguard.suite.words import allowed

Sample = Annotated[int, Field(ge=0, lt=1 << 62)]
Number = Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)]
Count = Annotated[int, Field(ge=1, lt=1 << 31)]
Orders = list[list[Sample]]


class Part(BaseModel):
    """A part of the document: nothing that it does not know, and no text where a number belongs."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class EpochPart(Part):
    """The samples that each rank took in an epoch, in order."""

    epoch: Number
    ranks: Orders
    first_batch: list[str] | None = None
    batches: list[Sample] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for name in ("first_batch", "batches"):
            given = getattr(self, name)
            if given is not None and len(given) != len(self.ranks):
                msg = f"{name} must hold one entry for each of the {len(self.ranks):,} ranks, not {len(given):,}"
                raise ValueError(msg)
        return self

    def value(self) -> Epoch:
        """Return it as expectations judge it."""
        first = None if self.first_batch is None else tuple(self.first_batch)
        return Epoch(self.epoch, _orders(self.ranks), first, None if self.batches is None else tuple(self.batches))


class ToldPart(Part):
    """What a process told its sampler."""

    rank: Number
    world_size: Number
    seed: Number | None = None


class WorkerPart(Part):
    """What a worker of a rank took, and what its random stream gave."""

    epoch: Number
    rank: Sample
    worker: Sample
    samples: list[Sample] | None = None
    seed: int | None = None
    draws: list[float] | None = None

    def value(self) -> Worker:
        """Return it as expectations judge it."""
        samples = None if self.samples is None else _order(self.samples)
        draws = None if self.draws is None else tuple(self.draws)
        return Worker(self.epoch, self.rank, self.worker, samples, self.seed, draws)


class ResumePart(Part):
    """A run that was stopped inside an epoch, and what followed."""

    epoch: Number
    consumed_per_rank: Sample
    unbroken: Annotated[Orders, Field(min_length=1)]
    ranks: Orders
    world_size: Count | None = None
    batch_size: Count | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.consumed_per_rank > min(map(len, self.unbroken)):
            msg = "consumed_per_rank must be at most the length of the shortest order in unbroken"
            raise ValueError(msg)
        if len(self.ranks) != (self.world_size or len(self.unbroken)):
            msg = "ranks must hold an order for each rank after the resume"
            raise ValueError(msg)
        return self

    def value(self, batch_size: int) -> Resume:
        """Return it as expectations judge it."""
        ranks, size = len(self.ranks), self.batch_size or batch_size
        return Resume(
            epoch=self.epoch,
            consumed_per_rank=self.consumed_per_rank,
            unbroken=_orders(self.unbroken),
            ranks=_orders(self.ranks),
            world_size=ranks,
            batch_size=size,
            changed=(ranks, size) != (len(self.unbroken), batch_size),
        )


class SeedPart(Part):
    """The orders of another seed."""

    seed: Number
    epochs: Annotated[list[EpochPart], Field(min_length=1)]


class StallPart(Part):
    """A rank that hung."""

    epoch: Number
    rank: Sample
    step: Sample
    seconds: Annotated[float, Field(ge=0)]


class ObservationDocument(Part):
    """The JSON form of an observation."""

    samples: Sample
    world_size: Number
    batch_size: Count
    drop_last: DropLast = False
    shuffle: bool = True
    seed: Number = 0
    epochs: Annotated[list[EpochPart], Field(min_length=1)]
    items: list[str | int] | None = None
    reproduction: list[EpochPart] = Field(default_factory=list)
    arguments: list[ToldPart] = Field(default_factory=list)
    workers: list[WorkerPart] = Field(default_factory=list)
    resume: ResumePart | list[ResumePart] | None = None
    seeds: list[SeedPart] = Field(default_factory=list)
    stalls: list[StallPart] = Field(default_factory=list)
    lengths: list[Sample] | None = None
    sources: list[str | None] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for name in ("items", "lengths", "sources"):
            given = getattr(self, name)
            if given is not None and len(given) != self.samples:
                msg = f"{name} must hold one entry for each of the {self.samples:,} samples, not {len(given):,}"
                raise ValueError(msg)
        for where, order in self.orders():
            if order and max(order) >= self.samples:
                msg = f"{where} holds sample {max(order):,}; the samples are 0 to {self.samples - 1:,}"
                raise ValueError(msg if self.samples else f"{where} holds samples, and samples is 0")
        return self

    def resumes(self) -> list[ResumePart]:
        """Return the resumes, of which most documents have one or none."""
        if self.resume is None:
            return []
        return self.resume if isinstance(self.resume, list) else [self.resume]

    def orders(self) -> Iterable[tuple[str, Sequence[int]]]:
        """Yield every list of samples, with its place."""
        groups = {"epochs": self.epochs, "reproduction": self.reproduction}
        groups |= {f"seeds[{place}].epochs": each.epochs for place, each in enumerate(self.seeds)}
        for name, epochs in groups.items():
            for place, epoch in enumerate(epochs):
                yield from ((f"{name}[{place}].ranks[{rank}]", order) for rank, order in enumerate(epoch.ranks))
        for place, worker in enumerate(self.workers):
            yield f"workers[{place}].samples", worker.samples or ()
        for resume in self.resumes():
            yield from ((f"resume.unbroken[{rank}]", order) for rank, order in enumerate(resume.unbroken))
            yield from ((f"resume.ranks[{rank}]", order) for rank, order in enumerate(resume.ranks))

    def value(self) -> Observation:
        """Return it as expectations judge it."""
        names = tuple(dict.fromkeys(each for each in self.sources or () if each is not None))
        places = {name: place for place, name in enumerate(names)}
        codes: dict[str | int, int] = {}
        items = None if self.items is None else [codes.setdefault(each, len(codes)) for each in self.items]
        return Observation(
            samples=self.samples,
            world_size=self.world_size,
            batch_size=self.batch_size,
            drop_last=self.drop_last,
            shuffle=self.shuffle,
            seed=self.seed,
            epochs=tuple(each.value() for each in self.epochs),
            items=None if items is None else _order(items),
            reproduction=tuple(each.value() for each in self.reproduction),
            arguments=tuple(Told(each.rank, each.world_size, each.seed) for each in self.arguments),
            workers=tuple(each.value() for each in self.workers),
            resumes=tuple(each.value(self.batch_size) for each in self.resumes()),
            seeds=tuple(SeedOrder(each.seed, tuple(epoch.value() for epoch in each.epochs)) for each in self.seeds),
            stalls=tuple(Stall(each.epoch, each.rank, each.step, each.seconds) for each in self.stalls),
            lengths=None if self.lengths is None else _order(self.lengths),
            sources=None
            if self.sources is None
            else _order([-1 if each is None else places[each] for each in self.sources]),
            source_names=names,
        )


def _order(samples: Sequence[int]) -> Samples:
    return np.array(samples, dtype=np.int64)


def _orders(ranks: Sequence[Sequence[int]]) -> tuple[Samples, ...]:
    return tuple(_order(each) for each in ranks)


PARQUET, HEAD = b"PAR1", b"dataguard"
LOGGED = ("epoch", "rank", "sample")
MOST_RANKS = 1 << 20
FIX = "its form is in docs/sampler.md"


def read_observation(file: Path) -> Observation:
    """Return the observation that a file holds: JSON, or a Parquet log of ids.

    Raises:
        DataError: It cannot be read, or is none.
    """
    try:
        text = file.read_bytes()
        if text.startswith(PARQUET):
            return _observation_of_log(file)
    except (OSError, ValueError) as error:
        why = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        raise DataError("the observation cannot be read", where=str(file), why=why) from error
    return observation_of(text, str(file))


def _observation_of_log(file: Path) -> Observation:
    """Return the observation that a Parquet file holds.

    Raises:
        DataError: It has not the columns, or is no Parquet after all.
    """
    try:
        table = pq.read_table(file)
    except pa.ArrowException as error:
        raise DataError(
            "the log cannot be read", where=str(file), why=str(error).partition("\n")[0], fix=FIX
        ) from error
    kinds = {name: table.schema.field(name).type for name in LOGGED if name in table.schema.names}
    if len(kinds) < len(LOGGED) or not all(map(pa.types.is_integer, kinds.values())):
        why = f"its columns are {', '.join(f'{each.name}: {each.type}' for each in table.schema)}"
        what = f"a log needs {', '.join(LOGGED)} as whole numbers"
        raise DataError(what, where=str(file), why=why, fix=FIX)
    if any(table.column(name).null_count for name in LOGGED):
        raise DataError("a log has no nulls", where=str(file), fix=FIX)
    try:
        epochs, ranks, samples = (table.column(name).cast(pa.int64()).to_numpy() for name in LOGGED)
    except pa.ArrowInvalid as error:
        raise DataError("the log holds a number that is too high", where=str(file), why=str(error), fix=FIX) from error
    head = (table.schema.metadata or {}).get(HEAD)
    try:
        document = json.loads(head) if head is not None else None
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        what = "the log does not say how the run sampled"
        why = f"its metadata holds no JSON as {HEAD.decode()}: samples, world_size, batch_size, ..."
        raise DataError(what, where=str(file), why=why, fix=FIX)
    most = max(
        int(ranks.max(initial=-1)) + 1, document["world_size"] if isinstance(document.get("world_size"), int) else 0
    )
    if len(ranks) and not 0 <= ranks.min() <= ranks.max() < MOST_RANKS:
        raise DataError(
            "the log holds a rank that cannot be", where=str(file), why=f"ranks {ranks.min()} to {ranks.max()}"
        )
    order = np.lexsort((ranks, epochs))
    bounds = {int(epoch): epochs[order].searchsorted([epoch, epoch + 1]) for epoch in np.unique(epochs)}
    document["epochs"] = [
        {"epoch": epoch, "ranks": _by_rank(ranks[order][first:last], samples[order][first:last], min(most, MOST_RANKS))}
        for epoch, (first, last) in bounds.items()
    ]
    return observation_of(json.dumps(document), str(file))


def _by_rank(ranks: Samples, samples: Samples, world: int) -> list[list[int]]:
    """Return the samples of each rank, from rows that are sorted by rank."""
    return [each.tolist() for each in np.split(samples, np.searchsorted(ranks, np.arange(1, world)))]


def observation_of(text: bytes | str, name: str) -> Observation:
    """Return the observation that a JSON text holds.

    Args:
        name: What errors call it.

    Raises:
        DataError: It is none.
    """
    try:
        return ObservationDocument.model_validate_json(text, strict=True).value()
    except ValidationError as fault:
        raise _objection(fault, text, name) from None


def _objection(fault: ValidationError, text: bytes | str, name: str) -> DataError:
    """Return pydantic's objection to what stands deepest, as one message: a union objects once for each of its types."""
    errors = fault.errors()
    if errors[0]["type"] == "json_invalid":
        why = str((errors[0].get("ctx") or {}).get("error", errors[0]["msg"]))
        return DataError("the observation is no JSON", where=name, why=why, fix=FIX)
    document = json.loads(text)
    places = [_place(document, each["loc"]) for each in errors]
    deepest = max(places, key=len)
    same = [each for each, place in zip(errors, places, strict=True) if place == deepest]
    spelled, first = _spelled(deepest), same[0]
    where = f"{name}, at {spelled}" if deepest else name
    if first["type"] == "missing":
        return DataError(f"the observation has no {_spelled((*deepest, first['loc'][-1]))}", where=name, fix=FIX)
    if first["type"] == "extra_forbidden":
        return DataError(f"an observation has no key {spelled}", where=name, fix=FIX)
    return DataError("the observation cannot be understood", where=where, why=allowed(same), fix=FIX)


Place = tuple[str | int, ...]


def _place(document: Any, location: Place) -> Place:
    """Return the steps of a location that lead somewhere; pydantic adds the names of its own types to it."""
    steps: list[str | int] = []
    for step in location:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            continue
        steps.append(step)
    return tuple(steps)


def _spelled(place: Place) -> str:
    """Return a place as people write it: epochs[0].ranks[1]."""
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in place).removeprefix(".")


def document_of(seen: Observation) -> Mapping[str, Any]:
    """Return the JSON form of an observation, as plain values; what was not looked at is left out."""
    names = seen.source_names

    def epochs(given: Iterable[Epoch]) -> list[dict[str, Any]]:
        return [
            {
                "epoch": each.epoch,
                "ranks": [order.tolist() for order in each.ranks],
                **({} if each.first_batch is None else {"first_batch": list(each.first_batch)}),
                **({} if each.batches is None else {"batches": list(each.batches)}),
            }
            for each in given
        ]

    def known(values: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in values.items() if value is not None and value != []}

    return known(
        {
            "samples": seen.samples,
            "world_size": seen.world_size,
            "batch_size": seen.batch_size,
            "drop_last": seen.drop_last,
            "shuffle": seen.shuffle,
            "seed": seen.seed,
            "items": None if seen.items is None else seen.items.tolist(),
            "epochs": epochs(seen.epochs),
            "reproduction": epochs(seen.reproduction),
            "arguments": [known(vars(each)) for each in seen.arguments],
            "workers": [
                known(
                    {
                        **vars(each),
                        "samples": None if each.samples is None else each.samples.tolist(),
                        "draws": None if each.draws is None else list(each.draws),
                    }
                )
                for each in seen.workers
            ],
            "resume": [
                {
                    "epoch": each.epoch,
                    "consumed_per_rank": each.consumed_per_rank,
                    "unbroken": [order.tolist() for order in each.unbroken],
                    "ranks": [order.tolist() for order in each.ranks],
                    "world_size": each.world_size,
                    "batch_size": each.batch_size,
                }
                for each in seen.resumes
            ],
            "seeds": [{"seed": each.seed, "epochs": epochs(each.epochs)} for each in seen.seeds],
            "stalls": [dict(vars(each)) for each in seen.stalls],
            "lengths": None if seen.lengths is None else seen.lengths.tolist(),
            "sources": None if seen.sources is None else [names[each] if each >= 0 else None for each in seen.sources],
        }
    )
