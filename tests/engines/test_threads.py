"""Units on threads: in order, bounded, and stopped by the first failure."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dataguard.engines import threads
from dataguard.engines.threads import default_jobs, run


def test_yields_in_the_order_of_the_units_however_long_each_takes() -> None:
    def work(unit: int) -> int:
        time.sleep(0.02 if unit % 3 == 0 else 0)
        return unit * 10

    assert list(run(work, range(20), jobs=4)) == [unit * 10 for unit in range(20)]


def test_no_units_give_no_results() -> None:
    assert list(run(str, [], jobs=3)) == []


def test_works_on_several_units_at_once() -> None:
    meeting = threading.Barrier(3, timeout=5)
    assert len(list(run(lambda _: meeting.wait(), range(3), jobs=3))) == 3


def test_takes_no_more_units_than_twice_the_jobs_ahead() -> None:
    taken = 0

    def units() -> Iterator[int]:
        nonlocal taken
        for unit in range(100):
            taken += 1
            yield unit

    results = run(lambda unit: unit, units(), jobs=2)
    assert next(results) == 0
    time.sleep(0.05)
    assert taken == 4
    assert next(results) == 1
    assert taken == 5
    results.close()


def test_yields_what_came_before_a_failure_then_raises_it() -> None:
    begun = []

    def work(unit: int) -> int:
        begun.append(unit)
        if unit == 2:
            msg = "unit 2"
            raise ValueError(msg)
        time.sleep(0.01)
        return unit

    results = run(work, range(1000), jobs=2)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ValueError, match="unit 2"):
        next(results)
    assert len(begun) < 8


def test_an_exception_of_the_units_themselves_propagates() -> None:
    def units() -> Iterator[int]:
        yield 1
        msg = "no more"
        raise OSError(msg)

    with pytest.raises(OSError, match="no more"):
        list(run(str, units(), jobs=2))


def test_closing_stops_the_workers() -> None:
    before = threading.active_count()
    results = run(lambda unit: unit, range(1000), jobs=4)
    next(results)
    results.close()
    assert threading.active_count() == before


def test_ctrl_c_while_a_worker_is_started_is_what_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        if threading.active_count() > before:
            raise KeyboardInterrupt
        start(thread)

    before = threading.active_count()
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(run(str, range(8), jobs=3))


def test_does_not_wait_for_a_worker_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "PATIENCE", 0.05)
    release = threading.Event()

    def work(unit: int) -> int:
        if unit:
            release.wait(10)
        return unit

    results = run(work, range(4), jobs=2)
    assert next(results) == 0
    started = time.monotonic()
    results.close()
    assert time.monotonic() - started < 2
    release.set()


def test_refuses_no_jobs_before_anything_is_read() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        run(str, iter(()), jobs=0)


def test_the_default_is_a_core_at_least() -> None:
    assert default_jobs() >= 1


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "150000 100000"}, 2),
        ({"cpu.max": "max 100000"}, None),
        ({"cpu.max": "max 100000", "a/b/cpu.max": "100000 100000"}, 1),
        ({"a/cpu.max": "300000 100000", "a/b/cpu.max": "800000 100000"}, 3),
        ({"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000"}, 2),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ({"cpu.max": "rubbish"}, None),
        ({}, None),
    ],
)
def test_control_groups_limit_the_cores(tmp_path: Path, files: dict[str, str], cores: int | None) -> None:
    own = tmp_path / "own"
    own.write_text("0::/a/b\n")
    root = tmp_path / "cgroup"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    assert threads._cgroup_cores(root, own) == cores
