"""Judging across rows, where no shard need be scanned: duplicates and truncation over simulated metric tables."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from measure import child
from simulated import SHARD_ROWS, Simulated, build, first_of
from tables import Section, number

SIZES = (1_000_000, 10_000_000, 100_000_000)
PEAK_MIB = 1024


def measure(folder: Path, _tokens: int, _runs: int, *, most_rows: int, keep: bool) -> Section:
    """Measure in fresh processes.

    Args:
        most_rows: Sizes up to this are measured; one of its own where it is larger than all of them.
        keep: Leave the tables on the disk.
    """
    section = Section("Judging across rows", ["one run each"])
    section.say(
        "`expect_rows_to_be_unique` and `expect_truncation_to_be_consistent_across_sources` over metric tables made for it (one "
        "row "
        "in a thousand is empty; five sources, one cut elsewhere, one with another policy for eos), each once in a fresh "
        "process: "
        "verdicts, then the rejected rows and rejected.parquet. *few*: 3 in 100 rows are copies of rows anywhere before them; "
        "*half*: 50 in 100; *most*: more than 19 in 20, half of them of a single row. Counts by source and the first 200 copies "
        "are checked against what was planted."
    )
    sizes = sorted({*(size for size in SIZES if size <= most_rows), most_rows})
    rows, peaks = [], {}
    for size in sizes:
        for kind in ("few", "half", "most"):
            table = Simulated(kind, size)  # type: ignore[arg-type]
            had = (folder / table.name).exists()
            place = build(table, folder)
            found = child("one_judge.py", str(folder), kind, str(size))
            _check(found, json.loads((place / "planted.json").read_text(encoding="utf-8")), table)
            if not keep and not had:
                shutil.rmtree(place)
            peaks[size] = max(peaks.get(size, 0.0), found["peak"])
            rows.append(_line(table, found))
    heads = [
        "rows",
        "copies",
        "seconds judging",
        "seconds rejecting",
        "ns/row",
        "CPU seconds",
        "MiB when loaded",
        "peak MiB",
    ]
    section.table(heads, rows)
    largest = sizes[-1]
    what = "duplicates and truncation in bounded memory (under 1 GiB) over 100 M rows"
    measured = f"{peaks[largest]:,.0f} MiB at most, {largest / 1e6:,.0f} M rows; counts as planted"
    section.goal(6, what, measured, met=peaks[largest] < PEAK_MIB if largest >= 100_000_000 else None)
    return section


def _line(table: Simulated, found: dict[str, Any]) -> list[str]:
    taken = found["judge"] + found["reject"]
    return [
        f"{table.rows / 1e6:,.0f} M, {table.kind}",
        f"{found['copies']:,}",
        number(found["judge"]),
        number(found["reject"]),
        number(taken / table.rows * 1e9),
        number(found["cpu"]),
        number(found["before"]),
        number(found["peak"]),
    ]


def _check(found: dict[str, Any], planted: dict[str, Any], table: Simulated) -> None:
    """Raise where judging did not find what was planted."""
    wrong = [name for name in ("copies", "by_source", "faults") if found[name] != planted[name]]
    wrong += ["rejected"] if found["rejected"] != planted["copies"] else []
    for shard, row, detail in found["first"] if table.kind != "most" else ():
        first = first_of(int(shard[6:11]) * SHARD_ROWS + row, table)
        said = f"the same as row {first % SHARD_ROWS} of shard-{first // SHARD_ROWS:05d}.arrow"
        wrong += [f"row {row} of {shard}: {detail}, not {said}"] if detail != said else []
    if wrong:
        msg = f"{table.name}: {', '.join(wrong[:5])} is not what was planted: {found} {planted}"
        raise RuntimeError(msg[:2000])
