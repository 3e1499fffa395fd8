"""Rows on a terminal: aligned, marked, abridged, and nothing of the data sent as it is."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from dataguard.reports.page import Page
from dataguard.reports.rows import Mark, ShownRow, ShownTokens, rows_json
from dataguard.reports.rows_page import print_rows

FOREIGN = Mark("expect_token_ids_to_be_in_vocabulary", "input_ids", "beyond_limit", 2, 50257.0)


def printed(*rows: ShownRow, width: int = 80, full: bool = False, colour: bool = False, encoding: str = "utf-8") -> str:
    data = io.BytesIO()
    with io.TextIOWrapper(data, encoding, write_through=True) as stream:
        system: Any = "truecolor" if colour else None
        console = Console(file=stream, width=width, highlight=False, force_terminal=colour, color_system=system)
        print_rows(rows, Page(console), full=full)
        return data.getvalue().decode(encoding)


def tokens(texts: Sequence[bytes], **more: Any) -> ShownTokens:
    return ShownTokens("input_ids", list(range(100, 100 + len(texts))), list(texts), **more)


def row(*columns: ShownTokens, **more: Any) -> ShownRow:
    return ShownRow("web/a.arrow", 7, tokens=columns, **more)


def test_a_row_reads_from_where_it_stands_to_its_guilty_token() -> None:
    shown = ShownTokens(
        "input_ids",
        [464, 2068, 50257, 13],
        [b"The", b" quick", b"", b"."],
        {"attention_mask": [1, 1, 1, 0], "labels": [-100, 2068, 50257, 13]},
        guilty=frozenset({2}),
    )
    assert printed(row(shown, source="web", marks=(FOREIGN,), others={"source": "web", "id": None})) == (
        "web/a.arrow row 7  web, 4 tokens\n"
        "fail    expect_token_ids_to_be_in_vocabulary  beyond_limit at 2: 50257 (an id at\n"
        "        or past the limit: the lookup crashes the device, or reads a wrong\n"
        "        vector)\n"
        "with    id: null\n"
        "\n"
        "text    The quick.\n"
        "\n"
        "at      0             2\n"
        "token   The   ␣quick         .\n"
        "id      464   2068    50257  13\n"
        "mask    1     1       1      0\n"
        "labels  -100  2068    50257  13\n"
        "                      ^^^^^\n"
        "\n"
    )


def test_half_a_character_stands_as_its_bytes_and_the_text_as_the_whole() -> None:
    text = printed(row(tokens([b"\xe4\xb8", b"\xad!", b"    ", b"a b"])))
    assert "text    中!    a b\n" in text
    assert r"token   \xe4\xb8  \xad!  ␣x4  a␣b" in text


def test_nothing_of_the_data_moves_the_cursor() -> None:
    hostile = "\x1b[2J\x1b]0;x\x07\r\u202e\u2028[red]"
    shown = ShownTokens(hostile, [1], [hostile.encode()], {hostile: [1]})
    text = printed(
        ShownRow(hostile, 0, hostile, (Mark(hostile, hostile, hostile, 0, 1.5),), (shown, shown), {hostile: hostile})
    )
    assert all(character.isprintable() or character == "\n" for character in text)
    assert text.count("[red]") >= 8


def test_colour_marks_what_the_signs_mark() -> None:
    text = printed(row(tokens([b"a", b"b", b"<s>"], guilty=frozenset({1}), special=frozenset({2}))), colour=True)
    assert "\x1b[1;37;41mb\x1b[0m" in text
    assert "\x1b[35m<s>\x1b[0m" in text


def test_an_ascii_terminal_gets_ascii() -> None:
    text = printed(row(tokens([b" a", "é".encode()])), encoding="ascii")
    assert "token   _a   \\xe9\n" in text
    assert text.isascii()


def test_a_long_row_is_abridged_around_its_faults_and_whole_when_asked() -> None:
    long = row(tokens([b"x%d" % place for place in range(1_000)], guilty=frozenset({500})))
    short, whole = printed(long), printed(long, full=True)
    assert "480 tokens left out (--full shows all)" in short
    assert "479 tokens left out (--full shows all)" in short
    for place in (0, 7, 488, 500, 512, 992, 999):
        assert f"x{place} " in short.replace("\n", " ")
    assert "x8 " not in short
    assert len(short.splitlines()) < 60
    assert "left out" not in whole
    assert all(f"x{place} " in whole.replace("\n", " ") for place in range(1_000))


def test_columns_of_other_lengths_and_nulls_are_told() -> None:
    text = printed(row(ShownTokens("input_ids", [1, None], None, {"attention_mask": [1, 1, 1], "labels": None})))
    assert "text    not known: give --tokenizer PATH\n" in text
    assert "labels  null\n" in text
    assert "id      1  null\n" in text
    assert "mask    1  1     1\n" in text


def test_a_row_without_tokens_says_why() -> None:
    assert "null    the row has no list of tokens" in printed(row(ShownTokens("input_ids", None)))
    assert "empty   the row has no tokens" in printed(row(ShownTokens("input_ids", [])))


def test_several_token_columns_are_named() -> None:
    text = printed(row(ShownTokens("chosen_input_ids", [1]), ShownTokens("rejected_input_ids", [2])))
    assert text.index("chosen_input_ids\n") < text.index("rejected_input_ids\n")


def test_json_tells_all_of_it() -> None:
    shown = ShownTokens("input_ids", [1, 2], [b"a", b"\xe4"], {"labels": [1, -100]})
    (told,) = json.loads(rows_json([row(shown, marks=(FOREIGN,), others={"n": 1})]))
    assert told == {
        "shard": "web/a.arrow",
        "row": 7,
        "source": None,
        "findings": [
            {"type": FOREIGN.type, "column": "input_ids", "reason": "beyond_limit", "position": 2, "value": 50257.0}
        ],
        "columns": {"input_ids": {"ids": [1, 2], "text": "a\\xe4", "tokens": ["a", "\\xe4"], "labels": [1, -100]}},
        "others": {"n": 1},
    }


@given(
    texts=st.lists(
        st.binary(max_size=30) | st.text(max_size=12).map(lambda text: text.encode("utf-8", "ignore")), max_size=90
    ),
    guilty=st.frozensets(st.integers(0, 100), max_size=3),
    width=st.sampled_from([40, 80, 120]),
    full=st.booleans(),
)
def test_no_line_is_wider_than_the_terminal(texts: list[bytes], guilty: frozenset[int], width: int, full: bool) -> None:
    shown = tokens(texts, guilty=guilty, beside={"attention_mask": [1] * len(texts)})
    lines = printed(row(shown), width=width, full=full).splitlines()
    assert all(cell_len(line) <= width for line in lines)
    assert all(character.isprintable() for line in lines for character in line)
