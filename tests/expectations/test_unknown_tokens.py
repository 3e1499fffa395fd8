"""expect_unknown_token_fraction_to_be_below."""

from __future__ import annotations

from tests.builders import found, judged

UNKNOWN = "expect_unknown_token_fraction_to_be_below"
IDS = {"size": 100, "pad": 0, "bos": 1, "eos": 2, "unk": 3}


def test_counts_unk_among_attended_tokens_that_are_not_special():
    rows = [[1, 3, 5, 5, 5, 2], [1, 5, 5, 5, 5, 2], [1, 3, 5, 5, 5, 5, 5, 5, 5, 5, 5, 2]]
    result = judged(UNKNOWN, {"input_ids": rows}, vocabulary=IDS)
    assert found(result) == [(0, "many_unknown")]
    assert result.findings[0].value == 0.25
    assert result.severity == "warning"


def test_the_limit_itself_holds():
    assert judged(UNKNOWN, {"input_ids": [[3, 5, 5, 5]]}, vocabulary=IDS, max_fraction=0.25).success


def test_hidden_tokens_do_not_count():
    rows = {"input_ids": [[5, 5, 3, 3], [3, 3, 5, 5]], "attention_mask": [[1, 1, 0, 0], [1, 1, 0, 0]]}
    assert found(judged(UNKNOWN, rows, vocabulary=IDS)) == [(1, "many_unknown")]


def test_a_row_of_nothing_but_unk_is_no_empty_row():
    assert found(judged(UNKNOWN, {"input_ids": [[1, 3, 2], [1, 2]]}, vocabulary=IDS)) == [(0, "many_unknown")]


def test_an_unk_that_is_eos_as_well_is_special():
    assert judged(UNKNOWN, {"input_ids": [[5, 2, 2, 2]]}, vocabulary={"size": 100, "eos": 2, "unk": 2}).success


def test_without_an_unk_id_it_cannot_be_judged():
    result = judged(UNKNOWN, {"input_ids": [[5]]}, vocabulary={"size": 100})
    assert result.unjudged is not None
    assert "unk" in result.unjudged.missing
