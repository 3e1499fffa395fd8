"""expect_white_space_fraction_to_be_below."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import byte_tokenizer, found, ids_of, judged, list_array
from tests.examples import examples

WHITE = "expect_white_space_fraction_to_be_below"
HEAVY = "white_space_heavy"


def row_of(white: int, visible: int) -> list[int]:
    return ids_of(" \n\t"[: 1 + white % 3] * white)[:white] + ids_of("x" * visible)


def holds(row: list[int], **arguments: Any) -> bool:
    return judged(WHITE, {"input_ids": [row]}, tokenizer=byte_tokenizer(), **arguments).success


def test_more_than_90_percent_are_too_many():
    assert holds(row_of(90, 10))
    assert not holds(row_of(91, 9))
    assert holds(row_of(91, 9), max_fraction=0.91)
    assert not holds(row_of(1, 99), max_fraction=0)


def test_rows_of_few_tokens_hold():
    assert holds(row_of(48, 1))
    assert not holds(row_of(49, 1))
    assert not holds(row_of(48, 1), min_tokens=49)


def test_tells_the_share():
    rows = {"input_ids": [row_of(5, 95), row_of(95, 5)]}
    result = judged(WHITE, rows, tokenizer=byte_tokenizer())
    (finding,) = result.findings
    assert (finding.row, finding.reason, finding.position, finding.value) == (1, HEAVY, None, 0.95)
    assert (result.element_count, result.missing_count, result.severity) == (2, 0, "warning")


def test_white_space_of_every_script_that_one_id_spells():
    """Bytes that make white space only together are no ids of white space."""
    assert not holds(ids_of("\x0b\x0c\r\x1f" * 25 + "x"))
    assert holds(ids_of("\u2003" * 33 + "x"))


def test_special_and_masked_tokens_are_neither_white_nor_content():
    assert not holds([1, *row_of(95, 5), 2, *[0] * 500])
    hidden = {"input_ids": [row_of(95, 55)], "attention_mask": [[0] * 50 + [1] * 100]}
    assert judged(WHITE, hidden, tokenizer=byte_tokenizer()).success


def test_a_row_of_nothing_else_is_an_empty_one():
    rows = {"input_ids": [row_of(99, 0), None, [], row_of(95, 5)]}
    result = judged(WHITE, rows, tokenizer=byte_tokenizer())
    assert (found(result), result.missing_count) == ([(3, HEAVY)], 3)
    assert found(judged("expect_rows_not_to_be_empty", rows, tokenizer=byte_tokenizer()))[0] == (0, "blank_text")


def test_without_characters_it_is_unjudged():
    result = judged(WHITE, {"input_ids": [[5] * 100]}, vocabulary={"size": 100})
    assert not result.success
    assert result.unjudged is not None
    assert "--tokenizer" in result.unjudged.fix


def test_by_source_and_mostly():
    rows = {"input_ids": [row_of(95, 5), row_of(95, 5)], "source": ["code", "web"]}
    allowed = {"code": {"max_fraction": 0.99}}
    assert found(judged(WHITE, rows, tokenizer=byte_tokenizer(), by_source=allowed)) == [(1, HEAVY)]
    assert judged(WHITE, rows, tokenizer=byte_tokenizer(), by_source=allowed, mostly=0.5).success


def heavy_by_hand(row: list[int], most: float) -> bool:
    content = [token for token in row if token > 2]
    white = [token for token in content if token - 4 in set(b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f")]
    return len(content) >= 5 and len(white) < len(content) and len(white) / len(content) > most


ROWS = st.lists(st.lists(st.one_of(st.integers(0, 300), st.just(36), st.just(14)), max_size=30), min_size=1, max_size=6)


@examples(30)
@given(
    ROWS,
    st.sampled_from([0.0, 0.3, 0.5, 0.9]),
    st.sampled_from([pa.int16(), pa.int32(), pa.uint32(), pa.int64()]),
    st.sampled_from(["list", "large_list", "list_view"]),
)
def test_judges_as_plain_python_does(rows: list[list[int]], most: float, kind: pa.DataType, layout: str):
    rows = [[*row, 100] for row in rows]
    table = pa.table({"input_ids": list_array(rows, kind, layout, skip=1)})
    result = judged(WHITE, table, tokenizer=byte_tokenizer(), max_fraction=most, min_tokens=5)
    assert [each.row for each in result.findings] == [
        place for place, row in enumerate(rows) if heavy_by_hand(row, most)
    ]
