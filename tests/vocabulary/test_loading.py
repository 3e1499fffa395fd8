from __future__ import annotations

import subprocess
import sys

import pytest

from dataguard.errors import VocabularyError
from dataguard.vocabulary.loading import load_vocabulary


def load(tokenizer=None, model=None, given=None, vocab_size=None, **more):
    return load_vocabulary(tokenizer=tokenizer, model=model, given=given or {}, vocab_size=vocab_size, **more)


def test_knows_nothing_where_nothing_is_given():
    vocabulary = load()
    assert vocabulary.limit is None
    assert vocabulary.special == {}
    assert vocabulary.origin == {}


@pytest.mark.parametrize(("suite", "option"), [(100, 104), (104, 100)])
def test_the_option_beats_the_suite(suite, option):
    vocabulary = load(given={"size": suite, "pad": 0}, vocab_size=option)
    assert (vocabulary.size, vocabulary.limit) == (option, option)
    assert vocabulary.origin == {"size": "--vocab-size", "pad": "suite", "special": "suite"}


def test_the_option_beats_the_embedding_but_does_not_hide_it():
    vocabulary = load(given={"size": 100, "embedding_rows": 128}, vocab_size=110)
    assert (vocabulary.limit, vocabulary.embedding_rows) == (110, 128)


def test_the_suite_beats_tokenizer_and_model_field_by_field(write, document):
    folder = write({"tokenizer.json": document, "config.json": {"vocab_size": 320, "bos_token_id": 9}})
    vocabulary = load(folder, folder, {"pad": 7, "embedding_rows": 300}, given_from="dataguard.yaml")
    assert (vocabulary.pad, vocabulary.bos, vocabulary.eos, vocabulary.size) == (7, 1, 2, 260)
    assert vocabulary.limit == 300
    assert vocabulary.origin["pad"] == "dataguard.yaml"
    assert vocabulary.origin["embedding_rows"] == "dataguard.yaml"
    assert vocabulary.origin["bos"] == "tokenizer.json"


def test_what_stands_over_the_suite_beats_it_field_by_field():
    suite = {"size": 100, "pad": 7, "special": {"<a>": 8, "<b>": 9}, "reserved": [50]}
    over = {"pad": 3, "eos": None, "special": {"<b>": 5, "<c>": 8}, "reserved": [60]}
    vocabulary = load(given=suite, over=over, over_from="dataguard.yaml")
    assert (vocabulary.size, vocabulary.pad, vocabulary.eos, vocabulary.reserved) == (100, 3, None, {60})
    assert vocabulary.special == {"<b>": 5, "<c>": 8, "pad": 3}
    assert vocabulary.origin == {
        "size": "suite",
        "pad": "dataguard.yaml",
        "special": "dataguard.yaml, suite",
        "reserved": "dataguard.yaml",
    }
    assert load(given=suite, over={"size": 5}, vocab_size=4).limit == 4


def test_what_stands_over_the_suite_is_checked_and_named():
    with pytest.raises(VocabularyError, match=r"(?s)pad.*dataguard\.yaml|dataguard\.yaml.*pad"):
        load(over={"pad": "x"}, over_from="dataguard.yaml")


def test_the_model_supplies_what_the_tokenizer_leaves_open(write):
    config = {"vocab_size": 320, "pad_token_id": 5, "bos_token_id": -1, "eos_token_id": [6, 7]}
    vocabulary = load(model=write({"config.json": config}))
    assert (vocabulary.pad, vocabulary.bos, vocabulary.eos, vocabulary.size, vocabulary.limit) == (
        5,
        None,
        6,
        None,
        320,
    )
    assert vocabulary.model_ids == {"pad": (5,), "bos": (-1,), "eos": (6, 7)}
    assert vocabulary.special == {"pad": 5, "eos": 6}


def test_a_role_that_the_tokenizer_denies_is_not_taken_from_the_model(write, document):
    """Qwen's model configs name the pad as bos; its tokenizer says that there is no bos."""
    files = {
        "tokenizer.json": document,
        "tokenizer_config.json": {"bos_token": None},
        "config.json": {"vocab_size": 320},
    }
    files["config.json"]["bos_token_id"] = 0
    vocabulary = load(model=write(files))
    assert vocabulary.bos is None
    assert vocabulary.pad_is_own


