from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataguard.errors import VocabularyError
from dataguard.vocabulary.characters import character_table
from dataguard.vocabulary.fingerprint import fingerprint
from dataguard.vocabulary.special_tokens import special_tokens
from dataguard.vocabulary.tokenizer_json import parse_tokenizer, parts


def tokenizer(vocab, added=(), **model):
    return {"model": {"vocab": vocab, **model}, "added_tokens": [{"content": text, "id": i} for text, i in added]}


def test_counts_size_base_size_and_holes():
    parsed = parse_tokenizer(tokenizer({"a": 0, "b": 3}, added=[("<x>", 5), ("a", 0)]))
    assert (parsed.size, len(parsed.pieces), parsed.unassigned()) == (6, 2, {1, 2, 4})


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ({"vocab": {"a": 0}, "merges": []}, "BPE"),
        ({"vocab": {"a": 0}, "continuing_subword_prefix": "##"}, "WordPiece"),
        ({"vocab": {"a": 0}}, "WordLevel"),
        ({"vocab": [["a", -1.5]]}, "Unigram"),
        ({"vocab": {"a": 0}, "type": "WordPiece"}, "WordPiece"),
    ],
)
def test_tells_the_kind_where_old_files_do_not(model, kind):
    assert parse_tokenizer({"model": model}).kind == kind


def test_the_unknown_token_of_unigram_is_named_by_id():
    assert parse_tokenizer(tokenizer([["<pad>", 0], ["<unk>", 0]], unk_id=1)).unknown == "<unk>"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "no model.vocab"),
        ({"model_type": "llama", "vocab_size": 5}, "config.json"),
        ({"tokenizer_class": "X"}, "tokenizer_config.json"),
        ({"a": 0, "b": 1}, "vocab.json"),
        (tokenizer({"a": -1}), r"vocab\['a'\]"),
        (tokenizer({"a": True}), "True"),
        (tokenizer({"a": "0"}), "whole number"),
        (tokenizer({}), "no token"),
        (tokenizer({"a": 0}, added=[("b", 10**12)]), "999,999,999,999|1,000,000,000,000"),
        (tokenizer({"a": 0}, added=[("b", None)]), r"added_tokens\[0\]"),
        (tokenizer({"a": 0}, added=[(None, 1)]), "content"),
        ({**tokenizer({"a": 0}), "added_tokens": {"a": 1}}, "no list"),
        (tokenizer({"a": 0}, type="Tree"), "known kind"),
        (tokenizer([["a"]]), "something else"),
        (tokenizer([[1, 2]]), "something else"),
    ],
)
def test_refuses_what_is_no_tokenizer(document, message):
    with pytest.raises(VocabularyError, match=message):
        parse_tokenizer(document)


def test_walks_through_sequences_in_order():
    inner = {"type": "Sequence", "decoders": [{"type": "B"}, 3, {"type": "C"}]}
    document = {"decoder": {"type": "Sequence", "decoders": [{"type": "A"}, inner]}, "pre_tokenizer": {"type": "D"}}
    assert [each["type"] for each in parts(document, "decoder", "pre_tokenizer") if each["type"] != "Sequence"] == list(
        "ABCD"
    )


words = st.sampled_from(
    ["type", "BPE", "Unigram", "WordPiece", "Sequence", "ByteLevel", "Metaspace", "Replace", "Ġ", "▁", "a b"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 5) | words | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(words | st.sampled_from(["content", "id", "special"]), inner, max_size=3)
    ),
    max_leaves=8,
)
keys = ("type", "merges", "unk_token", "unk_id", "byte_fallback", "end_of_word_suffix", "continuing_subword_prefix")
steps = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("type", "decoders", "pattern", "content", "prefix", "suffix", "single", "cls"), values)
)
models = st.fixed_dictionaries(
    {"vocab": st.dictionaries(words, st.integers(0, 9)) | values}, optional=dict.fromkeys(keys, values)
)
documents = st.fixed_dictionaries(
    {"model": models | values},
    optional={"added_tokens": values, "decoder": steps | values, "pre_tokenizer": steps, "post_processor": steps},
)
settings = st.dictionaries(
    st.sampled_from(["bos_token", "pad_token", "extra_special_tokens", "additional_special_tokens"]), values
)


@given(document=documents, config=settings)
def test_whatever_a_file_holds_it_is_read_or_refused(document, config):
    try:
        parsed = parse_tokenizer(document)
        fingerprint(document, {})
    except VocabularyError:
        return
    assert len(character_table(document)) == parsed.size
    special = special_tokens(document, parsed, config=config, special_map={})
    assert all(0 <= number < parsed.size for number in special.every.values())
