"""What expectations on text have in common: where the text comes from, and whose row it is."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import dataguard
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


MATCH = "expect_ids_to_match_text"
no_text = pytest.mark.parametrize("texts", [pa.nulls(2), pa.nulls(2, pa.string()), pa.nulls(2, pa.large_string())])


@no_text
@pytest.mark.parametrize("name", [*TYPES, MATCH])
def test_a_column_of_nothing_but_nulls_is_no_pass_where_ids_spell_nothing(name: str, texts: pa.Array):
    rows = {"input_ids": [ids_of("a"), ids_of("b")], "text": texts}
    result = judged(name, rows, tokenizer=byte_tokenizer() if name == MATCH else None)
    assert not result.success
    assert result.unjudged is not None
    if not pa.types.is_null(texts.type):
        assert "all rows that have content have no text (null)" in result.unjudged.missing
        assert "--column text=NAME" in result.unjudged.fix


@no_text
@each_type
def test_a_row_whose_text_is_null_is_read_from_its_ids(name: str, texts: pa.Array):
    rows = {"input_ids": [ids_of("good"), ids_of(BAD)], "text": texts}
    assert [row for row, _ in found(judged(name, rows, tokenizer=byte_tokenizer()))] == [1]


@pytest.mark.parametrize("texts", [pa.nulls(2, pa.string()), pa.nulls(2, pa.large_string())])
def test_it_is_skipped_where_that_is_declared(texts: pa.Array):
    when = {"meta": {"dataguard": {"when": ["text"]}}}
    rows = pa.table({"input_ids": list_array([ids_of("a"), ids_of("b")]), "text": texts})
    for names, tokenizer in (TYPES, None), ([MATCH], byte_tokenizer()):
        entries = [{"type": name, **when} for name in names]
        suite = {"name": "test", "expectations": [*entries, {"type": "expect_rows_not_to_be_null"}]}
        result = dataguard.validate(rows, suite=suite, tokenizer=tokenizer, jobs=1)
        assert result.success
        assert [each.type for each in result.results] == ["expect_rows_not_to_be_null"]


@pytest.mark.parametrize("name", [*TYPES, MATCH])
def test_says_how_many_rows_have_no_text(name: str):
    rows = {"input_ids": [ids_of("good"), ids_of("b"), [], None], "text": ["good", None, None, None]}
    result = judged(name, rows, tokenizer=byte_tokenizer() if name == MATCH else None)
    assert (result.success, result.missing_count) == (True, 3)
    assert result.details["notes"] == ["1 rows have no text (null)"]


@pytest.mark.parametrize("name", [*TYPES, MATCH])
def test_a_side_of_a_pair_has_the_text_of_its_side(name: str):
    rows = {
        "chosen_input_ids": [ids_of("good")],
        "rejected_input_ids": [ids_of(BAD)],
        "chosen_text": ["good"],
        "rejected_text": [BAD],
        "text": [BAD + BAD],
    }
    for more in ({"column": "chosen_input_ids"}, {"columns": {"input_ids": "chosen_input_ids"}}):
        assert judged(name, rows, tokenizer=byte_tokenizer(), **more).success
