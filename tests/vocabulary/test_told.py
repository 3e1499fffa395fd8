from __future__ import annotations

import pytest

from dataguard.errors import VocabularyError
from dataguard.vocabulary.told import check_told


def test_takes_all_that_the_catalogue_names():
    given = {"size": 10, "base_size": 8, "embedding_rows": 12, "pad": 0, "bos": 1, "eos": 2, "unk": 3}
    told = check_told({**given, "special": {"end": 4}, "reserved": [9, 8]}, given_from="suite")
    assert (told.numbers, told.special, told.reserved) == (given, {"end": 4}, {8, 9})


def test_null_is_not_told():
    told = check_told({"pad": None, "size": None, "special": None, "reserved": None}, given_from="suite")
    assert (told.numbers, told.special, told.reserved) == ({}, {}, None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sise": 3}, "did you mean size"),
        ({3: 3}, "known: base_size"),
        ({"size": True}, "vocabulary.size"),
        ({"size": 0}, "from 1 up"),
        ({"pad": -1}, "from 0 up"),
        ({"pad": "0"}, "vocabulary.pad"),
        ({"pad": 1.0}, "vocabulary.pad"),
        ({"pad": 1 << 63}, "vocabulary.pad"),
        ({"special": [1]}, "{name: id}"),
        ({"special": {"a": None}}, "special.a"),
        ({"special": {1: 1}}, "{name: id}"),
        ({"reserved": 5}, "a list of ids"),
        ({"reserved": "5"}, "a list of ids"),
        ({"reserved": [1, False]}, "vocabulary.reserved"),
        ([], "a mapping"),
    ],
)
def test_refuses_what_it_does_not_know(given, message):
    with pytest.raises(VocabularyError, match=message) as caught:
        check_told(given, given_from="dataguard.yaml")
    assert "dataguard.yaml" in str(caught.value)


@pytest.mark.parametrize("given", [{"pad": 100}, {"eos": 60_000}, {"special": {"end": 100}}])
def test_an_id_past_all_tokens_is_refused(given):
    with pytest.raises(VocabularyError, match="ids end at 99, because size is 100") as caught:
        check_told({"size": 100, **given}, given_from="suite")
    assert caught.value.where.startswith("suite, vocabulary.")


@pytest.mark.parametrize(
    "given",
    [
        {"size": 100, "pad": 99},
        {"pad": 60_000},
        {"size": 51, "pad": 50, "embedding_rows": 50},
        {"size": 100, "pad": 120, "embedding_rows": 128},
        {"size": 100, "reserved": [100, 127]},
        {"size": None, "pad": 5},
    ],
)
def test_an_id_that_some_row_or_token_may_have_is_taken(given):
    check_told(given, given_from="suite")
