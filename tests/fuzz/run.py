"""Judge thousands of mutated shards: each must be a finding or a clean read. `make fuzz` runs ten thousand.

    python -m tests.fuzz.run [--count N] [--first SEED] [--jobs N] [--seconds N]

Each process judges many files; one that ends, or says nothing for too long, is the finding of the seed that it was at. The exit
status is 1 where anything was found. A seed gives the same file again: `python -m tests.fuzz.worker SEED SEED+1`.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WORKER = (sys.executable, "-X", "faulthandler", "-m", "tests.fuzz.worker")
WRONG = {"traceback", "differs", "crash", "hang", "error", "clean-but-refused"}
START_SECONDS = 120
"""A process may have to compile kernels before its first file."""


def outcomes(first: int, stop: int, seconds: float, worker: tuple[str, ...] = WORKER) -> Iterator[dict[str, Any]]:
    """Yield what became of each seed's file, whatever becomes of the processes that judge them.

    Args:
        first: The first seed.
        stop: The seed behind the last.
        seconds: That one file may take.
        worker: The command to which FIRST and STOP are added.
    """
    while first < stop:
        for each in _of_one_process([*worker, str(first), str(stop)], first, stop, seconds):
            yield each
            first = each["seed"] + 1


def _of_one_process(command: list[str], first: int, stop: int, seconds: float) -> Iterator[dict[str, Any]]:
    environment = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_NUM_THREADS": "1"}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    lines: queue.Queue[str] = queue.Queue()
    errors: list[str] = []
    assert process.stdout is not None
    assert process.stderr is not None
    threads = [
        threading.Thread(target=_pump, args=(process.stdout, lines.put), daemon=True),
        threading.Thread(target=lambda: errors.append(process.stderr.read()), daemon=True),  # type: ignore[union-attr]
    ]
    for thread in threads:
        thread.start()
    seed, is_ready = first, False
    try:
        while seed < stop:
            try:
                line = lines.get(timeout=seconds if is_ready else START_SECONDS)
            except queue.Empty:
                process.kill()
                yield {"seed": seed, "outcome": "hang", "detail": f"no answer within {seconds:g} seconds"}
                return
            if not line:
                status = process.wait()
                threads[1].join()
                told = "".join(errors).strip().splitlines()
                if not is_ready:
                    raise RuntimeError("\n".join(["a process could not begin:", *told[-20:]]))
                yield {"seed": seed, "outcome": "crash", "detail": f"status {status}: {' | '.join(told[:12])}"}
                return
            said = json.loads(line)
            if "ready" in said:
                is_ready = True
                continue
            yield said
            seed = said["seed"] + 1
    finally:
        process.kill()
        process.wait()
        for thread in threads:
            thread.join()
        process.stdout.close()
        process.stderr.close()


def _pump(stream: Any, put: Any) -> None:
    for line in stream:
        put(line)
    put("")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=10_000, help="files to judge")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument(
        "--seconds", type=float, default=120, help="that one file may take; a new type of ids compiles kernels"
    )
    parser.add_argument("--log", type=Path, help="write every outcome here, as lines of JSON")
    options = parser.parse_args()
    return report(options.first, options.count, options.jobs, options.seconds, options.log)


def report(first: int, count: int, jobs: int, seconds: float, log: Path | None = None) -> int:
    """Judge the files, print what became of them, and return 1 where anything is wrong."""
    step = -(-count // jobs)
    ranges = [(start, min(start + step, first + count)) for start in range(first, first + count, step)]
    started = time.perf_counter()
    with ThreadPoolExecutor(jobs) as pool:
        parts = pool.map(lambda each: list(outcomes(*each, seconds)), ranges)
        told = [each for part in parts for each in part]
    if log is not None:
        log.write_text("".join(json.dumps(each) + "\n" for each in told))
    counts = Counter(each["outcome"] for each in told)
    wrong = [each for each in told if each["outcome"] in WRONG]
    slowest = max(told, key=lambda each: each.get("seconds", 0))
    print(f"{len(told):,} files in {time.perf_counter() - started:.0f} s: {dict(counts.most_common())}")
    print(f"slowest: {slowest.get('seconds')} s, seed {slowest['seed']}")
    print(f"most memory beyond that of undamaged files: {max(each.get('megabytes', 0) for each in told):,} MB")
    for each in wrong:
        print(json.dumps(each))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
