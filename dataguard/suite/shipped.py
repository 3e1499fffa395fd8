"""The suites that come with dataguard, and which of them fits a data set."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from dataguard.shards.roles import BOUNDARIES, INPUT_IDS, LABELS

_PACKAGE = Path(__file__).parents[1]
FOLDERS = (_PACKAGE / "shipped", _PACKAGE.parent / "expectations")
"""Where the files lie: in an installed package, and in a checkout."""
DIVIDING = frozenset({"position_ids", "document_ids", *BOUNDARIES})
"""Roles that rows of several documents have."""


def shipped() -> dict[str, Path]:
    """Return the shipped suites: {name: file}."""
    for folder in FOLDERS:
        files = sorted(folder.glob("*.yaml"))
        if files:
            return {file.stem: file for file in files}
    return {}


def choose(columns: Collection[str]) -> str:
    """Return the name of the shipped suite that fits a data set with these columns (or roles).

    Two sides make it pairs, whatever else there is; a column that says where documents begin makes it packed; labels, under a
    prefix too (chosen_labels), make it fine-tuning data.
    """
    if {f"chosen_{INPUT_IDS}", f"rejected_{INPUT_IDS}"} <= set(columns):
        return "preference"
    if not DIVIDING.isdisjoint(columns):
        return "packed"
    supervised = any(name == LABELS or name.endswith(f"_{LABELS}") for name in columns)
    return "sft" if supervised else "pretrain"
