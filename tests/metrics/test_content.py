"""What a row holds beside padding and special tokens, against the plainest loop."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.content import AT_ONCE, Content
from dataguard.vocabulary.model import CharacterTable
from tests.builders import batch_of, numbers, table_of_characters
from tests.metrics.strategies import Given, attended, batches, quick

SPELLED = [b" ", b"a", b"\n\t", "\u3000".encode(), b"\xe3\x80", b"\x80"]
TABLE = table_of_characters(*SPELLED)


def by_hand(row: list[int], seen: list[bool], special: tuple[int, ...], table: list[bytes] | None) -> dict[str, object]:
    some = [token for token, see in zip(row, seen, strict=True) if see]
    content = [token for token in some if token not in special]
    known = table is not None and all(0 <= token < len(table) for token in content)
    text = b"".join(table[token] for token in content).decode("utf-8", errors="ignore") if table and known else "?"
    return {
        "paired": True,
        "attended": len(some),
        "content": len(content),
        "first": some[0] if some else -1,
        "last": some[-1] if some else -1,
        "blank": text.isspace(),
    }


@quick
@given(
    batches(companion="attention_mask"),
    st.one_of(st.none(), st.integers(0, 2)),
    st.sampled_from([(), (0,), (1, 5), (4,)]),
    st.booleans(),
)
def test_agrees_with_the_plain_loop(rows: Given, pad: int | None, special: tuple[int, ...], characters: bool):
    metric = Content(Attention("input_ids", pad), special, TABLE if characters else None)
    both = zip(rows.rows, attended(rows, pad), numbers(metric, rows.batch), strict=True)
    for row, seen, own in both:
        assert own["paired"] == (seen is not None)
        if seen is not None:
            assert own == by_hand(row or [], seen, special, SPELLED if characters else None)


def content(
    table: CharacterTable | None, special: tuple[int, ...] = (), **columns: list[list[int] | None]
) -> list[dict]:
    return numbers(Content(Attention("input_ids"), special, table), batch_of(**columns))


@pytest.mark.parametrize(
    ("row", "blank"),
    [([0, 2, 3], True), ([0, 1], False), ([4, 5], True), ([4], False), ([], False), ([99], False), ([-1], False)],
)
def test_white_space_alone_is_blank(row: list[int], blank: bool):
    assert [each["blank"] for each in content(TABLE, input_ids=[row])] == [blank]


@pytest.mark.parametrize(
    ("unit", "end", "blank"),
    [([0], [], True), ([0], [1], False), ([4, 5], [], True), ([4, 0], [5, 2], True), ([2, 4, 5], [1], False)],
)
def test_long_rows_are_joined_piece_by_piece(unit: list[int], end: list[int], blank: bool):
    for times in (61, 62, 63, AT_ONCE // len(unit) + 30):
        for special in ((), (3,)):
            row = [3, *unit * times, *end]
            (own,) = content(TABLE, special, input_ids=[row])
            assert own["blank"] == by_hand(row, [True] * len(row), special, SPELLED)["blank"] == blank


def test_nothing_is_blank_where_no_characters_are_known():
    assert [each["blank"] for each in content(None, input_ids=[[0, 0]])] == [False]


def test_a_row_of_another_length_than_its_mask_is_not_paired():
    rows = content(None, input_ids=[[5, 6], [5], None, []], attention_mask=[[1], [1], [1], []])
    assert [each["paired"] for each in rows] == [False, True, False, True]
