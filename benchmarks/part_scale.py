"""How time and memory grow: with tokens, cores, shards, and the length of rows."""

from __future__ import annotations

import json
import shutil
import statistics
from pathlib import Path
from typing import Any

import pyarrow as pa
from data import ROW_TOKENS, Recipe, build, shards_of
from measure import CORES, child, seconds
from tables import Section, millions, number

SIZES = (10_000_000, 30_000_000, 100_000_000, 300_000_000)
SHARDS = (1, 1_000, 10_000)
ROWS = (1, 10, 1_000, 1_000_000, 10_000_000)
SMALL = 10_000 * ROW_TOKENS
"""Tokens of the tables on shards and on rows."""
PEAK_MIB = 1024


def measure(folder: Path, tokens: int, runs: int, *, largest: int, keep: bool) -> Section:
    """Measure in fresh processes, kernels compiled before.

    Args:
        tokens: Scales all sizes: 200 M are what they say.
        largest: Sizes up to this are measured; one of its own where it is larger than all of them.
        keep: Leave the large shards of this part on the disk.
    """
    section = Section("Scale")
    section.say(
        "The pretrain suite with quarantine, without store, each in a fresh process that has judged one row before: seconds are "
        "those of the run alone, peaks (VmHWM) those of the whole process. Medians; the largest peak. *MiB when loaded* is what "
        "the process held before the run."
    )
    peaks: list[float] = []
    share = min(1.0, tokens / 200_000_000)
    sizes = sorted({*(size for size in SIZES if size <= largest), largest})
    _by_tokens(section, folder, peaks, runs, sizes=sizes, share=share, keep=keep)
    _by_jobs(section, folder, peaks, runs, int(300_000_000 * share))
    _by_shards(section, folder, peaks, runs, share)
    _by_rows(section, folder, peaks, runs, int(SMALL * share))
    what = "peak memory under 1 GiB throughout"
    section.goal(4, what, f"{max(peaks):,.0f} MiB at most", met=max(peaks) < PEAK_MIB)
    return section


def _run(place: Path, runs: int, peaks: list[float], **options: Any) -> dict[str, float]:
    found = [child("one_run.py", str(place), "pretrain", json.dumps(options)) for _ in range(runs)]
    peaks += [each["peak"] for each in found]
    return {
        "seconds": statistics.median(each["seconds"] for each in found),
        "peak": max(each["peak"] for each in found),
        "before": max(each["before"] for each in found),
        "tokens": found[0]["tokens"],
    }


def _line(found: dict[str, float]) -> list[str]:
    taken, tokens = found["seconds"], found["tokens"]
    return [number(taken), number(taken / tokens * 1e9), number(found["before"]), number(found["peak"])]


HEADS = ("seconds", "ns/token", "MiB when loaded", "peak MiB")


def _by_tokens(
    section: Section, folder: Path, peaks: list[float], runs: int, *, sizes: list[int], share: float, keep: bool
) -> None:
    rows, each = [], []
    for size in sizes:
        recipe = Recipe("pretrain", int(size * share))
        had = (folder / recipe.name).exists()
        place = build(recipe, folder)
        found = _run(place, runs if size <= 100_000_000 else 1, peaks)
        if not keep and not had and size > 200_000_000:
            shutil.rmtree(place)
        rows.append([millions(found["tokens"]), *_line(found)])
        each.append(found["seconds"] / found["tokens"])
    section.table(["tokens, one shard", *HEADS], rows)
    ratio = each[-1] / each[0]
    what = f"time linear in tokens ({rows[0][0]} to {rows[-1][0]}; to be judged at 1 B: --largest 1000000000)"
    section.goal(4, what, f"{ratio:.2f} × the time for a token", met=ratio <= 1.1 if sizes[-1] >= 10**9 else None)


def _by_jobs(section: Section, folder: Path, peaks: list[float], runs: int, tokens: int) -> None:
    place = build(Recipe("pretrain", tokens), folder)
    found = {jobs: _run(place, runs, peaks, jobs=jobs) for jobs in sorted({1, CORES})}
    rows = [
        [f"{jobs} jobs", *_line(each), f"{found[1]['seconds'] / each['seconds']:.2f}"] for jobs, each in found.items()
    ]
    section.table([f"jobs, {millions(tokens)} tokens", *HEADS, "times as fast"], rows)
    gain = found[1]["seconds"] / found[CORES]["seconds"]
    what = "near linear in cores (at least 0.8 of each core)"
    section.goal(4, what, f"{gain:.2f} × on {CORES}", met=gain >= 0.8 * CORES)


def _by_shards(section: Section, folder: Path, peaks: list[float], runs: int, share: float) -> None:
    rows, overheads = [], []
    one = 0.0
    for count in SHARDS:
        count = max(1, int(count * share))  # noqa: PLW2901  # small trials
        place = build(Recipe("pretrain", int(SMALL * share), shards=count), folder)
        files = shards_of(place)
        opening = statistics.median(seconds(lambda files=files: _open_all(files)) for _ in range(runs))  # type: ignore[misc]
        found = _run(place, max(1, runs // 2) if count > 1000 else runs, peaks)
        one = one or found["seconds"]
        more = (found["seconds"] - one - opening) / count * 1e3 if count > 1 else 0.0
        overheads.append(more)
        rows.append([f"{count:,}", *_line(found), number(opening), f"{more:.2f} ms" if count > 1 else ""])
    heads = [f"shards, {millions(int(SMALL * share))} tokens", *HEADS, "pyarrow: open and read all", "more for a shard"]
    section.table(heads, rows)
    section.say(
        "*More for a shard*: beyond the seconds of one shard and of pyarrow's opening and reading all, in one thread."
    )
    section.goal(4, "under 1 ms for a shard beyond opening it", f"{max(overheads):.2f} ms", met=max(overheads) < 1)


def _open_all(files: list[Path]) -> None:
    for file in files:
        with pa.OSFile(str(file)) as source:
            pa.ipc.open_stream(source).read_all()


def _by_rows(section: Section, folder: Path, peaks: list[float], runs: int, tokens: int) -> None:
    rows = []
    for length in ROWS:
        size = tokens // 10 if length == 1 else max(tokens, length)
        found = _run(
            build(Recipe("pretrain", size, row_tokens=length), folder), max(1, runs // 2), peaks, parameters={}
        )
        rows.append([f"{length:,}", millions(found["tokens"]), *_line(found)])
    section.table(["tokens in a row", "tokens", *HEADS], rows)
    section.say("Rows of one token are nearly all copies of others: they are rejected, and the quarantine copies them.")
