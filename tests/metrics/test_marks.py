"""Replacement and control characters, against Python's own decoder."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.metrics.marks import Marks
from tests.builders import numbers
from tests.metrics.strategies import quick
from tests.metrics.texts import (
    LAYOUTS,
    PIECES,
    SPECIAL,
    batch_of_bytes,
    batch_of_texts,
    of_text,
    small_pieces,
)

FFFD = "\ufffd"


def places(raw: bytes) -> list[tuple[int, str]]:
    """Return the characters that Python's decoder shows, each with the place of its first byte."""
    found, at = [], 0
    while at < len(raw):
        for size in range(1, 5):  # the longest stretch that is one character, or is replaced by one
            shown = raw[at : at + size].decode("utf-8", "replace")
            if len(shown) == 1 and (shown != FFFD or size == 3) and raw[at : at + size].decode("utf-8", "ignore"):
                break
        else:
            size = next(
                (
                    n
                    for n in (3, 2)
                    if len(raw[at : at + n]) == n and raw[at : at + n].decode("utf-8", "replace") == FFFD
                ),
                1,
            )
            shown = FFFD
        found.append((at, shown))
        at += size
    assert "".join(each for _, each in found) == raw.decode("utf-8", "replace")
    return found


def by_hand(raw: bytes) -> dict[str, Any]:
    shown = places(raw)
    start = 0
    while start < min(3, len(raw)) and raw[start] & 0xC0 == 0x80:
        start += 1
    rest = shown[start:]
    end = []
    if rest and rest[-1][1] == FFFD and not raw[rest[-1][0] :].decode("utf-8", "ignore"):
        last = raw[rest[-1][0] :]
        if any(_completes(last, more) for more in MORE):
            end = [rest.pop()]
    replaced = [at for at, each in rest if each == FFFD]
    controls = [(at, ord(each)) for at, each in rest if unicodedata.category(each) == "Cc" and each not in "\t\r\n"]
    return {
        "present": True,
        "characters": len(shown),
        "replaced": len(replaced),
        "replaced_at": min(replaced, default=-1),
        "cut_start": start,
        "cut_start_at": 0 if start else -1,
        "cut_end": len(end),
        "cut_end_at": end[0][0] if end else -1,
        "controls": len(controls),
        "control_at": controls[0][0] if controls else -1,
        "control": controls[0][1] if controls else -1,
    }


MORE = [
    bytes(rest)
    for rest in ([0x80], [0xBF], [0x80, 0x80], [0xBF, 0x80], [0x90, 0x80, 0x80], [0x80, 0x80, 0x80], [0xA0, 0x80])
]


def _completes(beginning: bytes, more: bytes) -> bool:
    try:
        return len((beginning + more).decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False


RAW = st.lists(
    st.one_of(
        st.sampled_from(
            [
                b"a",
                b" \t\r\n",
                b"plain ASCII that is longer than one stride of it",
                b"\x00",
                b"\x1b",
                b"\x7f",
                b"\xc2\x85",
            ]
        ),
        st.sampled_from(
            [
                b"\xef\xbf\xbd",
                b"\xe4",
                b"\xb8",
                b"\xad",
                b"\xf0\x9f",
                b"\x98\x80",
                b"\xed\xa0\x80",
                b"\xc0\xaf",
                b"\xff",
            ]
        ),
        st.text("é中😀\u2028\xa0", max_size=4).map(str.encode),
        st.binary(max_size=3),
    ),
    max_size=8,
).map(b"".join)


@quick
@given(st.lists(RAW, min_size=1, max_size=4), PIECES)
def test_agrees_with_pythons_decoder(rows: list[bytes], size: int):
    rows = [row.replace(b"\xfe", b"") for row in rows]
    with small_pieces(size):
        assert numbers(of_text(Marks), batch_of_bytes(*rows)) == [by_hand(row) for row in rows]


@quick
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=60), min_size=1, max_size=4), st.sampled_from(LAYOUTS))
def test_agrees_in_every_layout(rows: list[str], layout: str):
    expected = [by_hand(row.encode()) for row in rows]
    given_ = numbers(of_text(Marks), batch_of_texts(rows, layout))
    if layout != "ids":
        for row, text in zip(expected, rows, strict=True):
            for name in Marks.positions:
                row[name] = row[name] if row[name] < 0 else len(text.encode()[: row[name]].decode())
    assert given_ == expected


@pytest.mark.parametrize(
    ("ids", "replaced", "start", "end"),
    [
        ([0xE4, 0xB8, SPECIAL], 0, 0, 1),  # a special token behind the text ends no earlier than the text
        ([SPECIAL, 0xB8, 0xAD, 97], 0, 2, 0),
        ([97, 0xE4, SPECIAL, 0xB8, 0xAD], 3, 0, 0),  # and one inside a character parts it
        ([0x80, 0x80, 0x80, 0x80], 1, 3, 0),
        ([97, 0x80], 1, 0, 0),
        ([0xF4, 0x90], 2, 0, 0),  # no character goes on so
        ([0xF4, 0x8F, 0xBF], 0, 0, 1),
    ],
)
def test_characters_are_cut_at_the_ends_alone(ids: list[int], replaced: int, start: int, end: int):
    from tests.builders import batch_of

    (row,) = numbers(of_text(Marks), batch_of(input_ids=[ids]))
    assert (row["replaced"], row["cut_start"], row["cut_end"]) == (replaced, start, end)
