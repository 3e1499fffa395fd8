"""Compile the kernels that a run needs before it needs them: once for a machine, one process at a time.

Numba's disk cache is written file by file; processes that compile the same kernel at once can read what another has
half replaced (numba issue 4807). A lock in the user's cache folder lets one process in at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress

import pyarrow as pa

from dataguard.metrics.base import Metric
from dataguard.run.cache import cache_folder
from dataguard.run.locks import locked
from dataguard.shards.batch import Batch
from dataguard.shards.roles import is_text

PATIENCE = 1.0
"""Seconds after which the user is told why nothing seems to happen."""


def warm(
    metrics: Sequence[Metric], types: Iterable[Mapping[str, pa.DataType]], note: Callable[[str], None] = lambda _: None
) -> None:
    """Run each metric on one small row of each combination of column types, so that its kernels are compiled.

    Args:
        metrics: The metrics of a plan.
        types: {role: Arrow type} of the shards, only roles that hold lists of whole numbers, or texts.
        note: Told once when compiling takes more than a second.
    """
    timer = threading.Timer(
        PATIENCE, note, ["compiling kernels for their first use on this machine (once, some seconds)"]
    )
    timer.daemon = True
    timer.start()
    try:
        with _alone():
            for wide in {frozenset(_seen_by_kernels(each).items()) for each in types}:
                one_row = {role: pa.array(["a"] if is_text(kind) else [[1]], kind) for role, kind in wide}
                batch = Batch(one_row, 1)
                for metric in metrics:
                    if metric.can_compute({role: array.type for role, array in one_row.items()}):
                        metric.compute(batch)
    finally:
        timer.cancel()


def _seen_by_kernels(types: Mapping[str, pa.DataType]) -> dict[str, pa.DataType]:
    """Return the type that stands for all that kernels see alike: lists of int32 (or int64 for what needs it), and strings."""
    wide = (pa.int64(), pa.uint64(), pa.uint32())
    numbers = {role: kind.value_type in wide for role, kind in types.items() if not is_text(kind)}
    seen = {role: pa.list_(pa.int64() if is_wide else pa.int32()) for role, is_wide in numbers.items()}
    return seen | {role: pa.string() for role in types.keys() - numbers.keys()}


@contextmanager
def _alone() -> Iterator[None]:
    """Hold the lock on the kernels' cache, where there can be one: without it compiling still works."""
    with ExitStack() as stack:
        with suppress(OSError):
            folder = cache_folder()
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(folder))
        yield
