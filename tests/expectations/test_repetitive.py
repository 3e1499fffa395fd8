"""expect_rows_not_to_be_repetitive."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import byte_tokenizer, found, ids_of, judged, list_array
from tests.examples import examples

REPETITIVE = "expect_rows_not_to_be_repetitive"
VOCABULARY = {"size": 100_000, "pad": 0, "bos": 1, "eos": 2, "unk": 3}
NEW = list(range(10, 1010))


def row_of(share: float, size: int = 200, start: int = 10) -> list[int]:
    """Return a row of which a share says again what its first part said."""
    new = round(size * (1 - share))
    return [start + place % new for place in range(size)]


def holds(row: list[int], **arguments: Any) -> bool:
    return judged(REPETITIVE, {"input_ids": [row]}, vocabulary=VOCABULARY, **arguments).success


def test_more_than_70_percent_are_too_many():
    assert holds(row_of(0.7))
    assert not holds(row_of(0.71))
    assert holds(NEW)
    assert not holds([7] * 100)


@pytest.mark.parametrize("most", [0.0, 0.25, 0.5, 0.65, 0.9])
def test_max_duplicate_fraction(most: float):
    assert holds(row_of(most), max_duplicate_fraction=most)
    assert not holds(row_of(most + 0.05), max_duplicate_fraction=most)
    assert holds([7] * 100, max_duplicate_fraction=1.0)


def test_ngram():
    nines = [*[*range(10, 19), 99] * 2, *[each for place in range(20) for each in (*range(10, 19), 200 + place)]]
    assert holds(nines)
    assert not holds(nines, ngram=9)
    assert not holds(nines, ngram=1)


def test_rows_of_few_tokens_hold():
    assert holds([7] * 49)
    assert not holds([7] * 50)
    assert not holds([7] * 49, min_tokens=49)
    assert holds([*[7] * 49, *[0] * 30])


def test_tells_the_share():
    result = judged(REPETITIVE, {"input_ids": [NEW, row_of(0.8), NEW]}, vocabulary=VOCABULARY)
    (finding,) = result.findings
    assert (finding.row, finding.reason, finding.position, finding.value) == (1, "repetitive", None, 0.8)
    assert (result.element_count, result.unexpected_count, result.missing_count) == (3, 1, 0)
    assert result.severity == "warning"


def test_padding_is_no_repetition():
    row = [1, *NEW[:60], 2]
    assert holds([*row, *[0] * 2000])
    assert holds([*[0] * 2000, *row])
    masked = {"input_ids": [[*row, *[9] * 2000]], "attention_mask": [[1] * 62 + [0] * 2000]}
    assert judged(REPETITIVE, masked, vocabulary=VOCABULARY).success


def test_what_is_masked_does_not_count_and_ends_an_ngram():
    rows = {"input_ids": [[7] * 200, row_of(0.9)], "attention_mask": [[1, 0] * 100, [1] * 20 + [0] * 180]}
    assert judged(REPETITIVE, rows, vocabulary=VOCABULARY).success


def test_packed_rows_count_over_their_documents_and_not_across_eos():
    document = [1, *NEW[:20], 2]
    assert not holds(document * 10)
    assert holds([1, *NEW[:8], 2] * 20)


def test_white_space_is_left_out():
    indented = "".join(f"{' ' * 40}{chr(33 + place)}\n" for place in range(90))
    spread = " ".join("abcdefghijkl" * 8)
    rows = {"input_ids": [ids_of(indented), ids_of(spread)]}
    assert found(judged(REPETITIVE, rows, tokenizer=byte_tokenizer())) == [(1, "repetitive")]
    assert len(judged(REPETITIVE, rows, tokenizer=byte_tokenizer(), ignore_white_space=False).findings) == 2


def test_says_where_white_space_cannot_be_told():
    rows = {"input_ids": [NEW]}
    (note,) = judged(REPETITIVE, rows, vocabulary=VOCABULARY).details["notes"]
    assert "white space counts like any other token" in note
    assert "notes" not in judged(REPETITIVE, rows, vocabulary=VOCABULARY, ignore_white_space=False).details
    assert "notes" not in judged(REPETITIVE, {"input_ids": [ids_of("a b")]}, tokenizer=byte_tokenizer()).details


def test_null_empty_and_unpaired_rows_are_missing():
    rows = {"input_ids": [None, [], [0] * 90, [5] * 90, NEW], "attention_mask": [[1], [], [0] * 90, [1], [1] * 1000]}
    result = judged(REPETITIVE, rows, vocabulary=VOCABULARY)
    assert result.success
    assert (result.element_count, result.missing_count) == (5, 4)


def test_by_source_and_mostly():
    rows = {"input_ids": [row_of(0.8), row_of(0.8), NEW], "source": ["tables", "web", "web"]}
    allowed = {"tables": {"max_duplicate_fraction": 0.9}}
    assert found(judged(REPETITIVE, rows, vocabulary=VOCABULARY, by_source=allowed)) == [(1, "repetitive")]
    assert judged(REPETITIVE, rows, vocabulary=VOCABULARY, by_source=allowed, mostly=0.66).success
    strict = {"web": {"max_duplicate_fraction": 0.1, "ngram": 5}}
    assert found(judged(REPETITIVE, rows, vocabulary=VOCABULARY, by_source=strict)) == [
        (0, "repetitive"),
        (1, "repetitive"),
    ]


@pytest.mark.parametrize(
    "arguments", [{"ngram": 0}, {"ngram": 129}, {"max_duplicate_fraction": 1.1}, {"min_tokens": -1}]
)
def test_refuses_arguments_that_mean_nothing(arguments: dict[str, Any]):
    with pytest.raises(Exception, match=next(iter(arguments))):
        holds(NEW, **arguments)


def repetitive_by_hand(row: list[int], ngram: int, most: float) -> bool:
    runs: list[list[int]] = [[]]
    for token in row:
        if token in (1, 2):
            runs.append([])
        else:
            runs[-1].append(token)
    seen, covered = set(), set()
    for number, run in enumerate(runs):
        for start in range(len(run) - ngram + 1):
            some = tuple(run[start : start + ngram])
            if some in seen:
                covered |= {(number, start + each) for each in range(ngram)}
            seen.add(some)
    counted = sum(map(len, runs))
    return counted >= 50 and len(covered) / counted > most


@st.composite
def shards(draw: st.DrawFn) -> list[list[int]]:
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = []
    for _ in range(draw(st.integers(1, 8))):
        phrase, row = random.integers(10, 90, random.integers(3, 40)).tolist(), []
        while len(row) < random.choice([40, 120, 500]):
            row += phrase if random.random() < random.choice([0.2, 0.9]) else random.integers(1, 90, 5).tolist()
        rows.append(row)
    return rows


@examples(30)
@given(
    shards(),
    st.sampled_from([2, 10, 12]),
    st.sampled_from([0.3, 0.5, 0.7]),
    st.sampled_from([pa.int32(), pa.uint16(), pa.int64(), pa.uint8()]),
    st.sampled_from(["list", "large_list", "list_view"]),
)
def test_judges_as_plain_python_does(rows: list[list[int]], ngram: int, most: float, kind: pa.DataType, layout: str):
    table = pa.table({"input_ids": list_array(rows, kind, layout, skip=2)})
    result = judged(REPETITIVE, table, vocabulary=VOCABULARY, ngram=ngram, max_duplicate_fraction=most)
    expected = [place for place, row in enumerate(rows) if repetitive_by_hand(row, ngram, most)]
    assert [each.row for each in result.findings] == expected
