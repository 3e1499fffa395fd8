"""Numbers by name: what a suite may bound without a line of Python, and a baseline may compare.

A number is an expression over the metrics of some families. A family says what it needs beside the tokens; rows that have no
such number (nothing attended, columns that do not pair, a share of nothing) are nobody's fault here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

import polars as pl

from dataguard.metrics.base import Attention, Metric
from dataguard.metrics.characters import Characters
from dataguard.metrics.content import Content
from dataguard.metrics.ids import IdsOutside
from dataguard.metrics.labels import Labels
from dataguard.metrics.lengths import Lengths
from dataguard.metrics.occurrences import unknown
from dataguard.metrics.padding import Padding
from dataguard.metrics.periods import Periods
from dataguard.metrics.repetition import Repetition
from dataguard.vocabulary.model import Vocabulary

IGNORE_INDEX = -100
MAX_PERIOD = 13
NGRAM = 10


@dataclass(frozen=True)
class Tokens:
    """A token column, which of its positions are attended, and what is known of its ids."""

    attention: Attention
    vocabulary: Vocabulary

    @property
    def column(self) -> str:
        """The column's role."""
        return self.attention.column


@dataclass(frozen=True)
class Family:
    """A metric, made for a token column.

    Args:
        make: Gives the metric; asked only where what it needs is there.
        needs: Roles, or fields of the vocabulary.
        of_content: Its numbers mean something only in rows that have content.
    """

    make: Callable[[Tokens], Metric]
    needs: tuple[str, ...] = ()
    of_content: bool = True


@dataclass(frozen=True)
class Number:
    """A number that every row has one of.

    Args:
        meaning: One line for people.
        families: The metrics that it is made of.
        of: Makes it of them, in this order.
    """

    meaning: str
    families: tuple[Family, ...]
    of: Callable[..., pl.Expr]

    @property
    def needs(self) -> tuple[str, ...]:
        """Roles and fields of the vocabulary that must be there."""
        return tuple(dict.fromkeys(need for family in self.families for need in family.needs))

    @property
    def of_content(self) -> bool:
        """Whether only rows that have content have it."""
        return any(family.of_content for family in self.families)

    def metrics(self, tokens: Tokens) -> tuple[Metric, ...]:
        """Return the metrics that it is made of."""
        return tuple(family.make(tokens) for family in self.families)

    def value(self, tokens: Tokens) -> pl.Expr:
        """Return the number as an expression over the metric table, null in rows that have none."""
        metrics = self.metrics(tokens)
        value = self.of(*metrics)
        paired = [metric["paired"] for metric in metrics if "paired" in metric.gives]
        return pl.when(reduce(pl.Expr.and_, paired, pl.lit(value=True))).then(value)


def _characters(tokens: Tokens) -> Characters:
    table = tokens.vocabulary.characters
    assert table is not None
    return Characters(tokens.attention, tokens.vocabulary.special_ids, table)


def _content(tokens: Tokens) -> Content:
    return Content(tokens.attention, tokens.vocabulary.special_ids, tokens.vocabulary.characters)


def _periods(tokens: Tokens) -> Periods:
    return Periods(tokens.attention, tokens.vocabulary.special_ids, tokens.vocabulary.characters, MAX_PERIOD, 2)


def _repetition(tokens: Tokens) -> Repetition:
    return Repetition(tokens.attention, tokens.vocabulary.special_ids, tokens.vocabulary.characters, NGRAM, 0.0)


LENGTHS = Family(lambda tokens: Lengths(tokens.column), of_content=False)
IDS = Family(lambda tokens: IdsOutside(tokens.column, tokens.vocabulary.limit), of_content=False)
CONTENT = Family(_content)
PADDING = Family(lambda tokens: Padding(tokens.attention))
CHARACTERS = Family(_characters, needs=("characters",))
UNKNOWN = Family(lambda tokens: unknown(tokens.attention, tokens.vocabulary), needs=("unk",))
PERIODS = Family(_periods)
REPETITION = Family(_repetition)
LABELS = Family(lambda tokens: Labels(tokens.column, IGNORE_INDEX), needs=("labels",))


