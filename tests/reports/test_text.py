"""Text from data is shown, never sent; numbers stay readable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from dataguard.reports.text import compact, counted, number, printable, several, shorten, size


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("train-00001.arrow", "train-00001.arrow"),
        ("文字 é [red]x[/red] :smile:", "文字 é [red]x[/red] :smile:"),
        ("\x1b[2J", r"\x1b[2J"),
        ("a\nb\r\t\x00\x7f", r"a\nb\r\t\x00\x7f"),
        ("\x9b31m", r"\x9b31m"),
        ("evil\u202egnp.exe", r"evil\u202egnp.exe"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("line\u2028break", r"line\u2028break"),
        ("no\u00a0break", r"no\xa0break"),
        ("\udcff.arrow", r"\udcff.arrow"),
        (7, "7"),
    ],
)
def test_shows_what_is_not_plainly_visible(text: object, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_whatever_comes_out_can_be_printed_on_one_line(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert shown.encode("utf-8").decode("utf-8") == shown


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("short", 5, "short"),
        ("web/train-00007.arrow", 12, "web/tr…arrow"),
        ("文字文字文字", 7, "文字…字"),
        ("文字文字文字", 6, "文…字"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_shortens_in_the_middle(text: str, width: int, short: str) -> None:
    assert shorten(text, width) == short


@given(st.text(), st.integers(0, 30))
def test_what_was_shortened_fits(text: str, width: int) -> None:
    assert cell_len(shorten(printable(text), width)) <= width


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (8192, "8,192"),
        (-1, "-1"),
        (0.123456, "0.1235"),
        (12345.6, "12,346"),
        (True, "true"),
        (None, "null"),
        ("x", "x"),
    ],
)
def test_numbers_have_separators(value: object, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (99_999, "99,999"),
        (123_456, "123 K"),
        (999_499, "999 K"),
        (999_500, "1 M"),
        (12_345_678, "12.3 M"),
        (4_560_000_000, "4.56 B"),
        (15 * 10**12, "15 T"),
        (15 * 10**15, "1.5e+04 T"),
    ],
)
def test_large_counts_become_compact(value: int, shown: str) -> None:
    assert compact(value) == shown


@given(st.integers(0, 10**14))
def test_compact_counts_are_six_characters_at_most(value: int) -> None:
    assert len(compact(value)) <= 6


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (10 * 2**30, "10 GiB"), (2**40, "1 TiB")]
)
def test_sizes_are_said_as_people_say_them(count: int, shown: str) -> None:
    assert size(count) == shown


def test_counts_and_lists() -> None:
    assert [counted(1, "row"), counted(0, "row"), counted(1234, "row")] == ["1 row", "0 rows", "1,234 rows"]
    assert several(["a", "b"], 2) == "a, b"
    assert several(["a", "b", "c", "d"], 2) == "a, b, and 2 more"
