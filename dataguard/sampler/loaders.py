"""What a rank iterates over: a DataLoader of ours with torch's DistributedSampler, or one that a user's factory makes."""

from __future__ import annotations

import importlib
import inspect
import itertools
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dataguard.errors import UsageError, nearest
from dataguard.sampler.content import Content
from dataguard.sampler.settings import Settings

DRAWS = 3
IDS = ("sample_ids", "sample_id", "indices", "index", "ids", "idx", "id")
"""Keys under which a user's batch may hold the numbers of its samples, the first one that there is."""
TOKENS = "input_ids"


@dataclass(frozen=True)
class Batch:
    """What came of a batch.

    Args:
        samples: Numbers of its samples.
        content: Its tokens as one row of whole numbers, where they were looked at.
        worker: Which worker made it, with its seed and the first numbers of its stream; None where nobody knows.
    """

    samples: Sequence[int]
    content: Any = None
    worker: tuple[int, int, tuple[float, ...]] | None = None


@dataclass
class Rows:
    """A map-style dataset of the rows of shards: gives the numbers of its rows, and the tokens of the first ones it is asked for.

    Reading all rows would cost as much as training on them; what a first batch holds is enough to see another order of shards.
    """

    samples: int
    content: Content | None
    looked_at: int
    asked: int = 0

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, sample: int) -> tuple[int, Any]:
        self.asked += 1
        if self.content is None or self.asked > self.looked_at:
            return sample, None
        ((_, tokens),) = self.content.rows(np.array([sample]))
        return sample, tokens


def our_batches(
    torch: Any, rank: int, settings: Settings, epoch: int, rows: Rows
) -> tuple[Any, Callable[[Any], Batch]]:
    """Return a DataLoader as torch's documentation makes it, and what turns its batches into ours.

    Its generator is seeded by seed, epoch and rank, so that no two workers draw the same.
    """
    data = torch.utils.data
    sampler = data.distributed.DistributedSampler(
        rows,
        num_replicas=settings.world_size,
        rank=rank,
        shuffle=settings.shuffle,
        seed=settings.seed,
        drop_last=settings.drops_remainder,
    )
    sampler.set_epoch(epoch)
    generator = torch.Generator()
    generator.manual_seed((settings.seed + (epoch * settings.world_size + rank + 1) * 0x9E3779B9) % (1 << 62))
    loader = data.DataLoader(
        rows,
        batch_size=settings.batch_size,
        sampler=sampler,
        num_workers=settings.num_workers,
        drop_last=settings.drops_batch,
        collate_fn=gathered,
        generator=generator,
    )
    return loader, lambda batch: batch


def gathered(rows: Sequence[tuple[int, Any]]) -> Batch:
    """Return rows as a batch, with the worker that is at work and what its stream gives first."""
    import torch  # noqa: PLC0415  # in a worker, which has it

    worker = torch.utils.data.get_worker_info()
    tokens = [each for _, each in rows]
    content = None if any(each is None for each in tokens) else joined(tokens)
    stream = None if worker is None else (worker.id, worker.seed, drawn())
    return Batch([sample for sample, _ in rows], content, stream)


def joined(rows: Sequence[Any]) -> Any:
    """Return rows of tokens as one row that tells where each ends. Shape (tokens + rows,), int64."""
    return np.concatenate([part for row in rows for part in (np.array([len(row)]), np.asarray(row))]).astype(np.int64)


def drawn() -> tuple[float, ...]:
    """Return what NumPy's and Python's global streams would give next, without taking it from them."""
    numpy_state, state = np.random.get_state(), random.getstate()  # noqa: NPY002  # the stream that augmentations use
    found = (*(float(each) for each in np.random.random(DRAWS)), random.random())  # noqa: NPY002, S311
    np.random.set_state(numpy_state)  # noqa: NPY002
    random.setstate(state)
    return found


def factory_of(named: str) -> Callable[..., Any]:
    """Return a user's loader factory.

    Args:
        named: module:factory; the module is looked for in the working directory as well.

    Raises:
        UsageError: There is no such module or factory, or importing it fails.
    """
    module, colon, name = named.partition(":")
    if not colon or not module or not name:
        raise UsageError(
            f"{named!r} names no loader", where="--loader", fix="give MODULE:FACTORY, such as train.data:make_loader"
        )
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # a script that ends itself must not end this command as if all held
        why = f"{type(error).__name__}: {error}"
        raise UsageError(f"the module {module} cannot be imported", where=f"--loader {named}", why=why) from error
    factory = getattr(found, name, None)
    if not callable(factory):
        fix = nearest(
            name, [each for each, value in vars(found).items() if callable(value) and not each.startswith("_")]
        )
        raise UsageError(f"the module {module} has no factory {name}", where=f"--loader {named}", fix=fix)
    return factory  # type: ignore[no-any-return]


