"""What decides where the documents of a row begin, and what to say where only eos tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from dataguard.expectations.context import Context
from dataguard.metrics.documents import BY_EOS, Documents
from dataguard.metrics.separators import Separators


def documents_of(context: Context, column: str, *, by_eos: bool = True) -> Documents:
    """Return what decides where documents begin.

    Args:
        by_eos: Take eos for the end of a document in rows that nothing else divides; else such a row is one document.
    """
    vocabulary = context.vocabulary
    return Documents(context.attention(column), vocabulary.pad, vocabulary.eos if by_eos else None)


def separators_of(context: Context, column: str) -> Separators:
    """Return the metric of bos and eos in a row's documents."""
    vocabulary = context.vocabulary
    eos_pads = vocabulary.eos is not None and vocabulary.pad == vocabulary.eos
    return Separators(documents_of(context, column, by_eos=False), vocabulary.bos, vocabulary.eos, eos_pads)


def told_by_eos(judged: pl.LazyFrame, by: pl.Expr) -> Mapping[str, Any]:
    """Return the note that rows were divided by eos alone, as `details` has it; nothing where none was.

    Args:
        judged: As `RowExpectation.details` gets it.
        by: What divides a row (`metrics.documents`).
    """
    divided = (~pl.col("missing") & (by == BY_EOS)).sum()
    rows = int(judged.select(divided.alias("rows")).collect(engine="streaming").item() or 0)
    if not rows:
        return {}
    return {"notes": [f"{rows:,} rows are divided into documents by eos alone: no column says where documents begin"]}
