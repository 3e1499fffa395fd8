"""Where the time of a run goes: its steps one after the other, and what the threads of the scan spend it on."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")


class Stopwatch:
    """Seconds by name, in the order in which the names came.

    Args:
        clock: Gives the seconds; by default those of the wall.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Count what is done inside, whether it ends well or not."""
        begun = self._clock()
        try:
            yield
        finally:
            self._seconds[name] += self._clock() - begun

    def each(self, name: str, items: Iterator[Item]) -> Iterator[Item]:
        """Yield the items, and count what each takes to come."""
        while True:
            with self(name):
                item = next(items, _END)
            if item is _END:
                return
            yield item  # type: ignore[misc]

    def add(self, seconds: Mapping[str, float]) -> None:
        """Count what somebody else has measured."""
        for name, spent in seconds.items():
            self._seconds[name] += spent

    def seconds(self) -> dict[str, float]:
        """Return what has been counted."""
        return dict(self._seconds)


_END = object()


class Timings:
    """Where a run's time goes.

    Attributes:
        steps: One after the other: together they are the run.
        scan: What the step `scan` consists of, summed over the threads: together it may be more than the step.
    """

    def __init__(self) -> None:
        self.steps = Stopwatch()
        self.scan = Stopwatch()

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return seconds by step, and by part of the scan, as run.json holds them."""
        parts = {"steps": self.steps, "scan": self.scan}
        return {
            part: {name: round(spent, 6) for name, spent in watch.seconds().items()} for part, watch in parts.items()
        }
