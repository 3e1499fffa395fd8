from __future__ import annotations

import pytest

from dataguard.errors import VocabularyError
from dataguard.vocabulary.hub_cache import cache_folder, cached_snapshot, looks_like_hub_name
from dataguard.vocabulary.loading import load_vocabulary


@pytest.fixture(autouse=True)
def _clean(monkeypatch, tmp_path):
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))


def snapshot(tmp_path, name, revision, main=None):
    folder = tmp_path / f"models--{name}"
    (folder / "snapshots" / revision).mkdir(parents=True)
    if main is not None:
        (folder / "refs").mkdir(exist_ok=True)
        (folder / "refs" / "main").write_text(main)
    return folder / "snapshots" / revision


def test_main_is_followed(tmp_path):
    snapshot(tmp_path, "owner--name", "aaa", main="bbb\n")
    wanted = snapshot(tmp_path, "owner--name", "bbb")
    assert cached_snapshot("owner/name") == wanted


def test_a_single_snapshot_needs_no_main(tmp_path):
    assert cached_snapshot("gpt2") is None
    wanted = snapshot(tmp_path, "gpt2", "aaa")
    assert cached_snapshot("gpt2") == wanted


@pytest.mark.parametrize("main", [None, "../../..", "gone", ""])
def test_several_snapshots_without_main_are_told(tmp_path, main):
    snapshot(tmp_path, "gpt2", "aaa", main)
    snapshot(tmp_path, "gpt2", "bbb")
    with pytest.raises(VocabularyError, match="several revisions"):
        cached_snapshot("gpt2")


@pytest.mark.parametrize(
    ("name", "looks"),
    [
        ("gpt2", True),
        ("Qwen/Qwen3-0.6B", True),
        ("../x", False),
        ("a/b/c", False),
        ("a/..", False),
        ("/a", False),
        ("", False),
        ("a b", False),
    ],
)
def test_what_could_be_a_hub_name(name, looks):
    assert looks_like_hub_name(name) is looks


def test_the_cache_is_where_its_owner_looks(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path
    monkeypatch.delenv("HF_HUB_CACHE")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / "hub"
    monkeypatch.delenv("HF_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "huggingface" / "hub"


def test_a_cached_name_is_loaded(tmp_path, write, document):
    blob = write({"tokenizer.json": document}, "blobs") / "tokenizer.json"
    (snapshot(tmp_path, "owner--name", "aaa", main="aaa") / "tokenizer.json").symlink_to(blob)
    vocabulary = load_vocabulary(tokenizer="owner/name", model=None, given={}, vocab_size=None)
    assert (vocabulary.size, vocabulary.origin["size"]) == (260, "tokenizer.json")


def test_a_path_that_exists_wins(tmp_path, write, document, monkeypatch):
    snapshot(tmp_path, "mine", "aaa", main="aaa")
    monkeypatch.chdir(write({"tokenizer.json": document}, "mine").parent)
    assert load_vocabulary(tokenizer="mine", model=None, given={}, vocab_size=None).size == 260


@pytest.mark.parametrize("name", ["tokeniser.json", "data/tok.json", "vocab.txt"])
def test_a_file_that_is_not_there_is_nothing_to_download(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(VocabularyError, match="there is no tokenizer") as caught:
        load_vocabulary(tokenizer=name, model=None, given={}, vocab_size=None)
    assert caught.value.why == "the path does not exist"
    assert caught.value.fix == "give --tokenizer the path of a tokenizer that exists"


def test_the_nearest_name_in_its_folder_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tokenizer.json").touch()
    with pytest.raises(VocabularyError, match=r"did you mean data/tokenizer\.json\?"):
        load_vocabulary(tokenizer="data/tokeniser.json", model=None, given={}, vocab_size=None)
