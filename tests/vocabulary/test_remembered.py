"""A tokenizer that has not changed is not parsed again, and what is kept of it is believed only as it was written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dataguard.errors import VocabularyError
from dataguard.vocabulary import loading, remembered
from dataguard.vocabulary.loading import load_vocabulary
from dataguard.vocabulary.model import Vocabulary


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Give the tokenizers that were parsed."""
    paths: list[Path] = []
    whole = loading.read_tokenizer_files

    def noted(path: Path) -> object:
        paths.append(path)
        return whole(path)

    monkeypatch.setattr(loading, "read_tokenizer_files", noted)
    return paths


def load(tokenizer: Path, keep_in: Path | None) -> Vocabulary:
    return load_vocabulary(tokenizer=tokenizer, model=None, given={}, vocab_size=None, keep_in=keep_in)


def same(one: Vocabulary, other: Vocabulary) -> bool:
    assert one.characters is not None
    assert other.characters is not None
    tables = [(each.characters.data.tolist(), each.characters.offsets.tolist()) for each in (one, other)]  # type: ignore[union-attr]
    return one == other and tables[0] == tables[1] and list(one.special.items()) == list(other.special.items())


def test_the_second_time_nothing_is_parsed_and_all_is_the_same(write, document, tmp_path, parsed):
    folder = write({"tokenizer.json": document, "tokenizer_config.json": {"eos_token": "</s>"}})
    first = load(folder, tmp_path / "kept")
    assert parsed == [folder]
    assert same(load(folder, tmp_path / "kept"), first)
    assert parsed == [folder]
    assert same(load(folder, None), first)
    assert len(parsed) == 2


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "added_tokens.json"])
def test_a_file_that_changed_is_parsed(name, write, document, tmp_path, parsed):
    folder = write({"tokenizer.json": document})
    load(folder, tmp_path / "kept")
    more = {"model": {"type": "WordLevel", "vocab": {"a": 0}}} if name == "tokenizer.json" else {"<more>": 999}
    (folder / name).write_text(json.dumps(more))
    changed = load(folder, tmp_path / "kept")
    assert len(parsed) == 2
    assert same(changed, load(folder, None))


def test_a_file_and_its_folder_are_told_apart(write, document, tmp_path, parsed):
    folder = write({"tokenizer.json": document, "tokenizer_config.json": {}, "vocab.json": {"a": 0}})
    load(folder / "tokenizer_config.json", tmp_path / "kept")
    with pytest.raises(VocabularyError):
        load(folder / "vocab.json", tmp_path / "kept")


@pytest.mark.parametrize("damage", ["flip", "cut", "empty"])
def test_what_is_not_as_it_was_written_is_not_believed(damage, write, document, tmp_path, parsed):
    folder = write({"tokenizer.json": document})
    first = load(folder, tmp_path / "kept")
    (kept,) = (tmp_path / "kept").iterdir()
    content = bytearray(kept.read_bytes())
    content[len(content) // 2] ^= 1
    kept.write_bytes({"flip": content, "cut": content[: len(content) // 2], "empty": b""}[damage])
    assert same(load(folder, tmp_path / "kept"), first)
    assert len(parsed) == 2


def test_a_folder_that_cannot_be_written_hinders_nobody(write, document, tmp_path):
    folder = write({"tokenizer.json": document})
    (tmp_path / "file").write_text("x")
    assert same(load(folder, tmp_path / "file" / "kept"), load(folder, None))


def test_a_broken_tokenizer_is_an_error_every_time(write, tmp_path):
    folder = write({"tokenizer.json": {"model": 3}})
    for _ in range(2):
        with pytest.raises(VocabularyError):
            load(folder, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_only_the_last_few_are_kept(write, document, tmp_path, monkeypatch):
    monkeypatch.setattr(remembered, "MOST_KEPT", 2)
    for number in range(4):
        load(write({"tokenizer.json": {**document, "version": str(number)}}), tmp_path / "kept")
    assert len(list((tmp_path / "kept").iterdir())) == 2