def test_a_tokenizer_in_the_model_folder_is_taken_where_none_is_named(write, document):
    vocabulary = load(model=write({"tokenizer.json": document, "config.json": {"vocab_size": 320}}))
    assert (vocabulary.size, vocabulary.limit) == (260, 320)


def test_ids_between_the_tokenizer_and_a_larger_told_size_have_no_token(write, document):
    folder = write({"tokenizer.json": document})
    assert load(folder, vocab_size=263).unassigned == {260, 261, 262}
    assert load(folder, vocab_size=200).unassigned == frozenset()


def test_a_told_size_of_billions_costs_no_memory(write, document):
    assert len(load(write({"tokenizer.json": document}), vocab_size=1 << 40).unassigned) <= 1_000_000


def test_an_id_has_one_name_so_that_a_pad_named_twice_stays_its_own(write, document):
    vocabulary = load(write({"tokenizer.json": document}), given={"pad": 0, "special": {"filler": 0, "end": 2}})
    assert vocabulary.special == {"filler": 0, "end": 2, "<s>": 1, "<unk>": 3}
    assert vocabulary.pad_is_own


def test_reserved_ids_come_from_the_suite():
    assert load(given={"size": 10, "reserved": [8, 9]}).reserved == {8, 9}


@pytest.mark.parametrize("size", [0, -1, True, "100", 1.0, 1 << 63])
def test_refuses_a_size_that_is_no_size(size):
    with pytest.raises(VocabularyError, match="--vocab-size"):
        load(vocab_size=size)


@pytest.mark.parametrize("name", ["no/such/folder/anywhere", "./nothing", "", "x" * 5000, "a\0b"])
def test_a_path_that_does_not_exist_is_told(name):
    with pytest.raises(VocabularyError, match="does not exist"):
        load(name)


def test_what_looks_like_a_hub_name_is_told_to_have_been_looked_up():
    with pytest.raises(VocabularyError, match=r"local hub cache .* does not hold"):
        load("owner/name-7b")


def test_origin_names_files_without_folders(write, document, tmp_path):
    vocabulary = load(write({"tokenizer.json": document}))
    assert not any(str(tmp_path) in each for each in vocabulary.origin.values())


@pytest.mark.parametrize(
    ("name", "size", "base_size", "ids"),
    [
        ("gpt2", 50257, 50257, {"pad": None, "bos": 50256, "eos": 50256, "unk": 50256, "mask": None}),
        ("mistral-v1", 32000, 32000, {"pad": None, "bos": 1, "eos": 2, "unk": 0, "mask": None}),
        ("bert-wordpiece", 30522, 30522, {"pad": 0, "bos": 101, "eos": 102, "unk": 100, "mask": 103}),
        ("qwen3", 151669, 151643, {"pad": 151643, "bos": None, "eos": 151645, "unk": None, "mask": None}),
    ],
)
def test_reads_real_tokenizers(shared, name, size, base_size, ids):
    vocabulary = load(shared / "data" / "tokenizers" / name)
    assert (vocabulary.size, vocabulary.base_size) == (size, base_size)
    assert {role: getattr(vocabulary, role) for role in ids} == ids
    assert len(vocabulary.characters) == size
    assert vocabulary.unassigned == frozenset()
    assert set(ids.values()) - {None} <= set(vocabulary.special.values())


def test_the_older_files_of_gpt2_say_the_same(shared, tmp_path):
    folder = shared / "data" / "tokenizers" / "gpt2"
    for name in ("vocab.json", "merges.txt", "tokenizer_config.json"):
        (tmp_path / name).symlink_to(folder / name)
    older, whole = load(tmp_path), load(folder)
    assert older.origin["size"] == "vocab.json"
    assert (older.characters, older.fingerprint, older.special) == (whole.characters, whole.fingerprint, whole.special)


def test_imports_nothing_heavy():
    heavy = {"tokenizers", "transformers", "numba", "pyarrow"}
    code = f"import sys, dataguard.vocabulary.loading; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
