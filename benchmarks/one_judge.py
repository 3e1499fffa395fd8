"""A simulated metric table judged in a process of its own, as JSON: seconds, peak memory, and what was found.

    python benchmarks/one_judge.py FOLDER KIND ROWS

What a run does with its table, it does: verdicts, the rows that are set aside, rejected.parquet.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import polars as pl
import simulated
from measure import peak_mib

from dataguard.expectations.context import MetricTable
from dataguard.expectations.divided import Scratch
from dataguard.run.judge import judge
from dataguard.run.plan import make_plan
from dataguard.run.quarantine import write_rejected
from dataguard.run.rows import Rows
from dataguard.run.scratch import scratch_folder, scratch_writing
from dataguard.run.table import RunTable


def main() -> None:
    """Judge it."""
    table = simulated.Simulated(sys.argv[2], int(sys.argv[3]))  # type: ignore[arg-type]
    segments = sorted((Path(sys.argv[1]) / table.name).glob("segment-*.parquet"))
    suite, context = simulated.suite(), simulated.context_of(table)
    owner = RunTable(make_plan(suite, context).metrics)
    scratch = Scratch(partial(scratch_folder, owner), scratch_writing)
    metrics = MetricTable(pl.concat([pl.scan_parquet(path) for path in segments]), scratch)
    before = peak_mib()
    times = {}
    with tempfile.TemporaryDirectory() as out:
        begun = time.perf_counter()
        verdicts = judge(suite, metrics, context)
        times["judge"] = time.perf_counter() - begun
        rows = Rows(owner, verdicts, suite, context, scratch)
        rejected = rows.rejected().select(pl.len()).collect(engine="streaming").item()
        write_rejected(Path(out) / "rejected.parquet", rows.rejected())
        times["reject"] = time.perf_counter() - begun - times["judge"]
    unique, truncation = verdicts.results
    print(
        json.dumps(
            {
                **times,
                "cpu": time.process_time(),
                "before": before,
                "peak": peak_mib(),
                "rejected": rejected,
                "copies": unique.unexpected_count,
                "missing": unique.missing_count,
                "by_source": unique.details.get("by_source", {}),
                "first": [[each.shard, each.row, each.detail] for each in unique.findings],
                "faults": {each.source: each.reason for each in truncation.findings},
            }
        )
    )


main()
