from __future__ import annotations

import os

import pytest

from dataguard.errors import VocabularyError
from dataguard.vocabulary.tokenizer_files import has_tokenizer, read_tokenizer_files
from dataguard.vocabulary.tokenizer_json import parse_tokenizer


def parsed(path):
    return parse_tokenizer(read_tokenizer_files(path).document)


def test_a_folder_its_tokenizer_and_its_config_are_one(write, document):
    folder = write({"tokenizer.json": document, "tokenizer_config.json": {"bos_token": "<s>"}})
    whole = read_tokenizer_files(folder)
    assert whole.config == {"bos_token": "<s>"}
    assert read_tokenizer_files(folder / "tokenizer.json") == whole
    assert read_tokenizer_files(folder / "tokenizer_config.json") == whole


def test_a_tokenizer_under_another_name_stands_alone(write, document):
    folder = write({"mine.json": document, "tokenizer_config.json": {"bos_token": "</s>"}})
    files = read_tokenizer_files(folder / "mine.json")
    assert (files.name, files.config) == ("mine.json", {})


def test_tokens_that_only_sidecars_name_are_added(write, document):
    decoder = {"260": {"content": "<|a|>", "special": True}, "1": {"content": "<other>"}, "x": {"content": "<|b|>"}}
    files = {"tokenizer.json": document, "tokenizer_config.json": {"added_tokens_decoder": decoder}}
    tokenizer = parsed(write({**files, "added_tokens.json": {"<|c|>": 262, "<s>": 300}}))
    assert {each.content: each.id for each in tokenizer.added[4:]} == {"<|a|>": 260, "<|c|>": 262}
    assert tokenizer.size == 263
    assert tokenizer.unassigned() == {261}


def test_reads_vocab_txt_of_older_bert_folders(write):
    tokenizer = parsed(write({"vocab.txt": "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##do\n"}))
    assert (tokenizer.kind, tokenizer.size, tokenizer.id_of("##do")) == ("WordPiece", 7, 6)
    assert [each.content for each in tokenizer.added if each.special] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def test_tells_word_ends_in_older_folders(write):
    folder = write({"vocab.json": {"l": 0, "o": 1, "lo</w>": 2}, "merges.txt": "#version: 0.2\nl o</w>\n"})
    assert parsed(folder).model["end_of_word_suffix"] == "</w>"


@pytest.mark.parametrize(
    ("files", "name", "message"),
    [
        ({"tokenizer.json": "{"}, "tokenizer.json", "not JSON"),
        ({"tokenizer.json": ""}, "tokenizer.json", "empty"),
        ({"tokenizer.json": "[1]"}, "tokenizer.json", "list"),
        ({"tokenizer.json": "[" * 100_000}, "tokenizer.json", "not JSON"),
        ({"tokenizer.json": '{"a": ' + "9" * 5000 + "}"}, "tokenizer.json", "not JSON"),
        ({"tokenizer.json": b"\xff\xfe\x00"}, "tokenizer.json", "not JSON"),
        ({"tokenizer.json": "version https://git-lfs.github.com/spec/v1\n"}, "tokenizer.json", "git lfs pull"),
        ({"tokenizer.model": b"\n\x0e"}, "tokenizer.model", "sentencepiece.*\n.*save it as tokenizer.json"),
        ({"tokenizer.model": b"\n\x0e"}, "", "sentencepiece.*\n.*save it as tokenizer.json"),
        ({"tokenizer.model": b"\n", "tokenizer.json": "{}"}, "tokenizer.model", "give .*tokenizer.json"),
        ({"cl100k.tiktoken": "IQ== 0"}, "", "tiktoken"),
        ({"tokenizer_config.json": "{}"}, "", "holds none of"),
        ({"readme.txt": ""}, "", "holds none of"),
        ({"tokenizer.json": "{}", "tokenizer_config.json": "["}, "", "tokenizer_config.json"),
        ({"tokenizer.json": "{}", "added_tokens.json": '{"a": [1]}'}, "", "not a whole number"),
        ({"vocab.txt": b"\xff"}, "", "not UTF-8"),
    ],
)
def test_says_what_is_wrong(write, files, name, message):
    with pytest.raises(VocabularyError, match=message):
        read_tokenizer_files(write(files) / name)


def test_a_folder_with_both_kinds_uses_tokenizer_json(write, document):
    assert read_tokenizer_files(write({"tokenizer.json": document, "tokenizer.model": b"\n"})).document == document


def test_a_pipe_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "tokenizer.json")
    with pytest.raises(VocabularyError, match="regular file"):
        read_tokenizer_files(tmp_path / "tokenizer.json")


@pytest.mark.parametrize(
    ("names", "there"),
    [
        (["tokenizer.json"], True),
        (["tokenizer_config.json"], False),
        (["vocab.txt"], False),
        (["tokenizer_config.json", "vocab.txt"], True),
        (["tokenizer_config.json", "vocab.json"], False),
        (["vocab.json", "merges.txt", "tokenizer_config.json"], True),
        (["tokenizer.model", "tokenizer_config.json"], False),
    ],
)
def test_a_vocab_txt_alone_may_be_anything(write, names, there):
    assert has_tokenizer(write(dict.fromkeys(names, ""))) is there
