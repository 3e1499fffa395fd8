"""Measure dataguard beside the floor and beside what a user would use instead, and write RESULTS.md.

    make bench                                    # everything; some 20 minutes on two cores, 15 GB of disk
    make bench ARGS='--only suites --tokens 20000000 --runs 3'

Parts that are left out keep what an earlier run measured: each part of RESULTS.md names its own run.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import part_costs  # noqa: E402  # these stand beside this file, dataguard above it
import part_judge  # noqa: E402
import part_parquet  # noqa: E402
import part_rivals  # noqa: E402
import part_scale  # noqa: E402
import part_store  # noqa: E402
import part_suites  # noqa: E402
from data import default_folder  # noqa: E402
from measure import machine  # noqa: E402
from tables import Section, render  # noqa: E402

PARTS = {
    "suites": part_suites.measure,
    "parquet": part_parquet.measure,
    "rivals": part_rivals.measure,
    "scale": part_scale.measure,
    "store": part_store.measure,
    "judge": part_judge.measure,
    "costs": part_costs.measure,
}


def main() -> None:
    """Measure what was asked for."""
    arguments = _arguments()
    arguments.data.mkdir(parents=True, exist_ok=True)
    kept = arguments.data / f"results-{arguments.tokens}.json"
    known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    works = PARTS | {
        "scale": partial(part_scale.measure, largest=arguments.largest, keep=arguments.keep),
        "judge": partial(part_judge.measure, most_rows=arguments.judge_rows, keep=arguments.keep),
    }
    for name in arguments.only:
        facts = machine()
        print(f"measuring {name}", file=sys.stderr, flush=True)
        section = works[name](arguments.data, arguments.tokens, arguments.runs)
        section.machine = [*facts, *(section.machine or [f"{arguments.tokens:,} tokens, {arguments.runs} runs"])]
        known[name] = section.to_dict()
        kept.write_text(json.dumps(known, indent=1), encoding="utf-8")
        text = render([Section.from_dict(known[each]) for each in PARTS if each in known])
        arguments.out.write_text(text, encoding="utf-8")
    print(arguments.out.read_text(encoding="utf-8"))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure dataguard side by side, and write RESULTS.md.")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PARTS), metavar=",".join(PARTS))
    parser.add_argument("--tokens", type=int, default=200_000_000, help="of the main shard; the rest scales with it")
    parser.add_argument("--runs", type=int, default=5, help="of which medians are taken")
    parser.add_argument("--largest", type=int, default=300_000_000, help="the most tokens of the part scale")
    parser.add_argument("--judge-rows", type=int, default=100_000_000, help="the most rows of the part judge")
    parser.add_argument(
        "--keep", action="store_true", help="leave the largest shards and the tables of judge on the disk"
    )
    parser.add_argument("--data", type=Path, default=default_folder(), help="where shards are kept between runs")
    parser.add_argument("--out", type=Path, default=HERE / "RESULTS.md", help="the file to write")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.only if name not in PARTS]
    if unknown:
        parser.error(f"unknown part {', '.join(unknown)}: there are {', '.join(PARTS)}")
    return arguments


if __name__ == "__main__":
    main()
