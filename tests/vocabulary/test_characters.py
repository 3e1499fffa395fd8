from __future__ import annotations

import gzip
import json
import sys
import unicodedata
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

from dataguard.vocabulary.characters import WHITE, character_table, code_point_classes, white_ids

TEXT = "Low lower: naïve 数据 👩‍👩‍👧 1234\n\tx <think> unknown?"


def bytes_of(table, number):
    return table.data[table.offsets[number] : table.offsets[number + 1]].tobytes()


def spelled(document):
    table = character_table(document)
    return [bytes_of(table, number) for number in range(len(table))]


def squeezed(text):
    return "".join(text.split())


def text_of(table, ids):
    return b"".join(bytes_of(table, each) for each in ids).decode("utf-8", "ignore")


def test_byte_level_ids_keep_half_characters(document):
    assert spelled(document) == [b"<pad>", b"<s>", b"</s>", b"<unk>", *(bytes([byte]) for byte in range(256))]


def test_byte_level_tokens_outside_the_alphabet_stand_for_themselves():
    added = [{"id": 3, "content": "é\uff5c Ġ", "special": False}]
    model = {"vocab": {"ĠÃ©": 0, "a b": 1, "💡": 2, "\ud800": 5}}
    document = {"added_tokens": added, "decoder": {"type": "ByteLevel"}, "model": model}
    assert spelled(document) == [" é".encode(), b"a b", "💡".encode(), "é\uff5c Ġ".encode(), b"", b"\xed\xa0\x80"]


def test_clip_spells_bytes_and_ends_words():
    model = {"vocab": {"caf": 0, "Ã©</w>": 1}, "end_of_word_suffix": "</w>", "merges": []}
    assert spelled({"pre_tokenizer": {"type": "ByteLevel"}, "model": model}) == [b"caf", "é ".encode()]


def test_sentencepiece_spells_spaces_and_bytes():
    decoder = {
        "type": "Sequence",
        "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}],
    }
    vocab = {"▁the": 0, "<0xF0>": 1, "▁": 2, "<0xGG>": 3, "<0x0a>": 4}
    added = [{"id": 5, "content": "▁▁", "special": False}, {"id": 6, "content": "<▁>", "special": True}]
    document = {"decoder": decoder, "model": {"vocab": vocab, "merges": []}, "added_tokens": added}
    assert spelled(document) == [b" the", b"\xf0", b" ", b"<0xGG>", b"\n", b"  ", "<▁>".encode()]


def test_without_byte_fallback_a_byte_token_is_text():
    document = {"model": {"vocab": [["<0x0A>", 0], ["▁a", 0]]}}
    assert spelled(document) == [b"<0x0A>", b" a"]


def test_wordpiece_joins_continuations_and_parts_words():
    document = {
        "model": {"type": "WordPiece", "vocab": {"un": 0, "##do": 1, "##": 2}},
        "added_tokens": [{"id": 3, "content": "[UNK]", "special": True}],
    }
    assert spelled(document) == [b" un", b"do", b"", b" [UNK]"]


def test_word_ends_become_spaces():
    document = {
        "decoder": {"type": "BPEDecoder", "suffix": "</w>"},
        "model": {"vocab": {"lo": 0, "w</w>": 1}, "merges": []},
    }
    assert spelled(document) == [b"lo", b"w "]


def test_whole_words_are_parted():
    assert spelled({"model": {"vocab": {"low": 0, "er": 1}}}) == [b" low", b" er"]


def test_holes_own_no_byte(document):
    document["added_tokens"].append({"id": 262, "content": "<x>", "special": False})
    assert spelled(document)[259:] == [b"\xff", b"", b"", b"<x>"]


def test_equal_tables_have_equal_digests(document):
    table, again = character_table(document), character_table(json.loads(json.dumps(document)))
    assert table == again
    document["added_tokens"][0]["content"] = "<pax>"
    document["added_tokens"][1]["content"] = "<"
    assert character_table(document).digest != table.digest


def test_the_same_bytes_cut_otherwise_have_another_digest():
    one, other = (
        {"model": {"type": "WordPiece", "vocab": vocab}} for vocab in ({"##ab": 0, "##c": 1}, {"##a": 0, "##bc": 1})
    )
    assert character_table(one) != character_table(other)


def built(kind):
    """Return a tokenizer of this kind, as the tokenizers package builds it."""
    letters = sorted(set(TEXT) - {" "})
    if kind == "WordLevel":
        tokenizer = Tokenizer(
            models.WordLevel({"[UNK]": 0, "Low": 1, "unknown": 2, "?": 3, "naïve": 4}, unk_token="[UNK]")
        )
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    elif kind == "Unigram":
        pieces = [("<unk>", 0.0), ("▁", -2.0), ("▁L", -1.0), ("ow", -1.0), *((each, -5.0) for each in letters)]
        tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    elif kind == "end of word":
        vocab = {each: number for number, each in enumerate([*letters, *(each + "</w>" for each in letters), "ow</w>"])}
        tokenizer = Tokenizer(models.BPE(vocab, [("o", "w</w>")], end_of_word_suffix="</w>"))
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.WhitespaceSplit(), decoders.BPEDecoder()
    elif kind == "no decoder":
        vocab = {each: number for number, each in enumerate([*letters, "Lo"])}
        tokenizer = Tokenizer(models.BPE(vocab, [("L", "o")]))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    else:
        vocab = {
            "<unk>": 0,
            **{f"<0x{byte:02X}>": byte + 1 for byte in range(256)},
            "▁": 257,
            "L": 258,
            "o": 259,
            "Lo": 260,
        }
        tokenizer = Tokenizer(models.BPE(vocab, [("L", "o")], byte_fallback=True, unk_token="<unk>"))
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
        tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_tokens([AddedToken("<think>")])
    return tokenizer