def their_batches(
    factory: Callable[..., Any], rank: int, settings: Settings, epoch: int, *, resumed: bool = False
) -> tuple[Any, Callable[[Any], Batch]]:
    """Return a user's loader for a rank and epoch, and what turns its batches into ours.

    The factory is given whichever of rank, world_size, epoch, seed, batch_size, num_workers, shuffle, drop_last and resumed it
    takes.
    """
    known = {
        "rank": rank,
        "world_size": settings.world_size,
        "epoch": epoch,
        "seed": settings.seed,
        "batch_size": settings.batch_size,
        "num_workers": settings.num_workers,
        "shuffle": settings.shuffle,
        "drop_last": settings.drop_last,
        "resumed": resumed,
    }
    taken = inspect.signature(factory).parameters.values()
    if not any(each.kind is each.VAR_KEYWORD for each in taken):
        names = {each.name for each in taken}
        known = {name: value for name, value in known.items() if name in names}
    return factory(**known), understood


def understood(batch: Any) -> Batch:
    """Return a user's batch: the numbers of its samples, and its tokens where it has them.

    Raises:
        UsageError: It does not say which samples it holds.
    """
    if isinstance(batch, Batch):
        return batch
    found, content = batch, None
    if isinstance(batch, Mapping):
        key = next((each for each in IDS if each in batch), None)
        if key is None:
            why = f"its keys are {', '.join(map(str, batch))}"
            fix = f"let batches hold the numbers of their samples as {IDS[0]}"
            raise UsageError("a batch does not say which samples it holds", where="--loader", why=why, fix=fix)
        found, content = batch[key], batch.get(TOKENS)
    worker = None
    if isinstance(batch, Mapping) and "worker" in batch:
        number, seed = _numbers(batch["worker"], "worker is not a number and a seed", 2)
        worker = (number, seed, ())
    return Batch(
        _numbers(found, "a batch does not say which samples it holds"),
        None if content is None else _content(content),
        worker,
    )


def _numbers(given: Any, refusal: str, many: int | None = None) -> list[int]:
    """Return whole numbers in lists, tensors or arrays as one list.

    Raises:
        UsageError: Others are among them, or there are not as many as there should be; it says the refusal.
    """
    found = flat(given)
    for each in found:
        if isinstance(each, bool) or not isinstance(each, (int, np.integer)):
            fix = f"let batches hold the numbers of their samples as {IDS[0]}"
            raise UsageError(refusal, where="--loader", why=f"{each!r:.80} is no whole number", fix=fix)
    if many not in {None, len(found)}:
        raise UsageError(refusal, where="--loader", why=f"it holds {len(found):,} numbers, not {many}")
    return [int(each) for each in found]


def _content(given: Any) -> Any:
    """Return a batch's tokens as one row: those of its rows, or of the only one, which needs no list around it.

    Raises:
        UsageError: They are no whole numbers.
    """
    try:
        rows = [each.tolist() if hasattr(each, "tolist") else each for each in given]
        if rows and all(isinstance(each, int) for each in rows):
            rows = [rows]
        return joined([list(each) for each in rows])
    except (TypeError, ValueError) as error:
        what, fix = (
            f"{TOKENS} of a batch are no rows of whole numbers",
            f"let batches hold no {TOKENS}, or lists of ids",
        )
        raise UsageError(what, where="--loader", why=str(error), fix=fix) from error


def flat(numbers: Any) -> list[Any]:
    """Return numbers in lists, tensors or arrays as one list."""
    if hasattr(numbers, "tolist"):
        numbers = numbers.tolist()
    if not isinstance(numbers, (list, tuple)):
        return [numbers]
    return list(itertools.chain.from_iterable(flat(each) for each in numbers))


def iterated(loader: Any) -> Iterator[Any]:
    """Return the batches of a loader.

    Raises:
        UsageError: It is nothing to iterate over.
    """
    try:
        return iter(loader)
    except TypeError as error:
        raise UsageError(
            f"the factory returned a {type(loader).__name__}, which is no loader", where="--loader"
        ) from error
