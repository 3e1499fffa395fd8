"""Compile the kernels that a run needs before it needs them: once for a machine, one process at a time.

Numba's disk cache is written file by file; processes that compile the same kernel at once can read what another has
half replaced (numba issue 4807). A lock in the user's cache folder lets one process in at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pyarrow as pa

from dataguard.metrics.base import Metric
from dataguard.run.cache import cache_folder
from dataguard.run.locks import locked
from dataguard.shards.batch import Batch
from dataguard.shards.roles import is_number_list, is_span_list, is_text

SPANS = pa.list_(pa.list_(pa.int64()))
NO_ID = (1 << 31) - 1
"""No text has it: so kernels that run where ids and text differ are compiled too."""
PATIENCE = 1.0
"""Seconds after which the user is told why nothing seems to happen."""


def warm(
    metrics: Sequence[Metric], types: Iterable[Mapping[str, pa.DataType]], note: Callable[[str], None] = lambda _: None
) -> None:
    """Run each metric on one small row of each combination of column types, so that its kernels are compiled.

    Args:
        metrics: The metrics of a plan.
        types: {role: Arrow type} of the shards, only roles of which `is_seen` holds.
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
                one_row = {role: pa.array(_row_of(kind), kind) for role, kind in wide}
                batch = Batch(one_row, 1)
                for metric in metrics:
                    if metric.can_compute({role: array.type for role, array in one_row.items()}):
                        metric.compute(batch)
    finally:
        timer.cancel()


def is_seen(role: str, kind: pa.DataType) -> bool:
    """Whether kernels may be given what comes of the column that plays a role."""
    return is_number_list(kind) or is_span_list(kind) or (role.endswith("text") and is_text(kind))


def _seen_by_kernels(types: Mapping[str, pa.DataType]) -> dict[str, pa.DataType]:
    """Return the type that kernels see each column as: lists of int32, or of int64 for what needs it; text is text.

    Spans are always int64.
    """
    return {role: _seen_as(kind) for role, kind in types.items()}


def _seen_as(kind: pa.DataType) -> pa.DataType:
    if is_text(kind):
        return pa.string()
    if not is_number_list(kind):
        return SPANS
    return pa.list_(pa.int64() if kind.value_type in {pa.int64(), pa.uint64(), pa.uint32()} else pa.int32())


def _row_of(kind: pa.DataType) -> list[Any]:
    """Return one row of a column by which every path of a kernel is compiled."""
    if is_text(kind):
        return ["a"]
    return [[[0, 1]]] if kind == SPANS else [[1, NO_ID]]


@contextmanager
def _alone() -> Iterator[None]:
    """Hold the lock on the kernels' cache, where there can be one: without it compiling still works."""
    with ExitStack() as stack:
        with suppress(OSError):
            folder = cache_folder()
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(folder))
        yield
