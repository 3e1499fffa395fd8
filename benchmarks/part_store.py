"""What the metric store saves, and what a cold start costs."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import suites
from data import ROOT, TOKENIZER, Recipe, build, shards_of
from measure import seconds
from tables import Section, millions, number

PACKAGES = "import numpy, pyarrow, polars, numba, tokenizers, pydantic"


def measure(folder: Path, tokens: int, runs: int) -> Section:
    """Measure runs over stored numbers as shares of the first run, and starts."""
    section = Section("Store and start")
    place = build(Recipe("pretrain", tokens), folder)
    old, new = build(Recipe("pretrain", tokens // 2), folder), build(Recipe("sft", tokens // 2), folder)
    section.say(
        f"The pretrain shard of {millions(tokens)} tokens; in-process, warm, into a store that is new in each round, more than "
        "two seconds after the shard was written. Every run writes the report, and the quarantine unless said otherwise."
    )
    rounds: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        for number_of_round in range(runs + 1):
            times = _round(Path(scratch), place, old, new)
            if number_of_round:
                rounds.append(times)
    times = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
    first = times["first run"]
    section.table(["", "seconds", "share of the first"], [[k, number(v), f"{v / first:.1%}"] for k, v in times.items()])
    again = times["again, nothing changed"] / first
    section.goal(5, "second run over unchanged shards: at most 2 % of the first", f"{again:.1%}", met=again <= 0.02)
    said = f"{times['dataguard judge, another suite (sft)'] / first:.1%} of the first run; no shard was read"
    section.goal(5, "another suite with the same metrics (dataguard judge): no scan", said, met=True)
    more, alone = times["one new metric"], times["that metric alone, no store"]
    said = f"{more / first:.1%} of the first run; alone, without store, it takes {alone / first:.1%}"
    section.goal(5, "one new metric: only that metric", said, met=more <= 1.25 * alone + 0.02 * first)
    grown, half = times["grown: the second half is new, no quarantine"], times["the second half alone, no quarantine"]
    said = (
        f"{grown / half:.2f} × a run over the new shard alone, neither with a quarantine: grown, more rows are rejected"
    )
    section.goal(5, "a grown data set: only its new shards", said, met=grown <= 1.25 * half)
    _starts(section, runs)
    return section


def _round(scratch: Path, place: Path, old: Path, new: Path) -> dict[str, float]:
    out = scratch / "out"
    store = _empty(scratch / "store")
    pretrain = suites.suite_named("pretrain")
    run = partial(suites.validate, place, pretrain, out=out)
    times = {"--no-store": seconds(run)}
    times["first run"] = seconds(partial(run, store=store))
    times["again, nothing changed"] = seconds(partial(run, store=store))
    times["judged anew from stored numbers, no quarantine"] = seconds(partial(run, store=store, quarantine=False))
    times["dataguard judge, another suite (sft)"] = seconds(lambda: _judge(out, store))
    store = _empty(scratch / "store")
    suites.validate(place, suites.without([suites.PERIODIC]), out=out, store=store)
    times["one new metric"] = seconds(partial(run, store=store))
    periodic = suites.only([suites.PERIODIC])
    times["that metric alone, no store"] = seconds(lambda: suites.validate(place, periodic, out=out))
    files = [*shards_of(old), *shards_of(new)]
    with_manifest = suites.without(["expect_shards_to_match_manifest"])
    for more, quarantine in (("", True), (", no quarantine", False)):
        store = _empty(scratch / "store")
        two = partial(suites.validate, suite=with_manifest, out=out, quarantine=quarantine)
        two(files[:1], store=store)
        # Half the tokens each: the second file is what the data set has grown by.
        times[f"grown: the second half is new{more}"] = seconds(partial(two, files, store=store))
        times[f"the second half alone{more}"] = seconds(partial(two, files[1:], store=scratch / "another"))
        shutil.rmtree(scratch / "another")
    return times


def _empty(store: Path) -> Path:
    shutil.rmtree(store, ignore_errors=True)
    return store


def _judge(out: Path, store: Path) -> Any:
    from dataguard.run.rejudge import rejudge

    return rejudge(out, suite="sft", store=store, parameters={"max_length": 2048})


def _starts(section: Section, runs: int) -> None:
    """Measure commands from nothing: help, a small data set, the same once more, and with no kernel compiled."""
    small = ["validate", str(ROOT / "fixtures" / "faulty"), "--tokenizer", str(TOKENIZER), "--quiet"]
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        again = [*small, "--out", f"{scratch}/again", "--store", f"{scratch}/store"]
        small += ["--out", f"{scratch}/out", "--no-store"]
        _command(again, {})
        named = {"--help": ["--help"], "validate fixtures/faulty": small, "validate fixtures/faulty again": again}
        for name, command in named.items():
            _command(command, {})
            taken = statistics.median(seconds(lambda command=command: _command(command, {})) for _ in range(runs))  # type: ignore[misc]
            rows.append([name, number(taken)])
        bare = statistics.median(seconds(lambda: _python("pass")) for _ in range(runs))
        imports = statistics.median(seconds(lambda: _python(PACKAGES)) for _ in range(runs))
        cold = seconds(lambda: _command(small, {"NUMBA_CACHE_DIR": f"{scratch}/numba"}))
        rows += [["validate fixtures/faulty, no kernel compiled", number(cold)]]
        rows += [["python -c pass", number(bare)], ["the packages it is made of, imported", number(imports)]]
    section.table(["process from start to end", "seconds"], rows)
    own = float(rows[0][1]) - bare
    section.goal(7, "dataguard --help under 0.3 s of our own work", f"{own:.2f} s beyond Python's start", met=own < 0.3)


def _command(arguments: list[str], env: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dataguard", *arguments], capture_output=True, check=False, env={**os.environ, **env}
    )
    if done.returncode > 1:
        raise RuntimeError(done.stderr.decode()[-2000:])


def _python(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)
