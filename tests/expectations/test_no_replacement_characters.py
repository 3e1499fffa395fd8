"""expect_no_replacement_characters."""

from __future__ import annotations

import pytest

from tests.builders import found, judged
from tests.expectations.texts import BOS, EOS, each_kind, judge_bytes, judge_texts

REPLACED = "expect_no_replacement_characters"
CUT = "中".encode()[:2]
REST = "中".encode()[2:]


@each_kind
def test_text_with_a_replacement_character_is_flagged(kind: str):
    result = judge_texts(REPLACED, "the\ufffdold\ufffdboat", "the old boat", "ünd\ufffd", kind=kind)
    assert found(result) == [(0, "replacement_character"), (2, "replacement_character")]
    assert [each.value for each in result.findings] == [2, 1]
    assert [each.position for each in result.findings] == [3, 4 if kind == "ids" else 3]


def test_bytes_that_make_no_character_would_be_shown_as_one():
    result = judge_bytes(REPLACED, b"a\xffb", b"a\xc3(b", b"ab" + CUT + b"c", b"abc")
    assert [(each.row, each.position, each.value) for each in result.findings] == [(0, 1, 1), (1, 1, 1), (2, 2, 1)]


def test_half_a_character_at_either_end_is_only_noted():
    result = judge_bytes(REPLACED, b"text" + CUT, REST + b"text", [BOS, *REST, *b"text", *CUT, EOS])
    assert result.success
    assert result.details["notes"] == [
        "2 rows end with half a character, as windows of a longer text do",
        "2 rows begin with the rest of a character, as windows of a longer text do",
    ]


def test_half_a_character_at_the_end_of_a_short_row_was_not_cut_by_a_window():
    result = judge_bytes(REPLACED, b"text" + CUT, b"texts" + CUT, b"longer text" + CUT, max_length=7)
    assert found(result) == [(0, "replacement_character")]
    assert result.findings[0].position == 4
    assert result.details["notes"] == ["2 rows end with half a character, as windows of a longer text do"]


def test_the_last_window_of_a_text_begins_with_the_rest_and_is_short():
    assert judge_bytes(REPLACED, REST + b"t", max_length=7).success


@pytest.mark.parametrize(("row", "position"), [(b"text" + CUT, 4), (REST + b"text", 0), (b"\xad" + b"a" + CUT, 0)])
def test_cut_ends_may_be_forbidden(row: bytes, position: int):
    result = judge_bytes(REPLACED, row, b"text", allow_cut_end=False)
    assert [(each.row, each.position) for each in result.findings] == [(0, position)]
    assert "notes" not in result.details


def test_what_is_no_rest_of_a_character_is_a_fault():
    assert found(judge_bytes(REPLACED, b"\x80\x80\x80\x80text", b"\xfftext", b"text\xff")) == [
        (row, "replacement_character") for row in range(3)
    ]


def test_a_share_of_them_may_be_allowed():
    assert judge_texts(REPLACED, "\ufffd" + "x" * 9, max_fraction=0.1).success
    assert not judge_texts(REPLACED, "\ufffd" + "x" * 8, max_fraction=0.1).success


def test_a_note_counts_no_row_that_is_flagged():
    result = judge_bytes(REPLACED, b"a\xffb" + CUT)
    assert "notes" not in result.details


def test_with_neither_text_nor_tokenizer_it_cannot_be_judged():
    result = judged(REPLACED, {"input_ids": [[5, 6]]}, vocabulary={"size": 100})
    assert not result.success
    assert result.unjudged is not None
    assert "--tokenizer" in result.unjudged.fix
