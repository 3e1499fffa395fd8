from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.errors import VocabularyError
from dataguard.vocabulary.model_folder import read_model
from dataguard.vocabulary.safetensors_header import embedding_of, read_header

CONFIG = {"vocab_size": 100}
INDEX = "model.safetensors.index.json"


def rows(folder):
    facts = read_model(folder)
    return facts.rows, facts.rows_from


def test_the_embedding_is_believed_before_the_config(write, weights):
    tensor = weights(model__embed_tokens__weight=[128, 8], lm_head__weight=[130, 8])
    assert rows(write({"config.json": CONFIG, "model.safetensors": tensor})) == (128, "model.safetensors")


@pytest.mark.parametrize(
    "more", [{}, {"pytorch_model.bin": b"\x80\x04never opened"}, {"adapter_model.safetensors": b""}]
)
def test_the_config_tells_without_safetensors(write, more):
    assert rows(write({"config.json": CONFIG, **more})) == (100, "config.json")


def test_models_of_several_senses_keep_it_inside(write):
    text = {"vocab_size": 7, "bos_token_id": 1, "eos_token_id": 2}
    facts = read_model(write({"config.json": {"text_config": text, "eos_token_id": 3}}))
    assert (facts.rows, facts.ids) == (7, {"bos": (1,), "eos": (3,)})


def test_an_index_names_the_shard(write, weights):
    files = {
        "a.safetensors": weights(lm_head__weight=[9, 2]),
        "b.safetensors": weights(model__embed_tokens__weight=[11, 2]),
    }
    weight_map = {"lm_head.weight": "a.safetensors", "model.embed_tokens.weight": "b.safetensors"}
    assert rows(write({INDEX: {"weight_map": weight_map}, **files})) == (11, "b.safetensors")


@pytest.mark.parametrize("shard", ["../out.safetensors", "/etc/passwd", "a/../../b", "..\\b", "", 3, "x" * 5000])
def test_an_index_stays_inside_its_folder(write, shard):
    files = {"config.json": CONFIG, INDEX: {"weight_map": {"wte.weight": shard}}}
    with pytest.raises(VocabularyError, match="outside the folder"):
        read_model(write(files))


def test_a_shard_that_was_not_downloaded_leaves_the_config(write):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    index = {INDEX: {"weight_map": {"wte.weight": "gone.safetensors"}}}
    assert rows(write({"config.json": CONFIG, **index})) == (100, "config.json")
    assert rows(write({"config.json": CONFIG, "model.safetensors": pointer}, "other")) == (100, "config.json")


@pytest.mark.parametrize(
    ("names", "embedding"),
    [
        (["model.embed_tokens.weight", "lm_head.weight"], "model.embed_tokens.weight"),
        (["transformer.wpe.weight", "transformer.wte.weight"], "transformer.wte.weight"),
        (
            ["bert.embeddings.position_embeddings.weight", "bert.embeddings.word_embeddings.weight"],
            "bert.embeddings.word_embeddings.weight",
        ),
        (["gpt_neox.embed_in.weight", "embed_out.weight"], "gpt_neox.embed_in.weight"),
        (
            ["vision_tower.embed_tokens.weight", "language_model.model.embed_tokens.weight"],
            "language_model.model.embed_tokens.weight",
        ),
        (["thinker.model.embed_tokens.weight", "talker.embed_tokens.weight"], "thinker.model.embed_tokens.weight"),
        (
            ["encoder.embed_tokens.weight", "shared.weight", "embed_tokens_per_layer.weight"],
            "encoder.embed_tokens.weight",
        ),
        (["tok_embeddings.weight"], "tok_embeddings.weight"),
        (["output.weight", "lm_head.weight"], "lm_head.weight"),
        (["unwte.weight", "h.0.weight"], None),
    ],
)
def test_recognises_the_input_embedding(names, embedding):
    assert embedding_of(names) == embedding


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "damaged"),
        (b"\x05\0\0", "damaged"),
        (struct.pack("<Q", 1 << 62) + b"{}", "damaged"),
        (struct.pack("<Q", 3) + b"{}", "damaged"),
        (struct.pack("<Q", 2) + b"[]", "list"),
        (struct.pack("<Q", 1) + b"{", "not JSON"),
    ],
)
def test_a_lying_header_is_refused_before_it_is_read(write, content, message):
    with pytest.raises(VocabularyError, match=message):
        read_model(write({"config.json": CONFIG, "model.safetensors": content}))


@pytest.mark.parametrize("shape", [[], [5], [5, 2, 1], [-1, 2], [True, 2], ["5", 2], [0, 4], 7])
def test_refuses_an_embedding_of_no_such_shape(write, weights, shape):
    with pytest.raises(VocabularyError, match="shape"):
        read_model(write({"model.safetensors": weights(wte__weight=shape)}))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "no config.json"),
        ({"config.json": {"hidden_size": 8}}, "no vocab_size"),
        ({"config.json": {"vocab_size": "100"}}, "whole number"),
        ({"config.json": {"vocab_size": True}}, "whole number"),
        ({"config.json": {"vocab_size": 5, "pad_token_id": "0"}}, "pad_token_id"),
        ({"config.json": "{"}, "not JSON"),
        ({INDEX: {}}, "weight_map"),
    ],
)
def test_says_what_is_wrong(write, files, message):
    with pytest.raises(VocabularyError, match=message):
        read_model(write(files))


def test_a_file_is_no_model(write):
    with pytest.raises(VocabularyError, match="it is a file"):
        read_model(write({"model.safetensors": b""}) / "model.safetensors")


@given(content=st.binary(max_size=40))
def test_any_bytes_are_a_header_or_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "model.safetensors"
    path.write_bytes(content)
    with suppress(VocabularyError):
        assert isinstance(read_header(path), dict | None)
