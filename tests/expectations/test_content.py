"""Whose row it is."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import dataguard
from dataguard.expectations.base import CannotJudge
from dataguard.expectations.content import characters_of, content_of, null_or_empty, without_content
from dataguard.expectations.context import Context
from dataguard.metrics.lengths import Lengths
from dataguard.vocabulary.model import Vocabulary
from tests.builders import batch_of, judged, table_of, table_of_characters

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


LISTS, PAIRS = pa.list_(pa.int64()), pa.list_(pa.list_(pa.int64(), 2))
COMPANIONS = [
    ("expect_prompt_to_be_ignored_in_labels", "prompt_length", pa.int64(), 1, "prompt"),
    ("expect_prompt_to_be_ignored_in_labels", "prompt_ids", LISTS, [5], "prompt"),
    ("expect_prompt_to_be_prefix", "prompt_ids", LISTS, [5], "prompt_ids"),
    ("expect_labels_to_cover_spans", "target_spans", PAIRS, [[1, 2]], "target_spans"),
]


@pytest.mark.parametrize("companion", COMPANIONS)
@pytest.mark.parametrize("prefix", ["", "chosen_"])
def test_a_companion_of_nothing_but_nulls_is_no_pass(companion: tuple[str, str, pa.DataType, Any, str], prefix: str):
    name, role, kind, one, when = companion
    rows = {f"{prefix}input_ids": [[5, 6], [5, 7]], f"{prefix}labels": [[-100, 6], [-100, 7]]}
    where = {"column": f"{prefix}input_ids"}
    half = judged(name, {**rows, f"{prefix}{role}": pa.array([one, None], kind)}, **where)
    assert (half.success, half.missing_count, half.details["notes"][0][:6]) == (True, 1, "1 rows")
    none = pa.array([None, None], kind)
    nothing = judged(name, {**rows, f"{prefix}{role}": none}, **where)
    assert not nothing.success
    assert nothing.unjudged is not None
    declared = {"type": name, "kwargs": where, "meta": {"dataguard": {"when": [prefix + when]}}}
    suite = {"name": "test", "expectations": [declared, {"type": "expect_row_count_to_be_between"}]}
    result = dataguard.validate(table_of(**rows, **{f"{prefix}{role}": none}), suite=suite, jobs=1)
    assert [each.type for each in result.results] == ["expect_row_count_to_be_between"]