@pytest.mark.parametrize("kind", ["WordLevel", "Unigram", "end of word", "no decoder", "byte fallback"])
def test_agrees_with_tokenizers(kind):
    tokenizer = built(kind)
    ids = tokenizer.encode(TEXT).ids
    text = text_of(character_table(json.loads(tokenizer.to_str())), ids)
    assert squeezed(text) == squeezed(tokenizer.decode(ids, skip_special_tokens=False))
    assert "think" in text


@pytest.mark.parametrize("name", ["gpt2", "mistral-v1", "bert-wordpiece", "qwen3"])
def test_agrees_with_tokenizers_on_real_text(shared, name):
    path = shared / "data" / "tokenizers" / name / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    table = character_table(json.loads(path.read_bytes()))
    lines = [TEXT, "👩‍👩‍👧 🇩🇪 naïve — “q” x\u00ad \0 \x1b <s> </s> [SEP] <|endoftext|> ▁ Ġ"]
    for source in sorted((shared / "data" / "text").glob("*.jsonl.gz")):
        with gzip.open(source, "rt", encoding="utf-8", newline="\n") as file:
            lines += [json.loads(line)["text"][:2000] for line in islice(file, 6)]
    for line in lines:
        ids = tokenizer.encode(line, add_special_tokens=False).ids
        assert squeezed(text_of(table, ids)) == squeezed(tokenizer.decode(ids, skip_special_tokens=False))


def test_classes_are_those_of_unicode():
    classes = code_point_classes()
    examples = {
        "a": 1,
        "é": 1,
        "数": 1,
        "\u0301": 1,
        "\U0001d49c": 1,
        "\U000e0100": 1,
        "7": 2,
        "½": 2,
        "٣": 2,
        "\U0001d7d9": 2,
        "!": 3,
        "€": 3,
        "_": 3,
        "😀": 3,
    }
    examples |= {
        " ": 4,
        "\t": 4,
        "\n": 4,
        "\u3000": 4,
        "\u2028": 4,
        "\x1f": 4,
        "\0": 0,
        "\u200d": 0,
        "\ue000": 0,
        "\ufffe": 0,
    }
    assert {each: int(classes[ord(each)]) for each in examples} == examples
    assert (len(classes), classes.dtype) == (0x110000, np.uint8)
    assert not classes.flags.writeable
    assert classes is code_point_classes()


@pytest.mark.slow
def test_no_character_was_left_out():
    classes = code_point_classes()
    missed = [
        each
        for each in range(sys.maxunicode + 1)
        if not classes[each] and unicodedata.category(chr(each))[0] in "LMNPSZ"
    ]
    assert missed == []
    assert [each for each in range(sys.maxunicode + 1) if (classes[each] == WHITE) != chr(each).isspace()] == []


def test_white_ids_are_white_and_nothing_else():
    contents = ["", " ", "\n\t", " a", "\u3000\u2028", "\xa0", "a", "\u200b", "\u2003\u2003"]
    added = [{"id": number, "content": text} for number, text in enumerate(contents)]
    document = {
        "added_tokens": added,
        "decoder": {"type": "ByteLevel"},
        "model": {"vocab": {"âĢ": 9, "Ċ": 10, "Å": 11}},
    }
    white = white_ids(character_table(document))
    assert white.tolist() == [0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0]
    assert white.dtype == np.uint8
    assert not white.flags.writeable


@given(
    contents=st.lists(st.text(st.sampled_from(" \n\t\u3000\u2028\xa0aé\x85\x1c"), max_size=4), min_size=1, max_size=6)
)
def test_white_ids_agree_with_the_plain_rule(contents):
    document = {
        "added_tokens": [{"id": n, "content": text} for n, text in enumerate(contents)],
        "decoder": {"type": "ByteLevel"},
        "model": {"vocab": {}},
    }
    assert white_ids(character_table(document)).tolist() == [int(text.isspace()) for text in contents]


def test_wordpiece_drops_the_spaces_that_its_decoder_drops():
    tokens = ["[UNK]", "a", ".", "?", "!", ",", "'", "(", "##.", "'s", "don"]
    tokenizer = Tokenizer(models.WordPiece({token: number for number, token in enumerate(tokens)}, unk_token="[UNK]"))
    for cleanup in (True, False):
        tokenizer.decoder = decoders.WordPiece(cleanup=cleanup)
        table = character_table(json.loads(tokenizer.to_str()))
        ids = [1, *range(len(tokens)), *reversed(range(len(tokens)))]
        assert text_of(table, ids).removeprefix(" ") == tokenizer.decode(ids, skip_special_tokens=False)
