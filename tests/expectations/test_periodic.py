"""expect_rows_not_to_be_periodic."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import byte_tokenizer, found, ids_of, judged

PERIODIC = "expect_rows_not_to_be_periodic"
VOCABULARY = {"size": 100, "pad": 0, "bos": 1, "eos": 2, "unk": 3}


def holds(row: list[int], **arguments: Any) -> bool:
    return judged(PERIODIC, {"input_ids": [row]}, vocabulary=VOCABULARY, **arguments).success


@pytest.mark.parametrize("period", [1, 2, 3, 12, 13])
def test_32_repeats_are_one_too_many(period: int):
    pattern = list(range(10, 10 + period))
    assert holds([5, *pattern * 31, 6])
    assert not holds([5, *pattern * 32, 6])
    assert holds([5, *(pattern * 32)[1:], 6])


def test_a_longer_pattern_than_max_period_holds():
    row = list(range(10, 24)) * 40
    assert holds(row)
    assert not holds(row, max_period=14)


def test_max_repeats():
    assert holds([5, 5, 5], max_repeats=3)
    assert not holds([5, 5, 5], max_repeats=2)
    assert not holds([5, 5], max_repeats=1)
    assert holds([5, 6], max_repeats=1)


def test_tells_position_repeats_and_period():
    result = judged(PERIODIC, {"input_ids": [[9, 8], [9, *[7, 5] * 40, 7, 6]]}, vocabulary=VOCABULARY)
    (finding,) = result.findings
    assert (finding.row, finding.reason, finding.position, finding.value) == (1, "periodic", 1, 40)
    assert finding.detail is not None
    assert "period 2" in finding.detail
    assert (result.element_count, result.unexpected_count, result.missing_count) == (2, 1, 0)


@pytest.mark.parametrize("special", [0, 1, 2])
def test_a_special_token_breaks_a_run(special: int):
    assert holds([*[5] * 20, special, *[5] * 20])
    assert holds([*[5, special] * 40])


def test_unk_is_no_special_token():
    assert not holds([3] * 40)
    assert not holds([5, 3] * 40)


def test_an_unattended_token_breaks_a_run():
    row, hole = [5] * 40, [1] * 20 + [0] + [1] * 19
    assert judged(PERIODIC, {"input_ids": [row], "attention_mask": [hole]}, vocabulary=VOCABULARY).success


def test_padding_is_no_repetition():
    row = [5, 6, 7, *[0] * 100]
    assert holds(row)
    masked = {"input_ids": [[5, 6, 7, *[9] * 100]], "attention_mask": [[1, 1, 1, *[0] * 100]]}
    assert judged(PERIODIC, masked, vocabulary={"size": 100, "pad": 9, "eos": 9}).success


def test_white_space_alone_does_not_count():
    rows = {"input_ids": [ids_of("if x:\n" + " " * 100 + "y"), ids_of("\n \t" * 40 + "y"), ids_of(" -" * 40)]}
    assert found(judged(PERIODIC, rows, tokenizer=byte_tokenizer())) == [(2, "periodic")]
    assert found(judged(PERIODIC, rows, tokenizer=byte_tokenizer(), ignore_white_space=False)) == [
        (0, "periodic"),
        (1, "periodic"),
        (2, "periodic"),
    ]


def test_white_space_does_not_hide_a_pattern_behind_it():
    row = ids_of(" " * 200 + "ab" * 35)
    result = judged(PERIODIC, {"input_ids": [row]}, tokenizer=byte_tokenizer())
    assert [(each.position, each.value) for each in result.findings] == [(200, 35)]


def test_ids_that_no_tokenizer_has_are_judged_like_others():
    assert not holds([-5] * 40)
    assert not holds([2**31 - 1] * 40)


def test_null_empty_and_unpaired_rows_are_missing():
    rows = {"input_ids": [None, [], [0] * 40, [5] * 40], "attention_mask": [[1], [], [0] * 40, [1]]}
    result = judged(PERIODIC, rows, vocabulary=VOCABULARY)
    assert result.success
    assert (result.element_count, result.missing_count) == (4, 4)


def test_by_source_and_mostly():
    rows = {"input_ids": [[5] * 40, [5] * 40, [5, 6]], "source": ["code", "web", "web"]}
    result = judged(PERIODIC, rows, vocabulary=VOCABULARY, by_source={"code": {"max_repeats": 64}})
    assert found(result) == [(1, "periodic")]
    assert judged(PERIODIC, rows, vocabulary=VOCABULARY, by_source={"code": {"max_repeats": 64}}, mostly=0.66).success


UNKNOWN = {"size": 100}
"""What --vocab-size alone says."""


@pytest.mark.parametrize("pattern", [[5], [5, 6], [5, 6, 7]])
def test_is_judged_without_a_tokenizer(pattern: list[int]):
    whole, within = pattern * 700, [8, 9, *pattern * 100, 9, 8]
    result = judged(PERIODIC, {"input_ids": [whole, [5, 6, 7] * 5, within]}, vocabulary=UNKNOWN, max_repeats=80)
    assert found(result) == [(0, "periodic"), (2, "periodic")]
    assert [each.value for each in result.findings] == [700, 100]


def test_says_that_white_space_counts_where_it_cannot_be_told():
    (note,) = judged(PERIODIC, {"input_ids": [[5, 6]]}, vocabulary=VOCABULARY).details["notes"]
    assert "white space counts like any other token: give --tokenizer" in note
    assert "notes" not in judged(PERIODIC, {"input_ids": [[5, 6]]}, tokenizer=byte_tokenizer()).details
    assert (
        "notes"
        not in judged(PERIODIC, {"input_ids": [[5, 6]]}, vocabulary=VOCABULARY, ignore_white_space=False).details
    )


@pytest.mark.parametrize("padded", [[5, 6, 7, *[9] * 97], [*[9] * 97, 5, 6, 7], [5, *[9] * 99]])
def test_a_run_of_one_id_at_an_end_may_be_padding_where_nobody_says_what_padding_is(padded: list[int]):
    result = judged(PERIODIC, {"input_ids": [padded, [9] * 100, [5, 6, 7]]}, vocabulary=UNKNOWN)
    assert found(result) == [(1, "periodic")]
    every = judged(PERIODIC, {"input_ids": [padded]}, vocabulary=UNKNOWN, ignore_white_space=False)
    assert found(every) == [(0, "periodic")]
    assert any(note.startswith("the pad id is not known: 1 rows") for note in result.details["notes"])


@pytest.mark.parametrize(
    "row", [[*[5, 6] * 40, 7, *[9] * 97], [*[9] * 97, 7, *[5, 6] * 40], [*[9] * 50, *[5, 6] * 40, *[9] * 50]]
)
def test_what_may_be_padding_hides_no_pattern(row: list[int]):
    result = judged(PERIODIC, {"input_ids": [row]}, vocabulary=UNKNOWN)
    assert [(each.reason, each.value, each.detail) for each in result.findings] == [("periodic", 40, "period 2")]
    assert any(note.startswith("the pad id is not known: 1 rows") for note in result.details["notes"])


@pytest.mark.parametrize("vocabulary", [{"size": 100, "pad": 0}, {"size": 100, "pad": 2, "eos": 2}])
def test_it_is_no_padding_where_the_pad_is_another_id(vocabulary: dict[str, int]):
    assert not judged(PERIODIC, {"input_ids": [[5, 6, 7, *[9] * 97]]}, vocabulary=vocabulary).success


def test_it_is_no_padding_under_a_mask_that_attends_to_it():
    rows = {"input_ids": [[5, 6, 7, *[9] * 97]], "attention_mask": [[1] * 100]}
    assert not judged(PERIODIC, rows, vocabulary=UNKNOWN).success


def test_it_is_no_padding_in_the_middle_or_where_two_ids_take_turns():
    rows = {"input_ids": [[5, 6, *[9] * 97, 7], [5, 6, *[9, 8] * 50]]}
    assert found(judged(PERIODIC, rows, vocabulary=UNKNOWN)) == [(0, "periodic"), (1, "periodic")]
