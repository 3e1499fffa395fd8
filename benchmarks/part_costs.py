"""What each expectation costs beside reading the shard: by itself, and text expectations together, which share one joining."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import suites
from data import Recipe, build
from measure import alternate
from tables import Section, millions, number

ALONE: dict[str, dict[str, Any]] = {
    "expect_token_ids_to_be_in_vocabulary": {},
    "expect_token_encoding_to_be_plausible": {},
    "expect_rows_not_to_be_periodic": {},
    "expect_rows_not_to_be_repetitive": {},
    "expect_symbol_fraction_to_be_below": {},
    "expect_white_space_fraction_to_be_below": {},
    "expect_duplicate_line_fraction_to_be_below": {},
    "expect_no_replacement_characters": {},
    "expect_no_control_characters": {},
    "expect_no_mojibake": {},
    "expect_words_to_be_shorter_than": {},
    "expect_alphabetic_word_fraction_to_be_above": {},
    "expect_source_token_share_to_be_between": {"shares": {"wiki": [0.0, 1.0]}},
}
TEXT = (
    "expect_duplicate_line_fraction_to_be_below",
    "expect_no_replacement_characters",
    "expect_no_control_characters",
    "expect_no_mojibake",
    "expect_words_to_be_shorter_than",
    "expect_alphabetic_word_fraction_to_be_above",
)


def measure(folder: Path, tokens: int, runs: int) -> Section:
    """Measure in-process, warm, in turn."""
    section, tokens = Section("What an expectation costs"), tokens // 10
    section.say(
        f"The pretrain data, {millions(tokens)} tokens, one expectation a suite; the last column is what it takes beyond a suite "
        "that counts rows alone (what any expectation on tokens must read is in it). CPU of all cores; no store, no outputs."
    )
    shard = build(Recipe("pretrain", tokens), folder)

    def judging(entries: list[dict[str, Any]]) -> Any:
        suite = {"name": "cost", "expectations": [{"type": "expect_row_count_to_be_between"}, *entries]}
        return partial(suites.validate, shard, suite)

    works = {"rows counted alone": judging([])}
    works |= {name: judging([{"type": name, "kwargs": kwargs}]) for name, kwargs in ALONE.items()}
    works["the six on text together"] = judging([{"type": name} for name in TEXT])
    times = alternate(works, runs)
    base = times["rows counted alone"].cpu
    rows = [
        [name, number(taken.wall), number(taken.cpu), number((taken.cpu - base) / tokens * 1e9)]
        for name, taken in times.items()
    ]
    section.table(["suite of", "seconds", "CPU seconds", "CPU ns/token beyond"], rows)
    return section