def _just(name: str) -> Callable[[Metric], pl.Expr]:
    return lambda metric: metric[name]


def _share(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """Return a share, null where there is nothing to have a share of."""
    return pl.when(whole > 0).then(part / whole)


def _of_visible(name: str) -> Callable[[Characters], pl.Expr]:
    return lambda characters: _share(characters[name], characters.visible)


def _all(characters: Characters) -> pl.Expr:
    return characters.visible + characters["white"]


NUMBERS: Mapping[str, Number] = {
    "tokens": Number("tokens as stored, padding included", (LENGTHS,), _just("length")),
    "attended_tokens": Number("tokens that are not hidden as padding", (CONTENT,), _just("attended")),
    "content_tokens": Number("attended tokens that are no special tokens", (CONTENT,), _just("content")),
    "left_padding": Number("positions before the first attended one", (PADDING,), _just("left")),
    "right_padding": Number("positions behind the last attended one", (PADDING,), _just("right")),
    "inner_padding": Number("hidden positions between attended ones", (PADDING,), _just("inner")),
    "padding_fraction": Number(
        "share of the stored positions that are not attended",
        (LENGTHS, CONTENT),
        lambda lengths, content: _share(lengths["length"] - content["attended"], lengths["length"]),
    ),
    "lowest_id": Number("lowest id, at any position", (IDS,), _just("lowest")),
    "highest_id": Number("highest id, at any position", (IDS,), _just("highest")),
    "unknown_tokens": Number("unk ids among the content tokens", (UNKNOWN,), lambda unk: unk.total),
    "unknown_fraction": Number(
        "share of the content tokens that are unk",
        (UNKNOWN, CONTENT),
        lambda unk, own: _share(unk.total, own["content"]),
    ),
    "characters": Number("characters that the content tokens spell", (CHARACTERS,), _all),
    "characters_per_token": Number(
        "characters for each content token",
        (CHARACTERS, CONTENT),
        lambda spelled, own: _share(_all(spelled), own["content"]),
    ),
    "letter_fraction": Number(
        "share of the visible characters that are letters", (CHARACTERS,), _of_visible("letters")
    ),
    "digit_fraction": Number("share of the visible characters that are digits", (CHARACTERS,), _of_visible("digits")),
    "symbol_fraction": Number(
        "share of the visible characters that are symbols or punctuation", (CHARACTERS,), _of_visible("symbols")
    ),
    "white_space_fraction": Number(
        "share of all characters that are white space",
        (CHARACTERS,),
        lambda spelled: _share(spelled["white"], _all(spelled)),
    ),
    "digit_run": Number("longest run of digits, across tokens", (CHARACTERS,), _just("digit_run")),
    "repeats": Number(
        f"times in a row that the most repeated pattern of 1 to {MAX_PERIOD} tokens stands (0: nothing stands twice)",
        (PERIODS,),
        _just("repeats"),
    ),
    "period": Number("tokens of that pattern", (PERIODS,), _just("period")),
    "repeated_fraction": Number(
        f"share of the tokens that {NGRAM}-grams cover which stood in the row before, white space left out where it is known",
        (REPETITION,),
        lambda repetition: _share(repetition["covered"], repetition["counted"]),
    ),
    "supervised_tokens": Number(f"labels that are not {IGNORE_INDEX}", (LABELS,), _just("supervised")),
    "targets": Number(
        "supervised labels behind position 0, which a loss that shifts really uses",
        (LABELS,),
        lambda labels: labels["supervised"] - labels["at_start"],
    ),
    "supervised_fraction": Number(
        "supervised labels for each attended token",
        (LABELS, CONTENT),
        lambda labels, content: _share(labels["supervised"], content["attended"]),
    ),
}
"""Every number that has a public name; a name once published keeps its meaning."""
