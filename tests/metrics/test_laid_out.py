"""A row's text laid out byte by byte says what ids say one by one (see test_characters)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.characters import Characters
from dataguard.metrics.laid_out import LEAST_IDS, ROOM, SAMPLED, count_text, lay_out, spellings, text_pays, token_at
from dataguard.vocabulary.characters import code_point_classes
from dataguard.vocabulary.model import CharacterTable
from tests.builders import batch_of, numbers, table_of_characters
from tests.metrics.strategies import quick
from tests.metrics.test_characters import SPECIAL, by_hand, spelled_rows

NAMES = ("others", "letters", "digits", "symbols", "white")


def laid_out(table: CharacterTable, row: list[int], seen: list[bool], room: int) -> dict[str, int] | None:
    """Return what the text of one row gives; None where there is no room for it."""
    own, here = np.array(row, np.int32), np.array(seen, np.uint8)
    spelling, text = spellings(table, (SPECIAL,)), np.zeros(room, np.uint8)
    size = lay_out(own, here, spelling, table.data, table.offsets, text)
    if size < 0:
        return None
    counts = np.zeros(7, np.int64)
    run, byte = count_text(text, size, code_point_classes(), counts)
    position = token_at(own, here, spelling, table.offsets, byte) if run else -1
    return {**dict(zip(NAMES, counts.tolist(), strict=False)), "digit_run": run, "digit_position": position}


@quick
@given(spelled_rows(), st.sampled_from([b"", b"12345678", b"a long one \xff\xe4", "7\uff17".encode() * 9, b"\x00" * 7]))
def test_agrees_with_python(case: tuple[list[bytes], list[list[int]], list[list[bool]] | None], longer: bytes):
    table, rows, masks = case
    table = [*table[:-1], longer]
    room = ROOM + max(map(len, table)) * max(map(len, rows)) + ROOM * max(map(len, rows))
    for row, seen in zip(rows, masks or [[True] * len(row) for row in rows], strict=True):
        assert laid_out(table_of_characters(*table), row, seen, room) == by_hand(row, seen, table)


@quick
@given(spelled_rows(), st.integers(LEAST_IDS // 4, LEAST_IDS))
def test_long_rows_agree_with_python_whichever_way_is_taken(
    case: tuple[list[bytes], list[list[int]], list[list[bool]] | None], times: int
):
    table, rows, masks = case
    rows, seen = ([each * times for each in some] for some in (rows, masks or [[True] * len(row) for row in rows]))
    mask = [[int(each) for each in row] for row in seen]
    metric = Characters(Attention("input_ids"), (SPECIAL,), table_of_characters(*table))
    expected = [by_hand(*each, table) for each in zip(rows, seen, strict=True)]
    assert numbers(metric, batch_of(input_ids=rows, attention_mask=mask)) == expected


@pytest.mark.parametrize(("row", "pays"), [([1] * 32, True), ([2] * 32, False), ([0, -1, 9] * 20, True)])
def test_rows_of_ids_with_few_bytes_are_laid_out(row: list[int], pays: bool):
    spelling = spellings(table_of_characters(b"<special>", b"a", b"ab"), (SPECIAL,))
    assert text_pays(np.array(row, np.int64), spelling) is pays


@pytest.mark.parametrize("long", [b"123456789" * 8, b"1234567"])
def test_long_ids_between_those_that_are_looked_at_have_room_or_are_counted_one_by_one(long: bytes):
    table = [b"<special>", b"a", long]
    row = ([1] + [2] * (SAMPLED - 1)) * 4
    seen = [True] * len(row)
    assert (laid_out(table_of_characters(*table), row, seen, (len(row) + 1) * ROOM) is None) == (len(long) > ROOM)
    metric = Characters(Attention("input_ids"), (SPECIAL,), table_of_characters(*table))
    assert numbers(metric, batch_of(input_ids=[row])) == [by_hand(row, seen, table)]
