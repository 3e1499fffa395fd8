"""Parquet against `pyarrow.parquet.read_table` of the same columns, with the same threads."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import suites
from data import Recipe, build, shards_of
from measure import CORES, alternate
from tables import Section, millions, number

ROW_GROUP = 4000


def measure(folder: Path, tokens: int, runs: int) -> Section:
    """Measure both codecs."""
    section = Section("Parquet")
    tokens //= 2
    section.say(
        f"The pretrain data, {millions(tokens)} tokens, row groups of {ROW_GROUP:,} rows, all four columns read by both, {CORES} "
        "threads each; in-process, warm, in turn. `dataguard` gives a verdict and writes nothing."
    )
    rows = []
    for codec in ("zstd", "snappy"):
        path = _parquet(build(Recipe("pretrain", tokens), folder), codec)
        columns = ["input_ids", "attention_mask", "labels", "source"]
        works = {
            "read_table": partial(pq.read_table, path, columns=columns),
            "integrity": partial(suites.validate, path, suites.only(_no_manifest(), name="integrity")),
            "pretrain": partial(suites.validate, path, suites.suite_named("pretrain")),
        }
        pa.set_cpu_count(CORES)
        times = alternate(works, runs)
        base = times["read_table"].wall
        cpu = times["read_table"].cpu
        size = path.stat().st_size / 1e6
        rows += [
            [
                f"{codec}, {size:,.0f} MB: {name}",
                *map(number, taken),
                f"{taken.wall / base:.2f}",
                f"{taken.cpu / cpu:.2f}",
            ]
            for name, taken in times.items()
        ]
        ratio = times["pretrain"].wall / base
        section.goal(2, f"{codec}, pretrain: at most 1.3 × read_table", f"{ratio:.2f} ×", met=ratio <= 1.3)
        ratio = times["integrity"].wall / base
        section.goal(2, f"{codec}, integrity: at most 1.3 × read_table", f"{ratio:.2f} ×", met=ratio <= 1.3)
    section.table(["", "seconds", "CPU seconds", "÷ read_table", "CPU ÷ read_table"], rows)
    return section


def _no_manifest() -> tuple[str, ...]:
    return tuple(name for name in suites.INTEGRITY if name != "expect_shards_to_match_manifest")


def _parquet(place: Path, codec: str) -> Path:
    """Return the data set as one Parquet file beside it."""
    (shard,) = shards_of(place)
    path = place.with_name(f"{place.name}-{codec}.parquet")
    if not path.exists():
        part = path.with_name(f".{os.getpid()}.{path.name}")
        with pa.memory_map(str(shard)) as source:
            table = pa.ipc.open_stream(source).read_all()
            pq.write_table(table, part, compression=codec, row_group_size=ROW_GROUP)
        part.rename(path)
    return path
