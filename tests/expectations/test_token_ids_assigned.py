"""expect_token_ids_to_be_assigned."""

from __future__ import annotations

from tests.builders import byte_tokenizer, found, judged

ASSIGNED = "expect_token_ids_to_be_assigned"
SIZES = {"size": 100, "embedding_rows": 128}


def test_names_ids_between_the_tokenizer_and_the_end_of_the_embedding():
    result = judged(ASSIGNED, {"input_ids": [[99, 5], [5, 100, 127], [128, -1], [0]]}, vocabulary=SIZES)
    assert found(result) == [(1, "unassigned")]
    assert (result.findings[0].position, result.findings[0].value) == (1, 100)
    assert result.severity == "warning"


def test_names_ids_that_were_never_trained():
    vocabulary = {**SIZES, "reserved": [7, 110]}
    result = judged(ASSIGNED, {"input_ids": [[5, 7], [110], [7, 120], [6, 8]]}, vocabulary=vocabulary)
    assert found(result) == [(0, "reserved"), (1, "reserved"), (2, "unassigned")]
    assert [each.value for each in result.findings] == [7, 110, 120]


def test_masked_ids_count_and_null_or_empty_rows_are_missing():
    rows = {"input_ids": [[5, 110], None, []], "attention_mask": [[1, 0], [1], []]}
    result = judged(ASSIGNED, rows, vocabulary=SIZES)
    assert found(result) == [(0, "unassigned")]
    assert result.missing_count == 2


def test_a_tokenizer_without_holes_leaves_nothing_to_find():
    assert judged(ASSIGNED, {"input_ids": [list(range(260))]}, tokenizer=byte_tokenizer()).success


def test_ids_beyond_the_limit_are_another_expectations():
    assert judged(ASSIGNED, {"input_ids": [[100]]}, vocabulary={"size": 100}).success


def test_without_a_tokenizer_it_cannot_be_judged():
    result = judged(ASSIGNED, {"input_ids": [[1]]}, vocabulary={"embedding_rows": 128})
    assert not result.success
    assert result.unjudged is not None
    assert "--tokenizer" in result.unjudged.fix
