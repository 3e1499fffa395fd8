"""Text becomes ids as the tokenizer itself makes them."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from dataguard.vocabulary import encoder as module
from dataguard.vocabulary.encoder import Encoder, pieces
from dataguard.vocabulary.loading import load_vocabulary
from tests.builders import byte_tokenizer, ids_of
from tests.examples import examples


def encoder_of(path: Path) -> Encoder | None:
    return load_vocabulary(tokenizer=path, model=None, given={}, vocab_size=None).encoder


def listed(encoder: Encoder | None, *texts: str) -> list[list[int] | None]:
    assert encoder is not None
    return [None if each is None else each.tolist() for each in encoder.encode(texts)]


def changed(folder: Path, **sections: Any) -> Path:
    """Return a copy of the byte tokenizer in which sections of tokenizer.json are others."""
    shutil.copytree(byte_tokenizer(), folder)
    document = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    (folder / "tokenizer.json").write_text(json.dumps({**document, **sections}), "utf-8")
    return folder


def test_encodes_every_text_by_itself():
    assert listed(encoder_of(byte_tokenizer()), "hello", "", "wörld\0") == [ids_of("hello"), [], ids_of("wörld\0")]


def test_nothing_is_added_cut_or_padded(tmp_path: Path):
    truncation = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    padding = {
        "strategy": {"Fixed": 12},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "<pad>",
    }
    around = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
    }
    path = changed(tmp_path / "t", truncation=truncation, padding=padding, post_processor=around)
    assert listed(encoder_of(path), "hello") == [ids_of("hello")]


def test_normalises_as_the_tokenizer_does(tmp_path: Path):
    assert listed(encoder_of(changed(tmp_path / "t", normalizer={"type": "Lowercase"})), "HeLLo") == [ids_of("hello")]


@pytest.mark.parametrize("name", ["gpt2", "mistral-v1", "bert-wordpiece"])
def test_agrees_with_tokenizers(name: str, fixtures: Path):
    path = fixtures / "tokenizers" / name
    known = Tokenizer.from_file(str(path / "tokenizer.json"))
    known.no_truncation()
    known.no_padding()
    texts = ["In the beginning God created the heaven and the earth.", "  def f(x):\n\treturn x", "数据 ñ", ""]
    assert listed(encoder_of(path), *texts) == [known.encode(each, add_special_tokens=False).ids for each in texts]


def test_a_tokenizer_json_under_another_name_and_a_folder_are_the_same(tmp_path: Path):
    shutil.copy(byte_tokenizer() / "tokenizer.json", tmp_path / "mine.json")
    for path in (tmp_path / "mine.json", byte_tokenizer(), byte_tokenizer() / "tokenizer_config.json"):
        assert listed(encoder_of(path), "a") == [ids_of("a")]


def test_tokens_that_only_the_config_names_are_known(tmp_path: Path):
    path = changed(tmp_path / "t")
    token = {"content": "<turn>", "special": True}
    (path / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": {"260": token}}), "utf-8")
    assert listed(encoder_of(path), "a<turn>b") == [[*ids_of("a"), 260, *ids_of("b")]]


def test_a_bare_vocabulary_does_not_say_how_text_is_divided(tmp_path: Path):
    (tmp_path / "vocab.json").write_text('{"a": 0, "b": 1, "ab": 2}', "utf-8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n", "utf-8")
    assert encoder_of(tmp_path) is None


def test_without_a_tokenizer_there_is_no_encoder():
    assert load_vocabulary(tokenizer=None, model=None, given={"size": 10}, vocab_size=None).encoder is None


@pytest.mark.parametrize(
    "sections",
    [
        {"pre_tokenizer": {"type": "NobodyKnows"}},
        {"normalizer": {"type": "Replace", "pattern": {"Regex": "("}, "content": ""}},
        {"decoder": 5},
    ],
    ids=str,
)
def test_a_tokenizer_that_tokenizers_cannot_load_is_told_in_words(tmp_path: Path, sections: dict[str, Any]):
    encoder = encoder_of(changed(tmp_path / "t", **sections))
    assert encoder is not None
    assert encoder.fault
    assert "\n" not in encoder.fault


def test_equal_where_the_files_are(tmp_path: Path):
    one, same = encoder_of(byte_tokenizer()), encoder_of(changed(tmp_path / "a"))
    other = encoder_of(changed(tmp_path / "b", normalizer={"type": "Lowercase"}))
    assert one == encoder_of(byte_tokenizer())
    assert one is not None
    assert other is not None
    assert one != other
    assert one.fingerprint == other.fingerprint
    assert same is not None
    assert repr(one) == f"Encoder({one.key})"


@examples(50)
@given(st.text(alphabet="ab \n", max_size=60), st.integers(2, 20))
def test_pieces_are_the_text_again_and_begin_with_white_space_where_there_is_any(text: str, longest: int):
    found = list(pieces(text, longest))
    assert "".join(found) == text
    assert all(0 < len(each) <= longest for each in found)
    for before, behind in pairwise(found):
        second = (before + behind)[longest // 2 + 1 : longest + 1]
        cuts = [place for place in range(1, len(second)) if second[place].isspace() and not second[place - 1].isspace()]
        assert behind[0].isspace() or not cuts


def test_many_texts_and_long_ones_are_encoded_piece_by_piece(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "AT_ONCE", 10)
    texts = ["word " * 9, "", "x" * 30, "a b"]
    assert listed(encoder_of(byte_tokenizer()), *texts) == [ids_of(each) for each in texts]


def test_a_text_of_ten_million_characters(shared: Path):
    encoder = encoder_of(shared / "data/tokenizers/gpt2")
    (ids,) = listed(encoder, "the quick brown fox\n" * 500_000)
    assert ids is not None
    assert 2_000_000 < len(ids) < 4_000_000


def test_interrupts_are_not_taken_for_refusals(monkeypatch: pytest.MonkeyPatch):
    encoder = encoder_of(byte_tokenizer())
    assert encoder is not None

    class Interrupted:
        def encode_batch_fast(self, *_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(encoder.__dict__, "_loaded", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        encoder.encode(["a"])
