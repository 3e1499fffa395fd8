"""Whose row it is."""

from __future__ import annotations

import polars as pl
import pytest

from dataguard.expectations.base import CannotJudge
from dataguard.expectations.content import characters_of, content_of, null_or_empty, without_content
from dataguard.expectations.context import Context
from dataguard.metrics.lengths import Lengths
from dataguard.vocabulary.model import Vocabulary
from tests.builders import batch_of, table_of_characters

TABLE = table_of_characters(b"<pad>", b"<s>", b"</s>", b"a", b" ")
CONTEXT = Context(Vocabulary(size=5, pad=0, bos=1, eos=2, characters=TABLE), shards=[])
ROWS = [[3, 3], None, [], [3, None], [1, 2], [4, 4], [0, 0], [3, 3], [3, 4]]
MASK = [[1, 1], [1], [], [1, 1], [1, 1], [1, 1], [0, 0], [1], [0, 1]]


def frame() -> pl.DataFrame:
    batch = batch_of(input_ids=ROWS, attention_mask=MASK)
    metrics = (Lengths("input_ids"), content_of(CONTEXT, "input_ids"))
    return pl.DataFrame(
        {f"{each.key}.{name}": values for each in metrics for name, values in each.compute(batch).items()}
    )


def test_null_and_zero_token_rows_are_left_to_others():
    left = frame().select(left=null_or_empty("input_ids"))["left"].to_list()
    assert left == [False, True, True, True, False, False, False, False, False]


def test_rows_without_attended_content_and_unpaired_rows_are_left_to_others():
    left = frame().select(left=without_content(CONTEXT, "input_ids"))["left"].to_list()
    assert left == [False, True, True, True, True, True, True, True, True]


def test_characters_are_needed_where_text_is_judged():
    assert characters_of(CONTEXT, "input_ids").table == TABLE
    with pytest.raises(CannotJudge, match="not known"):
        characters_of(Context(Vocabulary(), shards=[]), "input_ids")
