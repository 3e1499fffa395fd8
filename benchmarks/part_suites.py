"""Whole suites over one uncompressed Arrow shard, against the floor of NumPy sums over the same buffers."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import floor
import suites
from data import Recipe, build, load_corpus, shards_of
from measure import CORES, Taken, alternate, child
from tables import Section, millions, number

from dataguard.run.timings import Timings

PEAK_MIB = 1024


def measure(folder: Path, tokens: int, runs: int) -> Section:
    """Measure the suites, the floors beside them, and peak memory."""
    section = Section("Suites against the floor")
    pretrain = build(Recipe("pretrain", tokens), folder)
    section.say(
        f"One Arrow stream of {millions(tokens)} tokens, rows of 2,048 (ids int32, mask int8, labels int64, source), "
        f"batches of 1,000 rows; {load_corpus(folder).origin}, GPT-2's tokenizer, rows are windows at random places, one row "
        "in eight padded. *CPU* is the time of all cores together, which others on the machine disturb less. Floors: NumPy "
        f"sums over the list columns' buffers on {CORES} threads, warm: *resident* (in memory "
        "already), *mapped* (the file mapped anew each time), *read* (the file read into 4 MiB buffers, each summed as "
        "int64). `dataguard` opens and reads the file each time. In-process, warm, in turn. packed has position_ids and "
        "document_ids (int64) as well, and its floor sums five buffers. ns/token are of wall time on all cores."
    )
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        _pretrain(section, pretrain, tokens, runs, Path(scratch))
        _spent(section, pretrain, Path(scratch))
        for name in ("sft", "packed"):
            _other(section, name, folder, tokens // 2, runs=runs, out=Path(scratch) / "out")
    _peaks(section, pretrain)
    return section


def _floors(place: Path) -> dict[str, Callable[[], object]]:
    (shard,) = shards_of(place)
    buffers = floor.resident(shard)
    return {
        "floor, resident": partial(floor.sum_resident, buffers),
        "floor, mapped": partial(floor.sum_mapped, shard),
        "floor, read": partial(floor.sum_read, shard),
    }


def _fresh(scratch: Path, work: Callable[[Path], object]) -> None:
    """Call with a store that is empty."""
    store = scratch / "store"
    shutil.rmtree(store, ignore_errors=True)
    work(store)


def _pretrain(section: Section, place: Path, tokens: int, runs: int, scratch: Path) -> None:
    out = scratch / "out"
    pretrain, integrity = suites.without([suites.REPETITIVE]), suites.suite_named("integrity")
    run, more = partial(suites.validate, place, pretrain), partial(suites.validate, place, suites.with_repetitive())
    works = {
        **_floors(place),
        "integrity": partial(suites.validate, place, integrity),
        "pretrain, verdict alone": run,
        "pretrain, outputs, no quarantine": partial(run, out=out, quarantine=False),
        "pretrain, quarantine": partial(run, out=out),
        "pretrain, quarantine, store": partial(_fresh, scratch, lambda store: run(out=out, store=store)),
        "with repetitive, verdict alone": more,
        "with repetitive, quarantine, store": partial(_fresh, scratch, lambda store: more(out=out, store=store)),
    }
    result = run(out=out)
    rejected, skipped = result.rejected().height, result.meta["skipped"]
    times = alternate(works, runs)
    _table(section, "pretrain shard", times, tokens)
    section.say(
        f"{rejected:,} of {result.meta['rows']:,} rows were rejected, and copied by the quarantine. Skipped: "
        + ("nothing." if not skipped else ", ".join(sorted({each["type"] for each in skipped})) + ".")
    )
    for kind, suite, most in (
        ("pretrain", f"pretrain without {suites.REPETITIVE}", 4),
        ("with repetitive", f"the same with {suites.REPETITIVE}", 5),
    ):
        worst = max((times[name] for name in times if name.startswith(kind)), key=lambda taken: taken.wall)
        _goal(section, f"{suite}, store on and off: at most {most} × the floor", worst, times, most)
    _goal(section, "integrity alone: at most 1.5 × the floor", times["integrity"], times, 1.5)


def _spent(section: Section, place: Path, scratch: Path) -> None:
    """Say where the time of one run goes, as --timings does."""
    timings = Timings()
    options = {"out": scratch / "out", "timings": timings}
    _fresh(scratch, lambda store: suites.validate(place, suites.suite_named("pretrain"), store=store, **options))
    told = timings.to_dict()
    parts = sorted(told["scan"].items(), key=lambda part: -part[1])
    section.table(
        ["pretrain, quarantine, store: step", "seconds"],
        [[name, number(spent)] for name, spent in told["steps"].items()],
    )
    section.table(["of the scan, on all threads together", "seconds"], [[name, number(spent)] for name, spent in parts])
    whole = sum(told["steps"].values())
    shares = ", ".join(f"{name} {spent / whole:.0%}" for name, spent in told["steps"].items())
    section.goal(
        8, "--timings prints where the time goes", shares, met={"read", "digest", "store"} <= told["scan"].keys()
    )


def _other(section: Section, name: str, folder: Path, tokens: int, *, runs: int, out: Path) -> None:
    place, suite = build(Recipe(name, tokens), folder), suites.suite_named(name)  # type: ignore[arg-type]
    works = {**_floors(place), f"{name}, quarantine": partial(suites.validate, place, suite, out=out)}
    times = alternate(works, runs)
    _table(section, f"{name} shard, {millions(tokens)} tokens", times, tokens)
    _goal(section, f"{name}: at most 5 × the floor", times[f"{name}, quarantine"], times, 5)


def _goal(section: Section, what: str, taken: Taken, times: Mapping[str, Taken], most: float) -> None:
    """Add a goal: by the clock, against sums over what is mapped."""
    mapped, read = times["floor, mapped"], times["floor, read"]
    ratio = taken.wall / mapped.wall
    said = f"{ratio:.1f} × (mapped), {taken.wall / read.wall:.1f} × (read); CPU time {taken.cpu / mapped.cpu:.1f} ×"
    section.goal(1, what, said, met=ratio <= most)


def _table(section: Section, head: str, times: Mapping[str, Taken], tokens: int) -> None:
    floors = [name for name in times if name.startswith("floor")]
    rows = [
        [name, *map(number, taken), number(taken.wall / tokens * 1e9), number(tokens / taken.wall / 1e6)]
        + [f"{taken.wall / times[each].wall:.2f}" for each in floors]
        + [f"{taken.cpu / times['floor, mapped'].cpu:.2f}"]
        for name, taken in times.items()
    ]
    by = [each.replace("floor,", "÷") for each in floors]
    section.table([head, "seconds", "CPU seconds", "ns/token", "Mtok/s", *by, "CPU ÷ mapped"], rows)


def _peaks(section: Section, place: Path) -> None:
    rows, peaks = [], []
    for name in ("integrity", "pretrain"):
        for jobs in (1, CORES):
            found = child("one_run.py", str(place), name, json.dumps({"jobs": jobs}))
            peaks.append(found["peak"])
            rows.append(
                [f"{name}, {jobs} jobs", number(found["seconds"]), number(found["before"]), number(found["peak"])]
            )
    section.table(["fresh process, quarantine", "seconds", "MiB when loaded", "peak MiB (VmHWM)"], rows)
    section.goal(4, "peak memory under 1 GiB, pretrain shard", f"{max(peaks):,.0f} MiB", met=max(peaks) < PEAK_MIB)
