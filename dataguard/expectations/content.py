"""Whose row it is: null rows, rows without content and rows that do not pair each have one owner."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from dataguard.expectations.base import CannotJudge, Outcome
from dataguard.expectations.context import VOCABULARY_FIELDS, Context, MetricTable, columns_meant
from dataguard.metrics.base import Metric
from dataguard.metrics.characters import Characters
from dataguard.metrics.content import Content
from dataguard.metrics.lengths import Lengths
from dataguard.result import Unjudged
from dataguard.vocabulary.model import CharacterTable


def content_of(context: Context, column: str) -> Content:
    """Return the metric that says what a row holds beside padding and special tokens."""
    vocabulary = context.vocabulary
    return Content(context.attention(column), vocabulary.special_ids, vocabulary.characters)


def content_metrics(context: Context, column: str) -> tuple[Metric, Metric]:
    """Return the metrics that `without_content` looks at."""
    return Lengths(column), content_of(context, column)


def null_or_empty(column: str) -> pl.Expr:
    """Rows that an expectation on one column leaves to others: null ones, and those of no tokens."""
    lengths = Lengths(column)
    return (lengths["nulls"] != 0) | (lengths["length"] == 0)


def without_content(context: Context, column: str) -> pl.Expr:
    """Rows that an expectation on attended content leaves to others: null, unpaired with the mask, or empty."""
    content = content_of(context, column)
    return null_or_empty(column) | ~content["paired"] | (content["content"] == 0) | content["blank"]


def told_of_lacking(outcome: Outcome, table: MetricTable, lacking: pl.Expr, name: str, what: str) -> Outcome:
    """Return a verdict that says how many rows lack what goes with their ids; where all do, it is no pass.

    Args:
        lacking: Which rows those are.
        name: The role of what they lack, or the name of several, as `when` has it.
        what: The same as a verb: "have no text (null)".
    """
    rows = table.collect(lacking.sum().alias("rows"))["rows"]
    if not rows:
        return outcome
    notes = [*outcome.details.get("notes", ()), f"{rows:,} rows {what}"]
    outcome = replace(outcome, details={**outcome.details, "notes": notes})
    if outcome.missing_count != outcome.element_count:
        return outcome
    roles = columns_meant(name)
    fix = f"name the right column with --column {roles[0]}=NAME"
    nobody = Unjudged(f"nothing can be judged: all rows that have content {what}", fix)
    return replace(outcome, success=False, unjudged=outcome.unjudged or nobody, idle=(name, nobody))


def ignored_white(context: Context, *, ignore: bool) -> CharacterTable | None:
    """Return what tells white space, where it is to be ignored and can be told."""
    return context.vocabulary.characters if ignore else None


def notes_on_white(context: Context, *, ignore: bool) -> list[str]:
    """Return what is to be said where white space was to be ignored, and could not be told."""
    if not ignore or context.vocabulary.characters is not None:
        return []
    missing, fix = VOCABULARY_FIELDS["characters"]
    return [f"{missing}, so that white space counts like any other token: {fix}"]


def characters_of(context: Context, column: str) -> Characters:
    """Return the metric of a row's characters.

    Raises:
        CannotJudge: What the ids stand for is not known.
    """
    table = context.vocabulary.characters
    if table is None:
        raise CannotJudge(*VOCABULARY_FIELDS["characters"])
    return Characters(context.attention(column), context.vocabulary.special_ids, table)
