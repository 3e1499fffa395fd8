"""What expectations on text have in common: where the text comes from, and whose row it is."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.builders import byte_tokenizer, found, ids_of, judged, list_array
from tests.metrics.texts import array_of

TYPES = (
    "expect_duplicate_line_fraction_to_be_below",
    "expect_no_replacement_characters",
    "expect_no_control_characters",
    "expect_no_mojibake",
    "expect_words_to_be_shorter_than",
    "expect_alphabetic_word_fraction_to_be_above",
)
BAD = "\n".join(["1"] * 4 + ["1\x00", "Ã©\ufffd", "1" * 300])
each_type = pytest.mark.parametrize("name", TYPES)


@each_type
def test_the_column_comes_before_the_ids(name: str):
    rows = {"input_ids": [ids_of(BAD), ids_of("good")], "text": ["good", BAD]}
    assert [row for row, _ in found(judged(name, rows, tokenizer=byte_tokenizer()))] == [1]
    del rows["text"]
    assert [row for row, _ in found(judged(name, rows, tokenizer=byte_tokenizer()))] == [0]


@each_type
def test_null_texts_and_null_empty_or_unpaired_rows_are_missing(name: str):
    rows = {
        "input_ids": [[5], None, [], [5], [5], [5]],
        "attention_mask": [[1], [1], [], [1, 1], [0], [1]],
        "text": [None, BAD, BAD, BAD, BAD, BAD],
    }
    result = judged(name, rows)
    assert (found(result)[0][0], len(result.findings)) == (5, 1)
    assert (result.element_count, result.missing_count) == (6, 5)


@each_type
def test_a_row_without_text_is_read_from_its_ids(name: str):
    rows = {"input_ids": [ids_of(BAD), ids_of("good"), ids_of(BAD)], "text": ["good", None, None]}
    result = judged(name, rows, tokenizer=byte_tokenizer())
    assert ([row for row, _ in found(result)], result.missing_count) == ([2], 0)


@each_type
def test_rows_of_ids_that_are_null_empty_or_special_are_missing(name: str):
    rows = {"input_ids": [None, [], [1, 2], ids_of("  "), ids_of(BAD)]}
    result = judged(name, rows, tokenizer=byte_tokenizer())
    assert (found(result)[0][0], len(result.findings), result.missing_count) == (4, 1, 4)


@each_type
@pytest.mark.parametrize("kind", [pa.int64(), pa.list_(pa.string()), pa.null()])
def test_a_column_called_text_that_holds_none_is_left_alone(name: str, kind: pa.DataType):
    rows = {"input_ids": [ids_of(BAD)], "text": pa.nulls(1, kind)}
    assert [row for row, _ in found(judged(name, rows, tokenizer=byte_tokenizer()))] == [0]
    assert judged(name, rows).unjudged is not None


@each_type
def test_a_shard_without_text_is_unjudged_where_ids_spell_nothing(name: str, tmp_path: Path):
    for place, columns in enumerate([{"text": array_of(["good"], "string")}, {}]):
        table = pa.table({"input_ids": list_array([[5]]), **columns})
        with pa.OSFile(str(tmp_path / f"{place}.arrow"), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table)
    result = judged(name, tmp_path)
    assert not result.success
    assert result.unjudged is not None
    assert "1.arrow" in result.unjudged.missing
    assert judged(name, tmp_path, tokenizer=byte_tokenizer()).unjudged is None


@each_type
def test_a_mapped_column_and_by_source(name: str):
    rows = {"input_ids": [[5], [5]], "body": [BAD, "good"], "source": ["a", "b"]}
    result = judged(name, rows, columns={"text": "body"})
    assert found(result)[0][0] == 0
    assert result.details["by_source"] == {"a": 1}


@each_type
def test_packed_documents_are_parted_by_their_special_tokens(name: str):
    parts = {
        "expect_words_to_be_shorter_than": ("x" * 150, "x" * 150),
        "expect_no_mojibake": ("aÃ", "©a"),
    }
    one, other = parts.get(name, ("a good text", "another one"))
    rows = {"input_ids": [[1, *ids_of(one), 2, 1, *ids_of(other), 2]]}
    assert judged(name, rows, tokenizer=byte_tokenizer()).success
