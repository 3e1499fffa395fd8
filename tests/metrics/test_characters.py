"""Characters of a row, against Python's own decoder and Unicode tables."""

from __future__ import annotations

import unicodedata
from itertools import groupby

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.base import Attention
from dataguard.metrics.characters import Characters
from dataguard.shards.batch import Batch
from dataguard.vocabulary.model import CharacterTable
from tests.builders import batch_of, list_array, numbers, table_of_characters
from tests.metrics.strategies import RAGGED, quick

SPECIAL = 0
CLASSES = {"L": "letters", "M": "letters", "N": "digits", "P": "symbols", "S": "symbols"}


def kind_of(character: str) -> str:
    return "white" if character.isspace() else CLASSES.get(unicodedata.category(character)[0], "others")


def characters_of(spelled: list[tuple[int, bytes]]) -> list[tuple[int, str]]:
    """Return each whole character with the token of its first byte, from tokens and their bytes; the rest is dropped."""
    joined = b"".join(part for _, part in spelled)
    tokens = [token for token, part in spelled for _ in part]
    found, place = [], 0
    while place < len(joined):
        for length in range(1, 5):
            try:
                text = joined[place : place + length].decode("utf-8")
            except UnicodeDecodeError:
                continue
            found.append((tokens[place], text))
            place += length
            break
        else:
            place += 1
    assert "".join(text for _, text in found) == joined.decode("utf-8", errors="ignore")
    return found


def by_hand(row: list[int], seen: list[bool], table: list[bytes]) -> dict[str, int]:
    pieces: list[list[tuple[int, bytes]]] = [[]]
    for place, (token, see) in enumerate(zip(row, seen, strict=True)):
        if not see or token == SPECIAL or not 0 <= token < len(table):
            pieces.append([])
        else:
            pieces[-1].append((place, table[token]))
    counts = dict.fromkeys(("others", "letters", "digits", "symbols", "white"), 0)
    best, position = 0, -1
    for piece in pieces:
        characters = characters_of(piece)
        for _, character in characters:
            counts[kind_of(character)] += 1
        for kind, run in groupby(characters, lambda each: kind_of(each[1])):
            places = [place for place, _ in run]
            if kind == "digits" and len(places) > best:
                best, position = len(places), places[0]
    return {**counts, "digit_run": best, "digit_position": position}


BYTES = st.one_of(
    st.sampled_from([b"1", b"23", b"a", b" ", b"\n", b"!", b"1a2", b"a1", b"\xc2\xa0", b"", b"9 9"]),
    st.text(alphabet="1a- \u00e9\u0663\uff11\u4e2d\u2028\U0001d7ce\U0001f600\u200b", max_size=3).map(str.encode),
    st.sampled_from(
        [b"\xe4", b"\xb8", b"\xad", b"\xef\xbc", b"\x91", b"\xf0\x9d", b"\x9f\x8e", b"\xd9", b"\xa3"]
    ),  # cut
    st.sampled_from([b"\xc0\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff"]),
    st.binary(max_size=4),
)


@st.composite
def spelled_rows(draw: st.DrawFn) -> tuple[list[bytes], list[list[int]], list[list[bool]] | None]:
    table = [b"<special>", *draw(st.lists(BYTES, min_size=1, max_size=8))]
    ids = st.one_of(
        st.integers(0, len(table) - 1), st.integers(1, len(table) - 1), st.sampled_from([-1, len(table), 2**31 - 1])
    )
    rows = draw(st.lists(st.lists(ids, max_size=10), min_size=1, max_size=4))
    masks = [draw(st.lists(st.booleans(), min_size=len(row), max_size=len(row))) for row in rows]
    return table, rows, masks if draw(st.booleans()) else None


@quick
@given(
    spelled_rows(),
    st.sampled_from([pa.int32(), pa.int64(), pa.int8(), pa.uint16()]),
    RAGGED,
    st.integers(0, 2),
)
def test_agrees_with_python(
    case: tuple[list[bytes], list[list[int]], list[list[bool]] | None], kind: pa.DataType, layout: str, skip: int
):
    table, rows, masks = case
    lowest, highest = (-1, 2**31 - 1) if kind.bit_width > 16 else (0, 127)
    rows = [[min(max(token, lowest), highest) for token in row] for row in rows]
    columns = {"input_ids": list_array(rows, kind, layout, skip)}
    if masks is not None:
        columns["attention_mask"] = list_array(masks, pa.bool_())
    metric = Characters(Attention("input_ids"), (SPECIAL,), table_of_characters(*table))
    seen = masks or [[True] * len(row) for row in rows]
    assert numbers(metric, Batch(columns, len(rows))) == [
        by_hand(*each, table) for each in zip(rows, seen, strict=True)
    ]


def counted(table: CharacterTable, *rows: list[int]) -> list[dict[str, int]]:
    return numbers(Characters(Attention("input_ids"), (SPECIAL,), table), batch_of(input_ids=rows))


def test_a_character_that_crosses_ids_is_classified_whole():
    cut = table_of_characters(b"<s>", b"\xe4", b"\xb8", b"\xad")
    (row,) = counted(cut, [1, 2, 3])
    assert (row["letters"], row["others"], row["symbols"]) == (1, 0, 0)


@pytest.mark.parametrize("broken", [[1, 2], [2, 3], [1, 1, 2], [1, 0, 2, 3]])
def test_bytes_that_make_no_character_do_not_count(broken: list[int]):
    cut = table_of_characters(b"<s>", b"\xe4", b"\xb8", b"\xad")
    (row,) = counted(cut, broken)
    assert sum(row[name] for name in ("letters", "digits", "symbols", "white", "others")) == 0


def test_a_run_of_digits_crosses_tokens_and_knows_where_it_began():
    table = table_of_characters(b"<s>", b"a12", b"345", b"6b", b"x")
    rows = counted(table, [4, 1, 2, 2, 3, 4], [2, 0, 2], [2, 4, 2, 2])
    assert [(row["digit_run"], row["digit_position"]) for row in rows] == [(9, 1), (3, 0), (6, 2)]


def test_a_digit_cut_into_tokens_stands_where_its_first_byte_does():
    table = table_of_characters(b"<s>", b"x", b"\xef\xbc", b"\x91", b"\xbc", b"\xef", b"7")
    rows = counted(table, [1, 2, 3], [1, 5, 4, 3, 6], [6, 2, 3], [2, 5, 4, 3])
    assert [(row["digit_run"], row["digit_position"]) for row in rows] == [(1, 1), (2, 1), (2, 0), (1, 1)]


def test_tokens_without_bytes_do_not_break_a_run():
    assert counted(table_of_characters(b"<s>", b"1", b""), [1, 2, 1])[0]["digit_run"] == 2


def test_digits_of_every_script_and_letters_with_their_marks():
    table = table_of_characters(b"<s>", "\u0663\u0967\u00bd".encode(), "e\u0301".encode(), "\u20ac+_".encode())
    (row,) = counted(table, [1, 2, 3])
    assert (row["digits"], row["letters"], row["symbols"]) == (3, 2, 3)


def test_a_special_token_does_not_count():
    assert counted(table_of_characters(b"<special>", b"a"), [0, 1, 0])[0]["letters"] == 1
    assert counted(table_of_characters(b"<special>", b"a"), [0, 1, 0])[0]["symbols"] == 0
