"""Numbers by name: each is what its metric says, and null where a row has none."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from dataguard.metrics.base import Attention
from dataguard.metrics.named import NUMBERS, Tokens
from dataguard.shards.batch import Batch
from dataguard.vocabulary.model import Vocabulary
from tests.builders import batch_of, table_of_characters

TABLE = table_of_characters(b"", b"ab", b"1", b"+", b" ", b"")
KNOWN = Tokens(Attention("input_ids", 0), Vocabulary(size=6, pad=0, unk=5, characters=TABLE, special={"pad": 0}))


def value(name: str, batch: Batch, tokens: Tokens = KNOWN) -> list[Any]:
    columns = {}
    for metric in dict.fromkeys(NUMBERS[name].metrics(tokens)):
        for key, found in metric.compute(batch).items():
            columns[f"{metric.key}.{key}"] = pl.Series(found).cast(metric.gives[key])
    return pl.DataFrame(columns).select(NUMBERS[name].value(tokens)).to_series().to_list()


ROW = batch_of(input_ids=[[1, 2, 2, 3, 4, 5, 0, 0]], labels=[[-100, 2, 2, -100, -100, 5, -100, -100]])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tokens", 8),
        ("attended_tokens", 6),
        ("content_tokens", 6),
        ("left_padding", 0),
        ("right_padding", 2),
        ("inner_padding", 0),
        ("padding_fraction", 2 / 8),
        ("lowest_id", 0),
        ("highest_id", 5),
        ("unknown_tokens", 1),
        ("unknown_fraction", 1 / 6),
        ("characters", 6),
        ("characters_per_token", 1.0),
        ("letter_fraction", 2 / 5),
        ("digit_fraction", 2 / 5),
        ("symbol_fraction", 1 / 5),
        ("white_space_fraction", 1 / 6),
        ("digit_run", 2),
        ("repeats", 2),
        ("period", 1),
        ("repeated_fraction", 0.0),
        ("supervised_tokens", 3),
        ("targets", 3),
        ("supervised_fraction", 3 / 6),
    ],
)
def test_is_the_number_that_it_says(name: str, expected: float):
    assert value(name, ROW) == [pytest.approx(expected)]


def test_every_number_has_been_tried():
    tried = next(mark for mark in test_is_the_number_that_it_says.pytestmark if mark.name == "parametrize")
    assert [name for name, _ in tried.args[1]] == list(NUMBERS)


def test_a_share_of_nothing_is_no_number():
    assert value("symbol_fraction", batch_of(input_ids=[[4, 4], [3, 4]])) == [None, 1.0]


def test_the_share_that_repeats_itself_leaves_white_space_out():
    assert value("repeated_fraction", batch_of(input_ids=[[1, 4] * 11, [4, 4], [1, 2, 3]])) == [10 / 11, None, 0.0]


def test_columns_that_do_not_pair_have_no_number():
    batch = batch_of(input_ids=[[1, 2], [1, 2]], labels=[[1], [1, 2]])
    assert value("supervised_tokens", batch) == [None, 2]


def test_label_at_position_0_is_no_target():
    assert value("targets", batch_of(input_ids=[[1, 2]], labels=[[1, 2]])) == [1]


def test_says_what_it_needs():
    needs = {name: number.needs for name, number in NUMBERS.items() if number.needs}
    assert needs["symbol_fraction"] == ("characters",)
    assert needs["unknown_fraction"] == ("unk",)
    assert needs["targets"] == ("labels",)
    assert "tokens" not in needs
