from __future__ import annotations

from dataguard.vocabulary.beside import beside_data


def test_a_tokenizer_in_the_folder_is_taken_before_one_below(write):
    folder = write({"a.arrow": "", "tokenizer/tokenizer.json": "{}"})
    assert beside_data([folder]) == folder / "tokenizer" / "tokenizer.json"
    write({"tokenizer.json": "{}"})
    assert beside_data([folder]) == folder / "tokenizer.json"


def test_a_file_has_its_folder(write):
    folder = write({"a.arrow": "", "tokenizer.json": "{}"})
    assert beside_data([folder / "a.arrow"]) == folder / "tokenizer.json"


def test_an_older_kind_is_taken_by_its_folder(write):
    folder = write({"vocab.json": "{}", "merges.txt": "", "tokenizer_config.json": "{}"})
    assert beside_data([folder]) == folder


def test_nothing_is_taken_from_parents_or_of_kinds_that_are_not_read(write):
    folder = write(
        {"tokenizer.json": "{}", "data/a.arrow": "", "data/tokenizer.model": "", "data/tokenizer_config.json": "{}"}
    )
    assert beside_data([folder / "data"]) is None


def test_later_data_is_looked_at_too(write):
    first, second = write({"a.arrow": ""}, "first"), write({"tokenizer.json": "{}"}, "second")
    assert beside_data([first, second]) == second / "tokenizer.json"
    assert beside_data([]) is None
