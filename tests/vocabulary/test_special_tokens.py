from __future__ import annotations

import pytest

from dataguard.vocabulary.special_tokens import special_tokens
from dataguard.vocabulary.tokenizer_json import parse_tokenizer


def tokenizer(*special, plain=(), post_processor=None, **model):
    contents = [*special, *plain]
    added = [{"id": number, "content": text, "special": text in special} for number, text in enumerate(contents)]
    return {"added_tokens": added, "post_processor": post_processor, "model": {"vocab": {"word": len(added)}, **model}}


def found(document, config=None, special_map=None):
    return special_tokens(document, parse_tokenizer(document), config=config or {}, special_map=special_map or {})


def roles(document, **told):
    return {role: number for role, number in found(document, **told).roles.items() if number is not None}


def test_the_config_names_roles_as_strings_or_objects():
    config = {
        "bos_token": "<a>",
        "eos_token": {"content": "<b>", "lstrip": False},
        "add_bos_token": True,
        "pad_token": "<gone>",
    }
    assert roles(tokenizer("<a>", "<b>"), config=config) == {"bos": 0, "eos": 1}


def test_the_special_map_fills_what_the_config_leaves_open():
    special = found(tokenizer("<a>", "<b>"), {"bos_token": "<a>"}, {"pad_token": "<b>"})
    assert special.origin == {"bos": "tokenizer_config.json", "pad": "special_tokens_map.json"}


def test_the_config_wins_where_it_lists_its_tokens():
    told = {"special_map": {"eos_token": "<b>"}}
    assert roles(tokenizer("<a>", "<b>"), config={"eos_token": "<a>"}, **told) == {"eos": 1}
    assert roles(tokenizer("<a>", "<b>"), config={"eos_token": "<a>", "added_tokens_decoder": {}}, **told) == {"eos": 0}


def test_every_special_token_is_listed_by_content():
    document = tokenizer("<a>", plain=("<think>", "<tool>", "<img>"))
    config = {
        "extra_special_tokens": {"image_token": "<img>"},
        "additional_special_tokens": ["<tool>"],
        "sep_token": "word",
    }
    assert found(document, config).every == {"<a>": 0, "<tool>": 2, "<img>": 3, "word": 4}


def test_a_role_that_is_denied_is_not_guessed():
    assert found(tokenizer("<s>"), {"bos_token": None}).roles == {"bos": None}


def test_guesses_by_content_where_it_is_certain():
    document = tokenizer("<pad>", "<s>", "</s>", "<unk>", "<mask>", "<|other|>")
    assert roles(document) == {"pad": 0, "bos": 1, "eos": 2, "unk": 3}


def test_content_that_is_no_special_token_is_ordinary_text():
    assert roles(tokenizer(plain=("<s>", "[MASK]"))) == {}


def test_bert_begins_with_cls_and_ends_with_sep():
    document = tokenizer("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", unk_token="[UNK]")
    assert roles(document) == {"pad": 0, "unk": 1, "cls": 2, "sep": 3, "mask": 4, "bos": 2, "eos": 3}


@pytest.mark.parametrize(
    ("special", "expected"),
    [
        (["<|endoftext|>"], {"bos": 0, "eos": 0}),
        (["<|endoftext|>", "<|padding|>"], {"eos": 0}),
        (["<|endoftext|>", "<|im_start|>", "<|im_end|>"], {}),
    ],
)
def test_end_of_text_is_what_it_says_unless_turns_end_otherwise(special, expected):
    assert roles(tokenizer(*special)) == expected


def template(*tokens):
    return {
        "type": "TemplateProcessing",
        "single": [{"Sequence": {}} if each is None else {"SpecialToken": {"id": each}} for each in tokens],
    }


@pytest.mark.parametrize(
    ("post_processor", "expected"),
    [
        (template("<a>", None, "<b>"), {"bos": 0, "eos": 1}),
        ({"type": "Sequence", "processors": [{"type": "ByteLevel"}, template("<a>", None)]}, {"bos": 0}),
        (template("<a>", "<b>", None), {}),
        (template(None, None), {}),
        ({"type": "BertProcessing", "cls": ["<a>", 0], "sep": ["<b>", 1]}, {"cls": 0, "sep": 1, "bos": 0, "eos": 1}),
    ],
)
def test_what_a_post_processor_puts_around_a_text_begins_and_ends_it(post_processor, expected):
    assert roles(tokenizer("<a>", "<b>", post_processor=post_processor)) == expected
