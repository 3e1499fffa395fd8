"""Judge mutated files one after the other, in a process of little memory, and tell each outcome as a line of JSON.

python -m tests.fuzz.worker FIRST STOP
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc

import dataguard
from dataguard.errors import DataError, ShardFault
from dataguard.shards.model import Shard
from dataguard.shards.opening import open_shard
from tests.builders import byte_tokenizer
from tests.fuzz.mutations import HIGHEST, LAYOUTS, mutated, whole

MEMORY = 2 << 30
"""Bytes that a process may map beyond what it holds when it has judged one undamaged file."""
NOT_DECODED = {"text", "spans", "meta"}
"""Columns that the suite may leave out: in Parquet their pages are walked, and not decoded."""
RANGE, INTACT = "expect_token_ids_to_be_in_vocabulary", "expect_shards_to_be_intact"


def judge(path: Path) -> tuple[str, str]:
    """Return what the library says of a file, and what is wrong with that: `clean`, a reason, or `differs`."""
    try:
        result = dataguard.validate(path, suite="sft", tokenizer=byte_tokenizer(), store=None, jobs=1)
    except DataError as error:  # the mutation hit the column's name
        return ("clean", "") if "no column of token ids" in error.what else ("error", str(error))
    verdicts = {each.type: each for each in result.results}
    broken = [each.reason for each in verdicts[INTACT].findings]
    if broken:
        return broken[0], ""
    return compared(path, result, verdicts[RANGE])


def compared(path: Path, result: dataguard.Result, verdict: Any) -> tuple[str, str]:
    """Compare a clean read with what pyarrow reads: every value of every column, and every verdict on ids."""
    try:
        expected = read_by_arrow(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        return "clean-but-refused", f"{type(error).__name__}: {str(error)[:200]}"
    opened = open_shard(Shard("x", path))
    names = expected.schema.names
    batches = [batch for unit in opened.units for _, batch in opened.read(unit, names)]
    ours = pa.Table.from_batches(batches, expected.schema if not batches else None)
    if not same(ours, expected):
        return "differs", "values"
    if result.meta["rows"] != expected.num_rows:
        return "differs", f"{result.meta['rows']} rows of {expected.num_rows}"
    if verdict.unjudged is not None or "input_ids" not in names:
        return "clean", ""
    by_hand = []
    for row, ids in enumerate(expected["input_ids"].to_pylist()):
        bad = [(place, each) for place, each in enumerate(ids or []) if each is not None and not 0 <= each <= HIGHEST]
        worst = [each for each in bad if each[1] < 0] or bad  # a negative id is told before one that is too large
        by_hand += [(row, *worst[0])] if worst else []
    found = result.unexpected(RANGE)
    if list(found.select("row", "position", "value").iter_rows()) != by_hand:
        return "differs", f"ids: {found.rows()[:3]} against {by_hand[:3]}"
    return "clean", ""


def read_by_arrow(path: Path) -> pa.Table:
    """Return the rows as pyarrow reads them."""
    head = path.read_bytes()[:6]
    if head.startswith(b"PAR1"):
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            return file.read([name for name in file.schema_arrow.names if name not in NOT_DECODED])
    reader = ipc.open_file(path) if head == b"ARROW1" else ipc.open_stream(path.read_bytes())
    table = reader.read_all()
    table.validate(full=True)
    return table


def same(ours: pa.Table, expected: pa.Table) -> bool:
    """Whether two tables hold the same values; NaN is itself."""
    if ours.schema != expected.schema or ours.num_rows != expected.num_rows:
        return False
    return ours.equals(expected) or repr(ours.to_pydict()) == repr(expected.to_pydict())


def mapped() -> int:
    """Return how many bytes of addresses this process has."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def peak() -> int:
    """Return the most memory this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> (20 if sys.platform == "darwin" else 10)


def run(first: int, stop: int) -> None:
    """Judge the files of some seeds, and print a line for each."""
    with tempfile.TemporaryDirectory(prefix="dataguard-fuzz-") as scratch:
        path = Path(scratch) / "part"
        for layout in LAYOUTS:
            path.write_bytes(whole(layout))
            outcome = judge(path)
            if outcome != ("clean", ""):
                msg = f"an undamaged {layout} is {outcome}"
                raise AssertionError(msg)
        if sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_AS, (mapped() + MEMORY, resource.RLIM_INFINITY))
        ready = peak()  # a machine that has just compiled the kernels has held far more than one that found them
        print(json.dumps({"ready": True}), flush=True)
        for seed in range(first, stop):
            layout, mutations, data = mutated(seed)
            path.write_bytes(data)
            started = time.perf_counter()
            try:
                outcome, detail = judge(path)
            except ShardFault as fault:
                outcome, detail = "differs", f"read once, not twice: {fault}"
            except Exception as error:  # noqa: BLE001  # this is what is looked for
                outcome, detail = "traceback", f"{type(error).__name__}: {str(error)[:300]}"
            line = {
                "seed": seed,
                "layout": layout,
                "mutations": mutations,
                "outcome": outcome,
                "detail": detail,
                "seconds": round(time.perf_counter() - started, 3),
                "megabytes": peak() - ready,
            }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    run(int(sys.argv[1]), int(sys.argv[2]))
