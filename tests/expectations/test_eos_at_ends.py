"""expect_eos_at_document_ends."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import found, judged, reasons

EOS = "expect_eos_at_document_ends"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2}
ROWS = {"input_ids": [[5, 6, 2], [5, 6], [5, 6, 7, 8], [5, 6, 7, 2]]}


@pytest.mark.parametrize(
    ("arguments", "unexpected"),
    [
        ({"max_length": 4}, [(1, "missing_eos")]),
        ({"max_length": 3}, [(1, "missing_eos"), (2, "missing_eos")]),
        ({}, [(1, "missing_eos"), (2, "missing_eos")]),
        ({"policy": "required", "max_length": 4}, [(1, "missing_eos"), (2, "missing_eos")]),
        ({"policy": "optional"}, []),
        ({"policy": "forbidden"}, [(0, "unexpected_eos"), (3, "unexpected_eos")]),
        ({"policy": "required", "stop_ids": [2, 6]}, [(2, "missing_eos")]),
        ({"policy": "required", "stop_ids": [8]}, [(0, "missing_eos"), (1, "missing_eos"), (3, "missing_eos")]),
    ],
)
def test_each_policy(arguments: dict[str, Any], unexpected: list[tuple[int, str]]):
    result = judged(EOS, ROWS, vocabulary=VOCABULARY, **arguments)
    assert found(result) == unexpected
    assert result.success == (not unexpected)


def test_is_a_warning():
    assert judged(EOS, ROWS, vocabulary=VOCABULARY).severity == "warning"


def test_the_last_attended_token_counts_and_not_the_padding():
    padded = {"input_ids": [[5, 2, 0, 0], [5, 6, 0, 0]]}
    assert found(judged(EOS, padded, vocabulary=VOCABULARY, max_length=4)) == [(1, "missing_eos")]
    masked = {"input_ids": [[5, 2, 2, 2], [5, 6, 2, 2]], "attention_mask": [[1, 1, 0, 0], [1, 1, 0, 0]]}
    shared = VOCABULARY | {"pad": 2}
    assert found(judged(EOS, masked, vocabulary=shared, max_length=4)) == [(1, "missing_eos")]


def test_says_what_would_tell_truncation():
    result = judged(EOS, ROWS, vocabulary=VOCABULARY)
    assert "max_length" in result.details["hints"][0]
    assert "hints" not in judged(EOS, ROWS, vocabulary=VOCABULARY, max_length=4).details
    assert "hints" not in judged(EOS, {"input_ids": [[5, 2]]}, vocabulary=VOCABULARY).details


def test_without_eos_it_cannot_be_judged_but_by_stop_ids():
    assert judged(EOS, ROWS, vocabulary={"size": 100}).unjudged is not None
    assert reasons(judged(EOS, ROWS, vocabulary={"size": 100}, stop_ids=[2, 6, 8])) == {}


def test_empty_and_unpaired_rows_are_missing():
    rows = {"input_ids": [None, [], [1], [5, 6], [5, 2]], "attention_mask": [None, [], [1], [1], [1, 1]]}
    result = judged(EOS, rows, vocabulary=VOCABULARY)
    assert (result.success, result.missing_count) == (True, 4)


def test_a_pair_is_judged_side_by_side():
    rows = {"chosen_input_ids": [[5, 2]], "rejected_input_ids": [[5, 2]], "rejected_attention_mask": [[1, 0]]}
    assert judged(EOS, rows, vocabulary=VOCABULARY, column="chosen_input_ids").success
    assert found(judged(EOS, rows, vocabulary=VOCABULARY, column="rejected_input_ids")) == [(0, "missing_eos")]


def test_by_source_gives_a_source_its_own_length():
    rows = {"input_ids": [[5, 6], [5, 6, 7]], "source": ["short", "long"]}
    arguments = {"max_length": 3, "by_source": {"short": {"max_length": 2}}}
    assert judged(EOS, rows, vocabulary=VOCABULARY, **arguments).success
